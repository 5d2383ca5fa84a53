// Package head turns features into unit embeddings, and gradients of embeddings into gradients of weights.
//
//	y = W x + b        z = y / max(‖y‖, 1e-12)
//
// A [Head] holds plain numbers. Its weights are in×out, row-major, so that a batch of feature rows times the weights
// is one product without a transposition. [Head.Embed] computes this product with blas32. An [Encoder] trains a head:
// Gorgonia differentiates ⟨y(W), G⟩, where G = ∂L/∂y follows from a loss's gradient. Only this package imports
// Gorgonia. The package is independent of losses and filters.
//
// The same seed gives the same bits: [New] draws the initial weights from the random source that it receives.
// Gorgonia never draws them, because it seeds its initialisers from the clock.
package head

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Head is a linear map with a normalised output. Several goroutines may embed with it at once, but not while it is
// being trained.
type Head struct {
	cfg          Config
	weight, bias *features.Param // bias is nil if the head has none
	rank         int
}

// New returns a head with initial weights. train holds the stored training features; with random weights it may be
// empty, because only whitening reads it. Whitening stops if ctx is cancelled. rng draws all random weights.
func New(ctx context.Context, cfg Config, train blas32.General, rng *rand.Rand) (*Head, error) {
	if cfg.Drawn() {
		return NewWhitened(cfg, nil, rng)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if train.Cols != cfg.In {
		return nil, fmt.Errorf("head: training features: found dimension %d, expected %d as in the settings",
			train.Cols, cfg.In)
	}
	white, err := Whitening(ctx, features.Set{X: train}, cfg.Out, cfg.Bias)
	if err != nil {
		return nil, err
	}
	return NewWhitened(cfg, white, rng)
}

// NewWhitened is like New, but receives the finished [Whitening] of the training features to cfg.Out dimensions, which
// must be centred if the head has a bias. With random weights white is not used.
func NewWhitened(cfg Config, white *Head, rng *rand.Rand) (*Head, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := newBlank(cfg)
	if cfg.Drawn() {
		h.drawWeights(rng)
		return h, nil
	}
	if c := white.cfg; c.In != cfg.In || c.Out != cfg.Out || c.Bias != cfg.Bias {
		return nil, fmt.Errorf("head: whitening: found %d to %d dimensions, expected %d to %d as in the "+
			"settings", c.In, c.Out, cfg.In, cfg.Out)
	}
	for i, p := range h.Params() {
		copy(p.Data, white.Params()[i].Data)
	}
	h.rank = white.rank
	return h, nil
}

// drawWeights fills the weights with random numbers of variance 2/(in+out) (Glorot & Bengio, AISTATS 2010) or, with
// Kaiming, of variance 2/out (He et al., ICCV 2015, by the number of outputs). The bias stays zero.
func (h *Head) drawWeights(rng *rand.Rand) {
	w := h.weight
	variance := 2 / float64(w.Rows+w.Cols)
	if h.cfg.Init == Kaiming {
		variance = 2 / float64(w.Cols)
	}
	scale := math.Sqrt(variance)
	for i := range w.Data {
		w.Data[i] = float32(scale * rng.NormFloat64())
	}
}

// Restore returns a head with parameter values read from a file, in the order of [Config.Shapes]. The values
// are not copied.
func Restore(cfg Config, values [][]float32) (*Head, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	shapes := cfg.Shapes()
	if len(values) != len(shapes) {
		return nil, fmt.Errorf("head: found %d parameters, expected %d", len(values), len(shapes))
	}
	for i, s := range shapes {
		if len(values[i]) != s.Rows*s.Cols {
			return nil, fmt.Errorf("head: %s: found %d values, expected %d×%d", s.Name, len(values[i]), s.Rows, s.Cols)
		}
		for j, v := range values[i] {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("head: %s: value %d is %v, expected a finite number", s.Name, j, v)
			}
		}
	}
	h := newSkeleton(cfg)
	for i, p := range h.Params() {
		p.Data = values[i]
		p.Grad = make([]float32, len(p.Data))
	}
	return h, nil
}

// newBlank returns a head whose parameters are all zero.
func newBlank(cfg Config) *Head {
	h := newSkeleton(cfg)
	for _, p := range h.Params() {
		p.Data = make([]float32, p.Rows*p.Cols)
		p.Grad = make([]float32, p.Rows*p.Cols)
	}
	return h
}

// newSkeleton returns a head whose parameters have names and sizes but no memory.
func newSkeleton(cfg Config) *Head {
	h := &Head{cfg: cfg, rank: cfg.Out}
	for i, s := range cfg.Shapes() {
		p := &features.Param{Name: s.Name, Rows: s.Rows, Cols: s.Cols, NoDecay: i == 1}
		if i == 0 {
			h.weight = p
		} else {
			h.bias = p
		}
	}
	return h
}

// Clone returns a separate head with the same weights.
func (h *Head) Clone() *Head {
	c := newBlank(h.cfg)
	c.rank = h.rank
	for i, p := range c.Params() {
		copy(p.Data, h.Params()[i].Data)
	}
	return c
}

// Config returns the configuration of the head.
func (h *Head) Config() Config { return h.cfg }

// Params returns head.0.weight (in×out) and, if there is one, head.0.bias (1×out).
func (h *Head) Params() []*features.Param {
	if h.bias == nil {
		return []*features.Param{h.weight}
	}
	return []*features.Param{h.weight, h.bias}
}

// Linear returns a view of the head's current weights, in×out, and its bias, or nil without a bias. The head normalises
// the output of this linear map to unit length.
func (h *Head) Linear() (weight blas32.General, bias []float32) {
	if h.bias != nil {
		bias = h.bias.Data
	}
	return h.weight.Matrix(), bias
}
