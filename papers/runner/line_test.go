package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// Cells that run at once add up; what else is printed clears the line before.
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
	begun, stepped := 0, 0
	o := run.Options{Begun: func(run.Plan) error { begun++; return nil }, Stepped: func(train.Step) { stepped++ }}
	r.watch(&o, a)
	if err := o.Begun(run.Plan{Steps: 10}); err != nil {
		t.Fatal(err)
	}
	o.Stepped(train.Step{Number: 5})
	r.line.at(b, 1)
	o.Stepped(train.Step{Number: 10})
	r.line.at(a, 1)
	r.line.say(func() { ends *= 10 })
	if want := []int{12, 100, 37, 100, 49, 100, 50, 100}; !cmp.Equal(shown, want) || begun != 1 || stepped != 2 || ends != 10 {
		t.Errorf("shown %v, expected %v; begun %d, stepped %d, ends %d", shown, want, begun, stepped, ends)
	}
}
