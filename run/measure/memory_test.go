package measure_test

import (
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/measure"
)

// MaxMem limits a whole command: all other data in memory reduce the memory left for similarities, and metrics that
// copy vectors or fit reduce it further. If too little is left, the error states the amount needed.
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
	left := func(metrics []measure.Metric, memory int64) int64 {
		n, err := images.Similarities(r, metrics, memory)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	fitted := left(o.Metrics, 144<<20)
	images.Now.Fit = nil
	all := left(nil, 144<<20)
	if all <= 15<<20 || all >= 16<<20 || fitted >= all || left(nil, 0) != 128<<20 {
		t.Errorf("of 144 MiB, %d bytes are left, and %d with a linear probe", all, fitted)
	}
	images.Now.Gallery = &images.Train
	if more := left(nil, 144<<20); more > all-int64(4*r.Store.Dim*training) {
		t.Errorf("%d bytes are left with a gallery of %d images, %d without", more, training, all)
	}
}
