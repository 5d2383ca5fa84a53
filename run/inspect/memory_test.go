package inspect

import (
	"strings"
	"testing"

	"winnow/audit"
	"winnow/internal/budget"
	"winnow/internal/hint"
)

// MaxMem covers a whole audit: the memory left for similarities shrinks with everything else held, and too little is
// refused with the amount needed.
func TestSimilarities(t *testing.T) {
	const gib = 1 << 30
	left, err := countAuditMemory(300_000, 128, 128, 1000, "fitted").Similarities(gib)
	if err != nil || left < 4*300_000 || left > gib/2 {
		t.Errorf("300,000 images of 128 values in 1 GiB: %d bytes for similarities, %v", left, err)
	}
	if few, err := countAuditMemory(100, 2048, 512, 10, "").Similarities(0); err != nil || few != 128<<20 {
		t.Errorf("100 images: %d, %v, expected %d", few, err, 128<<20)
	}
	for _, c := range []struct {
		images, stored, judged, classes int
		scorer                          string
		fits                            int64
	}{
		{2_000_000, 128, 128, 1000, "fitted", 3 * gib},
		{1_000_000, 512, 512, 1000, "combined", 4 * gib},
		{1_000_000, 128, 128, 10, audit.Crossfit, 3 * gib},
		{300_000, 128, 128, 1000, "self-confidence", 3 * gib},
	} {
		u := countAuditMemory(c.images, c.stored, c.judged, c.classes, c.scorer)
		_, err := u.Similarities(gib)
		if err == nil || !strings.Contains(err.Error(), "need about ") || !strings.Contains(err.Error(),
			"--max-mem allows 1.0 GiB") || !strings.HasPrefix(hint.Of(err), "allow more: --max-mem ") {
			t.Errorf("%+v in 1 GiB: %v (%s)", c, err, hint.Of(err))
		}
		if _, err := u.Similarities(c.fits); err != nil {
			t.Errorf("%+v in %d: %v", c, c.fits, err)
		}
	}
	for _, fits := range []budget.Use{countAuditMemory(50_000, 1280, 512, 100, "combined"),
		countAuditMemory(1_000_000, 512, 512, 1000, "fitted")} {
		fits.Other += budget.Covariance(1280)
		if _, err := fits.Similarities(gib); err != nil {
			t.Error(err)
		}
	}
	run := countAuditMemory(100_000, 0, 512, 1000, "vmf") // its features, of 2048 values, stay in their store
	run.Other += budget.Covariance(2048)
	if left, err := run.Similarities(gib); err != nil || left < 128<<20 {
		t.Errorf("a run of 100,000 images of 2048 values in 1 GiB: %d bytes for similarities, %v", left, err)
	}
	if _, err := run.With(gib / 2).Similarities(gib); err == nil {
		t.Error("a run beside 512 MiB held for others is let through")
	}
}
