package live

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"

	"winnow/backbone"
)

// Pictures provides the images of the training rows. ImageFor may return a smaller image that gives v the same views.
// It is called by several goroutines at once, each with its own viewer. [backbone.ImageCache] implements Pictures.
type Pictures interface {
	ImageFor(row int, v *backbone.Viewer) (image.Image, error)
}

// PixelsConfig holds the settings for turning images into a network's input.
type PixelsConfig struct {
	Pictures      Pictures
	Preprocessing backbone.Preprocessing
	Augmentation  backbone.Augmentation

	// Source returns the random numbers for the views of one Load: of this step (ahead 0), or of the next step (ahead
	// 1), whose views are made while the network computes. They must depend only on seed and step, so that a resumed
	// run sees the same views. nil is allowed only with the zero Augmentation, which uses no random numbers.
	Source  func(ahead int) *rand.Rand
	Workers int  // goroutines; 0: one per core
	Ahead   bool // Prepare starts in the background: for networks that leave CPU cores idle, as on a GPU
}

// Pixels implements Inputs from images, which are decoded, augmented and preprocessed on a few goroutines. These end
// when Load returns, or with Prepare(nil). The view of the i-th row of a batch depends only on Source and i, not on
// the goroutine or the time. A row that is named twice gets two different views.
type Pixels struct {
	cfg      PixelsConfig
	size     int
	viewers  []*backbone.Viewer // for Load
	early    []*backbone.Viewer // for Prepare: one viewer fewer, because the network needs a core
	now      []float32          // the views of the last Load
	next     []float32          // the views being prepared
	prepared *loading           // nil: no views are being prepared
}

// NewPixels checks cfg and creates the viewers.
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

// viewSeed returns the seed of the views of this step or, with ahead 1, of the next step.
func (p *Pixels) viewSeed(ahead int) uint64 {
	if p.cfg.Source == nil {
		return 0
	}
	return p.cfg.Source(ahead).Uint64()
}

// Prepare starts to make the views of the next step's rows if Ahead is set. With nil it only stops work in progress.
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

// Load returns the rows' views. If an image cannot be read, the error names its path. If several images fail, the
// error is that of the first in the batch.
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

// loadView makes the view of one row. A panic while it is made becomes an error of that row.
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
