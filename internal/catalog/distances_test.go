package catalog

import (
	"testing"

	"pgregory.net/rapid"
)

// slow is the definition of the distance, by recursion.
func slow(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	x, y := a[:len(a)-1], b[:len(b)-1]
	change := slow(x, y)
	if a[len(x)] != b[len(y)] {
		change++
	}
	best := min(change, slow(x, b)+1, slow(a, y)+1)
	if len(x) > 0 && len(y) > 0 && a[len(x)] == b[len(y)-1] && a[len(x)-1] == b[len(y)] {
		best = min(best, slow(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return best
}

func TestDistances(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]rune("abc")), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		whole, beginning := editDistances(a, b)
		if want := slow(a, b); whole != want {
			t.Fatalf("from %q to %q: %d, expected %d", string(a), string(b), whole, want)
		}
		least := slow(a, nil)
		for j := range b {
			least = min(least, slow(a, b[:j+1]))
		}
		if beginning != least {
			t.Fatalf("from %q to a beginning of %q: %d, expected %d", string(a), string(b), beginning, least)
		}
		if back, _ := editDistances(b, a); back != whole {
			t.Fatalf("%q and %q: %d there, %d back", string(a), string(b), whole, back)
		}
	})
}
