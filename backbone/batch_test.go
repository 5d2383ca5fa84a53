package backbone

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBatchWithin checks that the result is a power of two that fits, and that its double does not fit or exceeds the
// maximum.
func TestBatchWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := ExtractConfig{Preprocessing: Preprocessing{Crop: rapid.IntRange(1, 300).Draw(t, "crop")}}
		if rapid.Bool().Draw(t, "views") {
			cfg.Views = make([]View, 5)
		}
		budget := rapid.Int64Range(0, 1<<40).Draw(t, "budget")
		activations := rapid.Int64Range(0, 1<<32).Draw(t, "activations")
		most := rapid.IntRange(1, 256).Draw(t, "most")
		n := cfg.BatchWithin(budget, activations, most)
		if n < 1 || n > most || n&(n-1) != 0 {
			t.Fatalf("batch of %d, expected a power of two up to %d", n, most)
		}
		if n > 1 && cfg.BatchBytes(n, activations) > budget {
			t.Errorf("%d images take %d bytes of %d", n, cfg.BatchBytes(n, activations), budget)
		}
		if 2*n <= most && cfg.BatchBytes(2*n, activations) <= budget {
			t.Errorf("%d images would fit as well as %d", 2*n, n)
		}
	})
	cfg := ExtractConfig{Preprocessing: Preprocessing{Crop: 224, Channels: "RGB"}}
	if got := cfg.BatchBytes(2, 1000); got != 2*(1000+3*4*3*224*224) {
		t.Errorf("two images take %d bytes", got)
	}
}
