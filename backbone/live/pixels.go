package live

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	Workers int // goroutines; 0: one per core
}

// Pixels are Inputs made of pictures, which are decoded, augmented and preprocessed on a few goroutines. These
// end with the call; those that prepare batches end with Prepare(nil). The view of the i-th row of a batch
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

	ahead      chan *loading // to the background threads; nil: there are none
	background sync.WaitGroup
	atWork     atomic.Int32 // number of background threads that are making views
	wanted     int          // number of background threads for the next batch; see adapt
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

// Prepare begins to make the views of the next step's rows on cores that the network leaves idle. With nil it
// stops, and returns when the background work has ended. It begins nothing while a thread still works on an
// earlier batch, which happens when other programs use all cores.
func (p *Pixels) Prepare(rows []int) {
	p.dropPrepared()
	switch {
	case len(rows) == 0:
		if p.ahead != nil {
			close(p.ahead)
			p.ahead = nil
		}
		p.background.Wait()
		return
	case p.atWork.Load() > 0 || len(p.early) == 0:
		return
	}
	l := p.beginLoading(&p.next, rows, p.viewSeed(1))
	if p.ahead == nil {
		p.startBackground()
	}
	for range min(p.wanted, len(rows)) {
		p.atWork.Add(1)
		p.ahead <- l
	}
	p.prepared = l
}

// startBackground starts the background threads. They stay, since starting one takes longer than making a view.
func (p *Pixels) startBackground() {
	p.ahead, p.wanted = make(chan *loading), len(p.early)
	for _, v := range p.early {
		ahead := p.ahead
		p.background.Go(func() {
			inTheBackground()
			own := make([]float32, p.size)
			for l := range ahead {
				l.workAhead(v, own)
				p.atWork.Add(-1)
			}
		})
	}
}

// dropPrepared abandons the prepared batch.
func (p *Pixels) dropPrepared() {
	if p.prepared != nil {
		p.prepared.takeAll(func(int) {})
		p.prepared = nil
	}
}

// Load returns the rows' views. If a row cannot be read, the error names its path; of several errors it is the
// first in the batch.
func (p *Pixels) Load(rows []int) ([][]float32, error) {
	base := p.viewSeed(0)
	if l := p.prepared; l == nil || l.base != base || !slices.Equal(l.rows, rows) {
		p.dropPrepared()
		p.prepared = p.beginLoading(&p.next, rows, base)
	}
	l := p.prepared
	p.prepared, p.now, p.next = nil, p.next, p.now
	p.adaptThreads(l)
	return [][]float32{l.dst}, l.finishRows()
}

// adaptThreads chooses how many background threads make the next batch: fewer if this one was made in the first third
// of the time there was, twice as many if it was late. Threads that are not needed disturb the one that feeds the
// device.
func (p *Pixels) adaptThreads(l *loading) {
	switch last := l.last.Load(); {
	case !l.isLoaded():
		p.wanted = min(2*p.wanted, len(p.early))
	case last > 0 && 3*time.Duration(last) < time.Since(l.began):
		p.wanted = max(1, p.wanted*3/4)
	}
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
