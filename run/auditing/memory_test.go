package auditing

import (
	"strings"
	"testing"

	"winnow/audit"
	"winnow/internal/hint"
)

// What an audit may take is all of it: what is left for similarities falls with what else is held, and too little is refused
// with how much would do.
func TestSimilarities(t *testing.T) {
	const gib = 1 << 30
	left, err := similarities(gib, 300_000, 128, 128, 1000, "fitted")
	if err != nil || left < 4*300_000 || left > gib/2 {
		t.Errorf("300,000 images of 128 values in 1 GiB: %d bytes for similarities, %v", left, err)
	}
	if few, err := similarities(0, 100, 2048, 512, 10, ""); err != nil || few != 256<<20 {
		t.Errorf("100 images: %d, %v, expected %d", few, err, 256<<20)
	}
	for _, c := range []struct {
		images, stored, judged, classes int
		scorer                          string
		fits                            int64
	}{
		{1_000_000, 128, 128, 1000, "fitted", 3 * gib},
		{100_000, 2048, 512, 1000, "fitted", 2 * gib},
		{300_000, 128, 128, 10, audit.Crossfit, 2 * gib},
		{300_000, 128, 128, 1000, "probe", 3 * gib},
	} {
		_, err := similarities(gib, c.images, c.stored, c.judged, c.classes, c.scorer)
		if err == nil || !strings.Contains(err.Error(), "need about ") || !strings.Contains(err.Error(), "--max-mem allows 1.0 GiB") || !strings.HasPrefix(hint.Of(err), "allow more: --max-mem ") {
			t.Errorf("%+v in 1 GiB: %v (%s)", c, err, hint.Of(err))
		}
		if _, err := similarities(c.fits, c.images, c.stored, c.judged, c.classes, c.scorer); err != nil {
			t.Errorf("%+v in %d: %v", c, c.fits, err)
		}
	}
}
