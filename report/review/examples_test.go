package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExamples: images of the class, all different, the same for the same seed, others for another one.
func TestExamples(t *testing.T) {
	w := newWorld(t, 200)
	type answer struct {
		Images   int
		Pictures []example
	}
	ask := func(query string) (keys []string) {
		var a answer
		w.must("GET", "/api/examples?class=class+b"+query, "", &a)
		if a.Images != 50 {
			t.Errorf("%d images", a.Images)
		}
		for _, p := range a.Pictures {
			if p.Label != "class b" || w.review.table.all[p.ID].image != w.review.table.imageOf(p.Key) {
				t.Errorf("got %+v", p)
			}
			keys = append(keys, p.Key)
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(keys))); len(distinct) != len(keys) {
			t.Errorf("drawn twice: %v", keys)
		}
		return keys
	}
	first := ask("")
	if again := ask("&seed=1"); len(first) != 6 || !slices.Equal(again, first) {
		t.Errorf("%v, then %v", first, again)
	}
	if other := ask("&seed=2"); slices.Equal(other, first) {
		t.Errorf("another seed draws the same: %v", other)
	}
	if all := ask("&n=64"); len(all) != 50 {
		t.Errorf("%d of a class of 50", len(all))
	}
	for query, want := range map[string]string{"": "class", "?class=x": "no class", "?class=class+a&n=0": "n:",
		"?class=class+a&seed=-1": "seed:", "?class=class+a&x=1": "unknown"} {
		status, text := w.ask("GET", "/api/examples"+query, "", nil)
		if status != 400 || !strings.Contains(text, want) {
			t.Errorf("%q: %d %s", query, status, text)
		}
	}
}

// TestDrawSome: any number of different numbers below n, each as often as the others.
func TestDrawSome(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, k := rapid.IntRange(0, 30).Draw(r, "n"), rapid.IntRange(1, 12).Draw(r, "k")
		list := drawSome(n, k, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1)))
		if s := slices.Sorted(slices.Values(list)); len(list) != min(n, k) ||
			len(slices.Compact(slices.Clone(s))) != len(s) || len(s) > 0 && (s[0] < 0 || s[len(s)-1] >= n) {
			r.Fatalf("%d of %d: %v", k, n, list)
		}
	})
	rng, count := rand.New(rand.NewPCG(3, 4)), make([]int, 10)
	for range 20_000 {
		for _, at := range drawSome(10, 3, rng) {
			count[at]++
		}
	}
	for _, n := range count { // 6000 expected, with a deviation of 65
		if n < 5600 || n > 6400 {
			t.Fatalf("uneven: %s", fmt.Sprint(count))
		}
	}
}
