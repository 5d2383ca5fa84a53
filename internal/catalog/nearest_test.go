package catalog

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var losses = []string{"contrastive", "triplet", "multi_similarity", "proxy_nca", "proxy_anchor", "soft_triple",
	"n_pairs", "weighted_multi_similarity"}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"multisim", "multi_similarity"},
		{"multi-similarity", "multi_similarity"},
		{"MultiSimilarity", "multi_similarity"},
		{"tripelt", "triplet"}, // two letters swapped are one step
		{"tripletts", "triplet"},
		{"contrastve", "contrastive"},
		{"proxyancor", "proxy_anchor"},
		{"softtriplet", "soft_triple"}, // nearer than triplet
		{"proxy", "proxy_nca"},         // both begin so: the shorter needs fewer letters more
		{"npair", "n_pairs"},
		{"weighted", "weighted_multi_similarity"},
		{"xyz", ""},
		{"margin", ""},
		{"tr", ""}, // too short to be the beginning of anything
		{"", ""},
		{"--", ""},
	} {
		if got := Nearest(c.name, losses); got != c.want {
			t.Errorf("%q: found %q, expected %q", c.name, got, c.want)
		}
	}
	if got := Nearest("sead", []string{"head", "seed", "bead"}); got != "seed" {
		t.Errorf("found %q, expected the one with the same first letter", got)
	}
	if got := Nearest("vfm", []string{"vmf", "avgsim"}); got != "vmf" {
		t.Errorf("found %q", got)
	}
	if got := Nearest("épreuve", []string{"epreuve", "Épreuve"}); got != "Épreuve" {
		t.Errorf("found %q: letters are not bytes", got)
	}
	if got := Nearest("triplet", nil); got != "" {
		t.Errorf("found %q in no list", got)
	}
}

func TestAsk(t *testing.T) {
	if got := Ask("tripelt", losses); got != ` (did you mean "triplet"?)` {
		t.Errorf("found %q", got)
	}
	if got := Ask("margin", losses); got != "" {
		t.Errorf("found %q", got)
	}
}

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
		whole, beginning := distances(a, b)
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
		if back, _ := distances(b, a); back != whole {
			t.Fatalf("%q and %q: %d there, %d back", string(a), string(b), whole, back)
		}
	})
}

// A name itself is its nearest, wherever it stands.
func TestNearestItself(t *testing.T) {
	for _, name := range losses {
		list := slices.Clone(losses)
		slices.Reverse(list)
		if Nearest(name, losses) != name || Nearest(name, list) != name {
			t.Errorf("%s: found %s and %s", name, Nearest(name, losses), Nearest(name, list))
		}
	}
}
