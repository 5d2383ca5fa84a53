package extraction

import (
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/internal/testing/orttest"
	"winnow/models"
)

// Little memory leads to small batches. If the memory is unknown, the batch is the default.
func TestBatchFor(t *testing.T) {
	registry, err := models.Open(filepath.Join(t.TempDir(), "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := registry.Resolve("glyphnet", models.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := models.Prepare(b, "")
	if err != nil {
		t.Fatal(err)
	}
	p := b.Preprocessing
	e := Extraction{Cut: cut, Config: backbone.ExtractConfig{Preprocessing: p}}
	activations, err := cut.Activations(p)
	if err != nil || activations < 4*int64(p.Size()) {
		t.Fatalf("%d bytes an image, %v", activations, err)
	}
	image := e.Config.BatchBytes(1, activations)
	for _, c := range []struct {
		memory int64
		known  bool
		most   int
		want   int
	}{
		{0, true, 32, 1}, {4*8*image - 4, true, 32, 4}, {4 * 8 * image, true, 32, 8}, {1 << 40, true, 32, 32},
		{1 << 40, true, 256, 256}, {0, false, 256, 32},
	} {
		if got, why := e.batchFor(c.memory, c.known, c.most, "of memory"); got != c.want {
			t.Errorf("%+v: %d images: %s", c, got, why)
		}
	}
	e.Out, e.Memory = t.TempDir(), 4*8*image // less than the memory of any machine
	told := Host{Note: func(format string, args ...any) { t.Errorf(format, args...) }}.Complete()
	if e.settleBatch(told, orttest.Runtime(t)); e.Config.Batch != 8 {
		t.Errorf("%d images within %d bytes, expected 8", e.Config.Batch, e.Memory)
	}
	cut.Batch = 8
	if got, why := e.batchFor(1, true, 32, ""); got != UsualBatch || !strings.Contains(why, "takes 8 at a time") {
		t.Errorf("a model with a fixed batch: %d: %s", got, why)
	}
}
