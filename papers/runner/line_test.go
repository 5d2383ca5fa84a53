package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/papers/studies"
	"winnow/train"
)

// The progress of cells that run at once adds up; other output ends the line first.
func TestLine(t *testing.T) {
	var shown []int
	ends := 0
	r := &reproduction{line: newLine(4, func(what string) (func(done, total int), func()) {
		if what != "percent" {
			t.Errorf("counts %q", what)
		}
		return func(done, total int) { shown = append(shown, done, total) }, func() { ends++ }
	})}
	a, b := studies.Cell{Key: "a"}, studies.Cell{Key: "b"}
	o := r.watch(a, 10)
	o.Stepped(train.Step{Number: 5})
	r.line.at(b, 1)
	o.Stepped(train.Step{Number: 10})
	r.line.at(a, 1)
	r.line.say(func() { ends *= 10 })
	if want := []int{12, 100, 37, 100, 49, 100, 50, 100}; !cmp.Equal(shown, want) || ends != 10 {
		t.Errorf("shown %v, expected %v; ends %d", shown, want, ends)
	}
}
