package live

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"sync"

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
	// an interruption sees the same views. nil with the zero Augmentation.
	Source  func() *rand.Rand
	Workers int // goroutines; 0: one a core
}

// Pixels are Inputs made of pictures: decoded, augmented and preprocessed on a few goroutines that end with the call.
// The view of the i-th row of a batch is a function of Source and i, whichever goroutine makes it. A row named twice is
// shown in two views.
//
// Nothing is decoded ahead: on the CPU the network leaves no core idle to do it.
type Pixels struct {
	cfg     PixelsConfig
	size    int
	viewers []*backbone.Viewer
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
	for range n {
		v, err := backbone.NewViewer(cfg.Preprocessing, cfg.Augmentation)
		if err != nil {
			return nil, err
		}
		p.viewers = append(p.viewers, v)
	}
	return p, nil
}

// Sizes returns the one input: planes × height × width.
func (p *Pixels) Sizes() []int { return []int{p.size} }

// Load fills dst[0] with the rows' views. A row that cannot be read is an error that names its path; of several
// the first in the batch.
func (p *Pixels) Load(dst [][]float32, rows []int) error {
	var base uint64
	if p.cfg.Source != nil {
		base = p.cfg.Source().Uint64()
	}
	errs := make([]error, len(rows))
	inTurn(len(p.viewers), len(rows), func(worker, i int) {
		errs[i] = p.load(p.viewers[worker], dst[0][i*p.size:(i+1)*p.size], rows[i], rand.New(rand.NewPCG(base, uint64(i))))
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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

// inTurn calls do for 0 … n-1 on several goroutines, worker k for k, k+workers, ….
func inTurn(workers, n int, do func(worker, i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var all sync.WaitGroup
	for k := range workers {
		all.Go(func() {
			for i := k; i < n; i += workers {
				do(k, i)
			}
		})
	}
	all.Wait()
}
