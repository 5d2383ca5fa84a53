package catalog_test

import (
	"slices"
	"testing"

	"winnow/internal/catalog"
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
		if got := catalog.Nearest(c.name, losses); got != c.want {
			t.Errorf("%q: found %q, expected %q", c.name, got, c.want)
		}
	}
	if got := catalog.Nearest("sead", []string{"head", "seed", "bead"}); got != "seed" {
		t.Errorf("found %q, expected the one with the same first letter", got)
	}
	if got := catalog.Nearest("vfm", []string{"vmf", "avgsim"}); got != "vmf" {
		t.Errorf("found %q", got)
	}
	if got := catalog.Nearest("épreuve", []string{"epreuve", "Épreuve"}); got != "Épreuve" {
		t.Errorf("found %q: letters are not bytes", got)
	}
	if got := catalog.Nearest("triplet", nil); got != "" {
		t.Errorf("found %q in no list", got)
	}
}

func TestAsk(t *testing.T) {
	if got := catalog.Ask("tripelt", losses); got != ` (did you mean "triplet"?)` {
		t.Errorf("found %q", got)
	}
	if got := catalog.Ask("margin", losses); got != "" {
		t.Errorf("found %q", got)
	}
}

// A name itself is its nearest, wherever it stands.
func TestNearestItself(t *testing.T) {
	for _, name := range losses {
		list := slices.Clone(losses)
		slices.Reverse(list)
		if catalog.Nearest(name, losses) != name || catalog.Nearest(name, list) != name {
			t.Errorf("%s: found %s and %s", name, catalog.Nearest(name, losses), catalog.Nearest(name, list))
		}
	}
}
