package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/cluster"
	"winnow/datasets/location"
)

// part returns the path of a part of an output.
func part(out string, i, of int) string { return cluster.Path(location.At(out), i, of).Path() }

// deal runs a command as the tasks of a Slurm array and joins their parts into out.
func deal(t *testing.T, of int, out string, args ...string) {
	t.Helper()
	args = append(args, "--out", out, "--shard", "auto")
	t.Setenv("SLURM_ARRAY_TASK_COUNT", fmt.Sprint(of))
	t.Setenv("SLURM_ARRAY_TASK_MIN", "1")
	for i := of; i > 0; i-- {
		t.Setenv("SLURM_ARRAY_TASK_ID", fmt.Sprint(i))
		text, told := mustCall(t, args...)
		if !strings.Contains(text, part(out, i, of)+": ") ||
			!strings.Contains(told, fmt.Sprintf("winnow: shard %d/%d, by SLURM_ARRAY_TASK_ID\n", i, of)) {
			t.Fatalf("%s: %s%s", args, text, told)
		}
	}
	mustCall(t, "join", out)
}

// broken checks what a command and winnow join say of three parts of which one is missing, torn or of another job, and
// that the command makes them again. other are arguments that change the job.
func broken(t *testing.T, out string, args, other []string) {
	t.Helper()
	shard := func(i int, out string, args []string) []string {
		return append(append([]string{}, args...), "--out", out, "--shard", fmt.Sprintf("%d/3", i))
	}
	fails := func(want string, args ...string) {
		t.Helper()
		fails(t, 1, want, args...)
	}
	for i := 1; i <= 3; i++ {
		mustCall(t, shard(i, out, args)...)
	}
	fails("holds parts of another job", shard(2, out, other)...)
	elsewhere := filepath.Join(t.TempDir(), filepath.Base(out))
	mustCall(t, shard(2, elsewhere, other)...)
	second, third := part(out, 2, 3), part(out, 3, 3)
	mine := readFile(t, second)
	write(t, second, readFile(t, part(elsewhere, 2, 3)))
	fails("cannot be joined: ", "join", out)
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	fails("1 of 3 parts cannot be joined: missing: 2", "join", out)
	write(t, second, mine[:len(mine)*2/3])
	if err := flip(third); err != nil {
		t.Fatal(err)
	}
	fails("2 of 3 parts cannot be joined: torn: 2-3", "join", out)
	for i := 1; i <= 3; i++ {
		if text, _ := mustCall(t, shard(i, out, args)...); strings.Contains(text,
			"was complete: nothing to do") != (i == 1) {
			t.Errorf("part %d: %s", i, text)
		}
	}
	if readFile(t, second) != mine {
		t.Error("the part that was made again has other bytes")
	}
	mustCall(t, "join", out)
}

// Vectors from several machines equal those of one, in every form of file.
func TestEmbedDealt(t *testing.T) {
	drawnRun(t)
	write(t, "bad.png", "no picture")
	args := []string{"embed", "run", "drawn/test", "bad.png", "noisy.csv", "--root", "drawn"}
	for _, form := range []string{"npy", "parquet"} {
		mustCall(t, append(args, "--out", "one."+form)...)
		for _, of := range []int{1, 3, 8} {
			deal(t, of, fmt.Sprintf("dealt%d.%s", of, form), args...)
			if readFile(t, "one."+form) != readFile(t, fmt.Sprintf("dealt%d.%s", of, form)) {
				t.Errorf("%s from %d parts is another file", form, of)
			}
		}
	}
	if readFile(t, "one.ids.csv") != readFile(t, "dealt3.ids.csv") {
		t.Error("the names of the rows differ")
	}
	broken(t, "broken.csv", args, append(args, "drawn/train"))
	fails(t, 2, "--out missing", append(args, "--json", "--shard", "1/2")...)
}

// An evaluation whose queries several machines share gives the numbers of one, also with a gallery, and with a sample
// of the queries.
func TestEvalDealt(t *testing.T) {
	drawnRun(t)
	gallery := readFile(t, "noisy.csv")
	for n := range 10 {
		gallery = strings.ReplaceAll(gallery, fmt.Sprintf("/%03d.png,", 2*n), fmt.Sprintf("/%03d.png!,", 2*n))
	}
	var rows []string
	for line := range strings.Lines(gallery) { // every other image of test asks the others
		if strings.Contains(line, "!") {
			line = strings.Replace(strings.ReplaceAll(line, ",test", ",query"), "!", "", 1)
		}
		rows = append(rows, strings.ReplaceAll(line, ",test", ",gallery"))
	}
	write(t, "gallery.csv", strings.Join(rows, ""))
	for i, more := range [][]string{{}, {"--queries", "50", "--seed", "3", "--k", "1,5", "--count-lonely"},
		{"--manifest", "gallery.csv"}} {
		args := append([]string{"eval", "run"}, more...)
		out := fmt.Sprintf("one%d.json", i)
		whole, _ := mustCall(t, append(args, "--out", out)...)
		for _, of := range []int{1, 3, 8} {
			name := fmt.Sprintf("dealt%d.%d.json", i, of)
			deal(t, of, name, args...)
			if got, want := readFile(t, name), readFile(t, out); got != want {
				t.Errorf("%v from %d parts:\n%s\nexpected\n%s", more, of, got, want)
			}
			if text, _ := mustCall(t, "join", name); text != whole {
				t.Errorf("%v from %d parts: %s, expected %s", more, of, text, whole)
			}
		}
	}
	broken(t, "broken.json", []string{"eval", "run"}, []string{"eval", "run", "--count-lonely"})
	fewer := readFile(t, "noisy.csv")
	write(t, "fewer.csv", fewer[:strings.LastIndex(strings.TrimSpace(fewer), "\n")+1])
	fails(t, 1, "another job: ", "eval", "run", "--manifest", "fewer.csv", "--out", "broken.json", "--shard", "1/3")
	fails(t, 2, "measure other metrics on one machine", "eval", "run", "--metrics", "all", "--out", "x.json", "--shard",
		"1/3")
	fails(t, 1, "there is no folder no", "eval", "run", "--out", "no/x.json")
}

// A check of images by several machines gives the report of one.
func TestCheckDealt(t *testing.T) {
	drawnRun(t)
	rows := readFile(t, "noisy.csv")
	first := strings.Split(strings.Split(rows, "\n")[1], ",")[0]
	write(t, "drawn/bad.png", "no picture")
	write(t, "drawn/copy.png", readFile(t, "drawn", first))
	head := strings.Split(strings.Split(rows, "\n")[0], ",")
	rest := strings.Repeat(",", len(head)-2)
	write(t, "odd.csv", rows+"bad.png,a"+rest+"\ncopy.png,a"+rest+"\n")
	args := []string{"data", "check", "odd.csv", "--root", "drawn"}
	whole, _ := mustCall(t, append(args, "--out", "one.json")...)
	if !strings.Contains(whole, "unreadable: 1\n") || !strings.Contains(whole, "copy.png") {
		t.Fatal(whole)
	}
	for _, of := range []int{1, 3, 8} {
		name := fmt.Sprintf("dealt%d.json", of)
		deal(t, of, name, args...)
		if got, want := readFile(t, name), readFile(t, "one.json"); got != want {
			t.Errorf("%d parts:\n%s\nexpected\n%s", of, got, want)
		}
		if text, _ := mustCall(t, "join", name); text != whole {
			t.Errorf("%d parts: %s, expected %s", of, text, whole)
		}
	}
	broken(t, "broken.json", args, []string{"data", "check", "noisy.csv", "--root", "drawn"})
	for i := range 2 {
		mustCall(t, append(args, "--strict", "--out", "strict.json", "--shard", fmt.Sprintf("%d/2", i+1))...)
	}
	if code, _, errs := call(t.Context(), "join", "strict.json"); code != 1 ||
		!strings.Contains(errs, "1 unreadable images") || readFile(t, "strict.json") != readFile(t, "one.json") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	write(t, "odd.csv", rows)
	fails(t, 1, "manifest changed since the parts of dealt3.json were made", "join", "dealt3.json")
}
