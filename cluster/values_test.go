package cluster

import (
	"slices"
	"strings"
	"testing"
)

// A value is read whole, or as far as it is asked for, from the part that a job made of it.
func TestValue(t *testing.T) {
	type value struct {
		Options struct{ K int }
		Names   []string
	}
	of := func(k int) (v value) {
		v.Options.K, v.Names = k, slices.Repeat([]string{"name"}, k)
		return v
	}
	out := t.TempDir() + "/out"
	for i := 1; i <= 2; i++ {
		if _, err := Make(t.Context(), out, header(t, i, 2), MakeValue(func() (value, error) { return of(10 * i), nil })); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Look(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Values[value](w)
	if err != nil || len(list) != 2 || list[0].Options.K != 10 || list[1].Options.K != 20 || len(list[1].Names) != 20 {
		t.Fatal(list, err)
	}
	if some, err := Value[struct{ Options struct{ K int } }](&w.Parts[1]); err != nil || some.Options.K != 20 {
		t.Error(some, err)
	}
	if _, err := Value[[]string](&w.Parts[0]); err == nil || !strings.Contains(err.Error(), "another version of winnow?") {
		t.Error(err)
	}
}
