package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// out is the output of the jobs of these tests.
var out = location.At("out")

// dealt makes some of the parts of out in a new working folder, and the scripts of a Slurm job with notes.
func dealt(t *testing.T, tasks int, present []int, notes map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	h, _ := hosted(t, ".")
	stand(t)
	script, err := WriteSlurm(t.Context(), h, []Command{extraction("out")}, Options{Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	shell(t, 0, nil, "sh", "-c", script)
	for _, i := range present {
		job := Job[string]{Name: "extract", Unit: "images"}
		if _, err := job.Do(t.Context(), out, Shard{Index: i, Of: tasks}, Rows{Total: 1000, Batch: 1},
			func(first, _ int, put func(string) error) error { return put(fmt.Sprintln("rows of", i)) }); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range notes {
		if err := os.WriteFile(filepath.Join("out.slurm", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func printed(t *testing.T, s Status) string {
	t.Helper()
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A status lists every missing part, what is known of it, and the command that runs all missing parts again.
func TestStatus(t *testing.T) {
	dealt(t, 8, []int{1, 2, 5, 6, 8}, map[string]string{
		"1-extract/3":         "T1 start 101_3 n1\nT2 end 1 101_3 n1\nT3 start 101_3 n2\nT4 end 137 101_3 n2\n",
		"1-extract/4":         "T1 start 101_4 n1\n",
		"1-extract/101_3.log": "no memory\n",
	})
	part := Path(out, 5, 8).Path()
	content, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(part, content[:len(content)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := readStatus(t.Context(), Dir(out), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`out: 4 of 8 parts of winnow extract are there
  3  missing  ended T4 on n2 with exit code 137, killed: often by lack of memory; out.slurm/1-extract/101_3.log
  4  missing  began T1 on n1 and said nothing since: at work, or its node or its time ended
  5  torn     its header is cut short
  7  missing
next: sh out.slurm/submit.sh 3-5,7
`, printed(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What Slurm says comes first: tasks at work are waited for, tasks that are held are released.
	queue := func(lines, ended string) Queue {
		return func(_ context.Context, jobs []string) []Queued {
			if fmt.Sprint(jobs) != "[101]" {
				t.Errorf("asked for the jobs %s", jobs)
			}
			return append(readQueue(ended, true), readQueue(lines, false)...)
		}
	}
	for want, q := range map[string]Queue{
		"": queue("101_3|RUNNING|None\n", "101_3|FAILED|1:0\n101_4|NODE_FAIL|0:0\n"),
		"scontrol release 101_3,107_4": queue("101_3|PENDING|launch failed requeued "+
			"held\n107_4|PENDING|JobHeldUser\n101_7|RUNNING|None\n", ""),
		"sh out.slurm/submit.sh 3-5,7": queue("",
			"101_3|OUT_OF_MEMORY|0:125\n101_4|TIMEOUT|0:0\n101_1|COMPLETED|0:0\n"),
		"sh out.slurm/submit.sh 3-5,7 ":  nil,
		"sh out.slurm/submit.sh 3-5,7  ": queue("102|PENDING|Dependency\nnonsense\n", ""),
	} {
		s, err := readStatus(t.Context(), out, false, q)
		if err != nil || s.Next != strings.TrimSpace(want) {
			t.Errorf("found %q, %v, expected %q", s.Next, err, want)
		}
	}
	if s, err = readStatus(t.Context(), out, false, queue("", "101_3|OUT_OF_MEMORY|0:125\n")); err != nil ||
		s.Open[0].Slurm != "Slurm: OUT_OF_MEMORY (0:125)" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A part whose bytes changed is seen with verify; before any part there are notes alone; behind the last one comes
// the join.
func TestStatusBeginsAndEnds(t *testing.T) {
	dealt(t, 3, nil, map[string]string{"1-extract/2": "T1 start 101_2 n1\nT2 end 2 101_2 n1\nrubbish\nT3 end many " +
		"101_2 n1\nT2 end 2 101_2 n1\n"})
	s, err := readStatus(t.Context(), out, false, nil)
	if err != nil || s.Present != 0 || s.Parts != 3 || len(s.Open) != 3 || *s.Open[1].Code != 2 ||
		s.Next != "sh out.slurm/submit.sh 1-3" {
		t.Errorf("%+v, %v", s, err)
	}
	dealt(t, 3, []int{1, 2, 3}, map[string]string{"1-extract-join/1": "T1 start 102 n1\nT2 end 1 102 n1\n"})
	s, err = readStatus(t.Context(), out, true, nil)
	if err != nil || !s.whole() || s.Next != "winnow join out" || s.Joined || *s.Then[0].Code != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if text := printed(t, s); text != "out: 3 of 3 parts of winnow extract are there\n  1-extract-join    ended "+
		"T2 on n1 with exit code 1, failed: see its log\nnext: winnow join out\n" {
		t.Errorf("%q", text)
	}
	part := Path(out, 2, 3).Path()
	content, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(content), "rows of")
	content[at] ^= 1
	if err := os.WriteFile(part, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err = readStatus(t.Context(), out, false, nil); err != nil || !s.whole() {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = readStatus(t.Context(), out, true, nil); err != nil || len(s.Open) != 1 ||
		s.Open[0].State != Torn || s.Next != "sh out.slurm/submit.sh 2" {
		t.Errorf("%+v, %v", s, err)
	}
	copy(content[at:], "r")
	if err := errors.Join(os.WriteFile(part, content, 0o644), os.WriteFile("out", nil, 0o644),
		os.WriteFile("out.slurm/1-extract-join/1", []byte("T1 start 102 n1\nT2 end 0 102 n1\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if s, err = readStatus(t.Context(), out, true, nil); err != nil || !s.Joined || s.Next != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Without Slurm's notes the shards are named, as another engine or a person runs them.
func TestStatusElsewhere(t *testing.T) {
	dealt(t, 3, []int{1, 3}, nil)
	if err := os.RemoveAll("out.slurm"); err != nil {
		t.Fatal(err)
	}
	s, err := readStatus(t.Context(), out, false, askSlurm)
	if err != nil || s.Next != "the same command again with --shard 2/3 and so on, or as tasks 2 of an array with "+
		"--shard auto/3" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := readStatus(t.Context(), location.At("none"), false, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v", err)
	}
	var out strings.Builder
	if err := Run(t.Context(), Request{To: "status", Words: []string{"out"}, JSON: true}, &out, io.Discard,
		nil); err == nil || err.Error() != "cluster: 1 parts are not there" ||
		!strings.Contains(out.String(), `"state": "missing"`) {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := Run(t.Context(), Request{To: "status"}, &out, io.Discard, nil); err == nil {
		t.Error("a status of nothing is no error")
	}
}
