package train

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Tail reads what is appended, waits for the end of a line, and begins again when the file is replaced.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, MetricsFile)
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	tail := MetricsOf(dir)
	steps := func(want ...int) {
		t.Helper()
		list, err := tail.Read()
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, m := range list {
			got = append(got, m.Step)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	}
	steps()
	add(`{"step":1,"epoch":1}` + "\n" + `{"step":2,`)
	steps(1)
	add(`"epoch":1}` + "\n")
	steps(1, 2)
	steps(1, 2)
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(`{"step":1,"epoch":1}`+"\n"+`{"step":7,"epoch":2}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	steps(1, 7)
	add("nonsense\n")
	if _, err := tail.Read(); err == nil {
		t.Error("a line that is no metric is read")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	steps()
}
