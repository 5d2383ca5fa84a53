package measure_test

import (
	"strings"
	"testing"

	"winnow/eval"
	"winnow/internal/hint"
	"winnow/run/measure"
)

// MaxMem covers a whole command: the memory left for similarities shrinks with everything else held; metrics that
// copy vectors or fit take more; too little is refused with the amount needed.
func TestMemory(t *testing.T) {
	o := measure.Options{Metrics: chosen(t, "retrieval,linear-probe"), MaxMem: 130 << 20, Note: t.Logf}
	r := trained(t, o)
	if _, err := measure.Run(t.Context(), r, o); err == nil || !strings.Contains(err.Error(), "need about 136.") ||
		!strings.Contains(err.Error(), "--max-mem allows 130.0 MiB") || hint.Of(err) != "allow more: --max-mem 192MiB" {
		t.Errorf("in 130 MiB: %v (%s)", err, hint.Of(err))
	}
	images, err := measure.Read(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	left := func(metrics []measure.Metric, memory, beside int64) int64 {
		n, err := images.Similarities(r, metrics, memory, beside)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	fitted := left(o.Metrics, 144<<20, 0)
	images.Now.Fit = nil
	all := left(nil, 144<<20, 0)
	if all <= 15<<20 || all >= 16<<20 || left(nil, 144<<20, 4<<20) != all-4<<20 || fitted >= all ||
		left(nil, 0, 0) != 128<<20 {
		t.Errorf("of 144 MiB %d bytes are left, %d beside 4 MiB, %d with a probe", all, left(nil, 144<<20, 4<<20),
			fitted)
	}
	if _, err := images.Similarities(r, nil, eval.DefaultMaxMem, eval.DefaultMaxMem); err == nil {
		t.Error("no memory is left, and that is let through")
	}
	images.Now.Gallery = &images.Train
	if more := left(nil, 144<<20, 0); more > all-int64(4*r.Store.Dim*training) {
		t.Errorf("%d bytes are left beside a gallery of %d, %d without", more, training, all)
	}
}
