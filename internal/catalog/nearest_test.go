package catalog_test

import (
	"testing"

	"winnow/internal/catalog"
)

func TestNearest(t *testing.T) {
	losses := []string{"contrastive", "triplet", "multi_similarity", "proxy_nca", "proxy_anchor", "soft_triple"}
	for name, want := range map[string]string{"multisim": "multi_similarity", "MultiSimilarity": "multi_similarity",
		"tripletts": "triplet",
		"tripelt":   "triplet", "contrastve": "contrastive", "proxyancor": "proxy_anchor", "softtriplet": "soft_triple",
		"proxy": "proxy_nca", "xyz": "", "margin": "", "tr": "", "": "", "--": ""} {
		if got := catalog.Nearest(name, losses); got != want {
			t.Errorf("%q: found %q, expected %q", name, got, want)
		}
	}
	if got := catalog.Ask("tripletts", losses); got != ` (did you mean "triplet"?)` {
		t.Errorf("found %q", got)
	}
}
