package live

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"

	"winnow/backbone"
)

// Pictures returns the picture of a training row, or a smaller one that gives v the same views. Several
// goroutines call it at once, each with its own viewer. [backbone.ImageCache] is one.
type Pictures interface {
	ImageFor(row int, v *backbone.Viewer) (image.Image, error)
}

// PixelsConfig describes how pictures become a network's input.
type PixelsConfig struct {
	Pictures      Pictures
	Preprocessing backbone.Preprocessing
	Augmentation  backbone.Augmentation

	// Source returns the random numbers of one Load, for this step (ahead 0) or the next one (ahead 1), whose
	// views are made while the network computes. They must depend only on seed and step, so that a resumed run
	// sees the same views. nil: none, only with the zero Augmentation.
	Source  func(ahead int) *rand.Rand
	Workers int  // goroutines; 0: one per core
	Ahead   bool // Prepare works: for networks that leave the cores idle, as on a GPU
}

// Pixels are Inputs made of pictures, which are decoded, augmented and preprocessed on a few goroutines. These
// end with the call, or with Prepare(nil). The view of the i-th row of a batch
// depends only on Source and i, not on which goroutine makes it or when. A row named twice gets two different
// views.
type Pixels struct {
	cfg      PixelsConfig
	size     int
	viewers  []*backbone.Viewer // for Load
	early    []*backbone.Viewer // for Prepare: one fewer, since the network needs a core
	now      []float32          // the views of the last Load
	next     []float32          // the views being prepared
	prepared *loading           // nil: nothing is prepared
}

// NewPixels checks cfg and makes its viewers.
func NewPixels(cfg PixelsConfig) (*Pixels, error) {
	if cfg.Source == nil && cfg.Augmentation != (backbone.Augmentation{}) {
		return nil, fmt.Errorf("live: pixels: found an augmentation without a source of random numbers")
	}
	n := cfg.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	p := &Pixels{cfg: cfg, size: cfg.Preprocessing.Size()}
	for range 2*n - 1 {
		v, err := backbone.NewViewer(cfg.Preprocessing, cfg.Augmentation)
		if err != nil {
			return nil, err
		}
		p.viewers = append(p.viewers, v)
	}
	p.viewers, p.early = p.viewers[:n], p.viewers[n:]
	return p, nil
}

// Sizes returns the size of the single input: planes × height × width.
func (p *Pixels) Sizes() []int { return []int{p.size} }

// viewSeed returns the seed of a step's views.
func (p *Pixels) viewSeed(ahead int) uint64 {
	if p.cfg.Source == nil {
		return 0
	}
	return p.cfg.Source(ahead).Uint64()
}

// Prepare begins to make the views of the next step's rows, if Ahead. With nil it only ends what it began.
func (p *Pixels) Prepare(rows []int) {
	if p.prepared != nil {
		p.prepared.dropViews()
		p.prepared = nil
	}
	if p.cfg.Ahead && len(rows) > 0 {
		p.prepared = p.beginLoading(&p.next, rows, p.viewSeed(1))
		p.prepared.startViews(p.early)
	}
}

// Load returns the rows' views. If a row cannot be read, the error names its path; of several errors it is the
// first in the batch.
func (p *Pixels) Load(rows []int) ([][]float32, error) {
	base := p.viewSeed(0)
	l := p.prepared
	if l == nil || l.base != base || !slices.Equal(l.rows, rows) {
		p.Prepare(nil)
		l = p.beginLoading(&p.next, rows, base)
	}
	p.prepared, p.now, p.next = nil, p.next, p.now
	l.startViews(p.viewers)
	return [][]float32{l.dst}, l.finishViews()
}

// loadView makes one view. A panic in a picture is an error of that picture.
func (p *Pixels) loadView(v *backbone.Viewer, dst []float32, row int, rng *rand.Rand) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("live: row %d: making its view panicked: %v", row, r)
		}
	}()
	img, err := p.cfg.Pictures.ImageFor(row, v)
	if err != nil {
		return err
	}
	if err := v.Into(dst, img, rng); err != nil {
		return fmt.Errorf("live: row %d: %w", row, err)
	}
	return nil
}
