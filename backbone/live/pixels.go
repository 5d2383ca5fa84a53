package live

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"winnow/backbone"
)

// Pictures gives the picture of a training row, or a smaller one of which v makes the same views; several
// goroutines ask at once, each with a viewer of its own. [backbone.ImageCache] is one.
type Pictures interface {
	ImageFor(row int, v *backbone.Viewer) (image.Image, error)
}

// PixelsConfig describes how pictures become what a network is fed.
type PixelsConfig struct {
	Pictures      Pictures
	Preprocessing backbone.Preprocessing
	Augmentation  backbone.Augmentation

	// Source gives the random numbers of one Load: a function of seed and step, so that a run that goes on after
	// an interruption sees the same views: of the running step (0), or of the next one (1), whose views are made while
	// the network computes. nil with the zero Augmentation.
	Source  func(ahead int) *rand.Rand
	Workers int // goroutines; 0: one a core
}

// Pixels are Inputs made of pictures: decoded, augmented and preprocessed on a few goroutines, which end with the call
// or, where a batch was prepared, with the next. The view of the i-th row of a batch is a function of Source and i,
// whichever goroutine makes it and when. A row named twice is shown in two views.
type Pixels struct {
	cfg      PixelsConfig
	size     int
	viewers  []*backbone.Viewer // of Load
	early    []*backbone.Viewer // of what is prepared: one core stays the network's
	now      []float32          // of the last Load
	next     []float32          // of what is prepared
	prepared *loading           // nil: nothing

	background sync.WaitGroup
	atWork     atomic.Int32 // threads in the background
}

// NewPixels checks what a Pixels is made of.
func NewPixels(cfg PixelsConfig) (*Pixels, error) {
	if cfg.Source == nil && cfg.Augmentation != (backbone.Augmentation{}) {
		return nil, fmt.Errorf("live: pixels: an augmentation and no source of random numbers, expected one")
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

// Sizes returns the one input: planes × height × width.
func (p *Pixels) Sizes() []int { return []int{p.size} }

// base returns the number that the views of a step are drawn from.
func (p *Pixels) base(ahead int) uint64 {
	if p.cfg.Source == nil {
		return 0
	}
	return p.cfg.Source(ahead).Uint64()
}

// Prepare begins to make the views of the next step's rows on the cores that the network leaves idle; nil: of none, and
// what was begun has ended when it returns. Nothing is begun while a thread is still at work on an earlier batch, as may
// be where other programs use all cores.
func (p *Pixels) Prepare(rows []int) {
	p.drop()
	switch {
	case len(rows) == 0:
		p.background.Wait()
		return
	case p.atWork.Load() > 0 || len(p.early) == 0:
		return
	}
	l := p.begin(&p.next, rows, p.base(1))
	for _, v := range p.early[:min(len(p.early), len(rows))] {
		p.atWork.Add(1)
		p.background.Go(func() {
			defer p.atWork.Add(-1)
			inTheBackground()
			l.workAhead(v)
		})
	}
	p.prepared = l
}

// drop forgets what was prepared.
func (p *Pixels) drop() {
	if p.prepared != nil {
		p.prepared.takeAll(func(int) {})
		p.prepared = nil
	}
}

// Load returns the rows' views. A row that cannot be read is an error that names its path; of several the first in the
// batch.
func (p *Pixels) Load(rows []int) ([][]float32, error) {
	base := p.base(0)
	if l := p.prepared; l == nil || l.base != base || !slices.Equal(l.rows, rows) {
		p.drop()
		p.prepared = p.begin(&p.next, rows, base)
	}
	l := p.prepared
	p.prepared, p.now, p.next = nil, p.next, p.now
	return [][]float32{l.dst}, l.finish()
}

// load makes one view. A panic in a picture is an error of that picture.
func (p *Pixels) load(v *backbone.Viewer, dst []float32, row int, rng *rand.Rand) (err error) {
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
