package features

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.StringMatching(`[ab]{0,3}`)).Draw(t, "list") // short, so that some occur twice
		first := map[string]int{}
		for i, s := range list {
			if _, ok := first[s]; !ok {
				first[s] = i
			}
		}
		p := newPlaces(list)
		for _, s := range append(list, "", "c", "aaaa") {
			want, ok := first[s]
			if !ok {
				want = -1
			}
			if got := p.indexOfPath(s); got != want {
				t.Errorf("%q is at %d of %q, expected %d", s, got, list, want)
			}
		}
	})
}

func TestPlacesMemory(t *testing.T) {
	list := make([]string, 300_000)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := newPlaces(list)
	runtime.ReadMemStats(&after)
	if each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(list)); each > 12 ||
		p.indexOfPath("299999") != 299_999 {
		t.Errorf("%.1f bytes a string, expected at most 12", each)
	}
}

func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.StringMatching(`[ab]{0,3}`)).Draw(t, "list")
		var want []string
		for i, s := range list {
			if slices.Index(list, s) == i {
				want = append(want, s)
			}
		}
		if got := Distinct(slices.Clone(list)); !slices.Equal(got, want) {
			t.Errorf("%q: found %q, expected %q", list, got, want)
		}
	})
}
