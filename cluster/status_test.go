package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// out is the output of the jobs of these tests.
var out = location.At("out")

// dealt makes some of the parts of out in a new working folder, and the scripts of a Slurm job.
func dealt(t *testing.T, tasks int, present []int) {
	t.Helper()
	t.Chdir(t.TempDir())
	stand(t)
	script, err := WriteSlurm(host("."), []Command{extraction("out")}, Options{Tasks: tasks})
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
}

// stated returns what is printed about out.
func stated(t *testing.T, verify bool) string {
	t.Helper()
	var b strings.Builder
	err := WriteStatus(t.Context(), &b, []string{"out"}, verify, false)
	if whole := !strings.Contains(b.String(), "once no task is at work"); (err == nil) != whole {
		t.Errorf("%v: %s", err, b.String())
	}
	return b.String()
}

// A status lists every part that is not complete, and the command that makes them.
func TestStatus(t *testing.T) {
	dealt(t, 8, []int{1, 2, 5, 6, 8})
	part := Path(out, 5, 8).Path()
	content, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(part, content[:len(content)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`out: 4 of 8 parts of winnow extract are there
  3  missing
  4  missing
  5  torn     its header is cut short
  7  missing
next, once no task is at work: sh out.slurm/submit.sh 3-5,7
`, stated(t, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without Slurm's scripts the shards are named, as another engine or a person runs them.
	if err := os.RemoveAll("out.slurm"); err != nil {
		t.Fatal(err)
	}
	if got := stated(t, false); !strings.Contains(got, "the same command again with --shard 3/8 and so on, or as "+
		"tasks 3-5,7 of an array with --shard auto/8\n") {
		t.Error(got)
	}
	var b strings.Builder
	if err := WriteStatus(t.Context(), &b, []string{"out"}, false, true); err == nil ||
		!strings.Contains(b.String(), `"state": "missing"`) {
		t.Errorf("%v: %s", err, b.String())
	}
	if err := WriteStatus(t.Context(), &b, []string{"none"}, false, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v", err)
	}
	if err := WriteStatus(t.Context(), &b, nil, false, false); err == nil {
		t.Error("a status of nothing is no error")
	}
}

// A part whose bytes changed is seen with verify; after the last part comes the join.
func TestStatusEnds(t *testing.T) {
	dealt(t, 3, []int{1, 2, 3})
	if text := stated(t, true); text != "out: 3 of 3 parts of winnow extract are there\nnext: winnow join out\n" {
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
	if text := stated(t, false); !strings.Contains(text, "3 of 3") {
		t.Error(text)
	}
	if text := stated(t, true); !strings.Contains(text, "  2  torn") || !strings.HasSuffix(text,
		"sh out.slurm/submit.sh 2\n") {
		t.Error(text)
	}
	copy(content[at:], "r")
	if err := errors.Join(os.WriteFile(part, content, 0o644), os.WriteFile("out", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if text := stated(t, true); text != "out: 3 of 3 parts of winnow extract are there, joined\n" {
		t.Error(text)
	}
}
