// Package live trains a backbone together with its head. Rows of the training set are decoded, augmented and run
// through a network whose weights change; the loss's gradient flows back through the head into the network.
//
//	rows → Inputs → network → x → head → z        ∂L/∂z → head → ∂L/∂x → network → gradients of both
//
// The trainer handles an [Encoder] like a head on stored features. The network is a [backbone.LiveNetwork],
// implemented by backbone/ort. Its inputs are pixels ([Pixels]) or, if the first part of the network is frozen, that
// part's activations, computed for each batch ([Prefixed]) or once ([Cached]).
//
// The package imports backbone, features and head; it depends on neither losses nor filters.
package live

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/features"
	"winnow/head"
)

// Inputs provides a network's inputs for rows of the training set.
type Inputs interface {
	Sizes() []int // floats per image of each input of the network

	// Load returns one slice for each input, image after image. The next Load may overwrite the slices.
	Load(rows []int) ([][]float32, error)

	// Prepare announces the rows of the next step's Load, so that loading can start in the background; nil stops it.
	// Prepare does not change what Load returns.
	Prepare(rows []int)
}

// Config holds the settings of an Encoder.
type Config struct {
	Network backbone.LiveNetwork // the caller closes it
	Inputs  Inputs
	Head    *head.Head
	Labels  []int // of the training rows
	IDs     []int
	Batch   int  // largest batch of Forward
	Raw     bool // Forward returns the output of the head's last layer, not scaled to unit length

	// Chunk is the largest number of images that run through the network at once; 0: the whole batch, whose
	// activations must then fit into memory. A larger batch is split into as few chunks as possible, whose sizes
	// differ by at most one.
	Chunk int

	// Resting is called at every step. It returns true while only the head is trained (its warm-up). The network then
	// only computes vectors: its statistics do not change and its gradients are zero. The solver must skip its weights,
	// because weight decay and momentum would change them even without a gradient. nil: the network is always trained.
	Resting func() bool
}

// Encoder embeds rows of a training set with a network and a head, and computes the gradients of both from ∂L/∂z. It
// implements the train package's Encoder. It must be used by one goroutine at a time.
//
// A batch larger than Chunk is computed twice (gradient caching). Forward runs all chunks without keeping activations,
// so that the loss sees the whole batch. Backward runs each chunk again, keeps its activations and adds its gradients.
// The result equals a single pass up to rounding, needs the memory of one chunk and takes about 4/3 of the time. If
// the network normalises by the batch (training BatchNorm), it uses the statistics of a chunk, as on several devices
// without synchronisation. The running statistics change once per step, towards the mean of the chunks weighted by
// their rows: in Forward for a batch of one chunk, in Backward for a larger batch.
//
// Source: Gao, Zhang, Han & Callan, Scaling deep contrastive learning batch size under memory limited setup,
// RepL4NLP 2021, section 3.
type Encoder struct {
	cfg     Config
	tail    *head.Tail
	params  []*features.Param
	inputs  [][]float32 // inputs of the last Forward
	sizes   []int
	next    []int // rows of the step after the next Forward, from Announce
	z       features.Set
	n       int // rows of the last Forward; 0: no Forward yet
	resting bool

	scratch blas32.General // vectors of a chunk in the backward pass
	before  [][]float32    // statistics before a step
	mean    [][]float64    // mean of the statistics after each chunk
}

// New checks cfg and builds the head's graph.
func New(cfg Config) (*Encoder, error) {
	e := &Encoder{cfg: cfg, sizes: cfg.Network.Inputs()}
	switch {
	case cfg.Batch < 1:
		return nil, fmt.Errorf("live: batch: found %d rows, expected at least 1", cfg.Batch)
	case cfg.Chunk < 0:
		return nil, fmt.Errorf("live: chunk: found %d images, expected 0 (the whole batch) or more", cfg.Chunk)
	case len(cfg.Labels) != len(cfg.IDs):
		return nil, fmt.Errorf("live: found %d labels and %d ids, expected the same number",
			len(cfg.Labels), len(cfg.IDs))
	case cfg.Network.Dim() != cfg.Head.Config().In:
		return nil, fmt.Errorf("live: head: expects %d features, the network returns %d",
			cfg.Head.Config().In, cfg.Network.Dim())
	}
	if err := checkInputSizes(cfg.Inputs.Sizes(), e.sizes); err != nil {
		return nil, err
	}
	if cfg.Chunk == 0 || cfg.Chunk > cfg.Batch {
		e.cfg.Chunk = cfg.Batch
	}
	newTail := head.NewTail
	if cfg.Raw {
		newTail = head.NewRawTail
	}
	tail, err := newTail(cfg.Head, cfg.Batch)
	if err != nil {
		return nil, err
	}
	e.tail = tail
	e.params = append(append(e.params, cfg.Network.Params()...), cfg.Head.Params()...)
	e.z.Labels, e.z.IDs = make([]int, cfg.Batch), make([]int, cfg.Batch)
	return e, nil
}

// checkInputSizes returns an error unless the inputs have the sizes that the network expects.
func checkInputSizes(found, expected []int) error {
	same := len(found) == len(expected)
	for i := 0; same && i < len(found); i++ {
		same = found[i] == expected[i]
	}
	if !same {
		return fmt.Errorf("live: inputs: found %v floats an image, expected %v as in the network", found, expected)
	}
	return nil
}

// Params returns the network's parameters, then the head's.
func (e *Encoder) Params() []*features.Param { return e.params }

// Place returns where the network's weights can be trained outside Go's memory, or nil.
func (e *Encoder) Place() features.Place { return e.cfg.Network.Place() }

// State returns the network's running statistics, which a checkpoint must hold in addition to the parameters.
func (e *Encoder) State() []*features.Param { return e.cfg.Network.State() }

// Announce names the rows of the step after the next Forward, so that their images can be prepared while the network
// computes. It does not change what Forward returns.
func (e *Encoder) Announce(rows []int) { e.next = rows }

// Forward embeds the given rows, at least one and at most Batch. If an output value of a row is not finite, all values
// of the row become NaN; the caller must check. The next Forward overwrites the result.
func (e *Encoder) Forward(rows []int) (features.Set, error) {
	e.n = 0
	n := len(rows)
	if n < 1 || n > e.cfg.Batch {
		return features.Set{}, fmt.Errorf("live: batch: found %d rows, expected 1 to %d", n, e.cfg.Batch)
	}
	for i, r := range rows {
		if r < 0 || r >= len(e.cfg.Labels) {
			return features.Set{}, fmt.Errorf("live: batch: found row %d, expected 0 to %d", r, len(e.cfg.Labels)-1)
		}
		e.z.Labels[i], e.z.IDs[i] = e.cfg.Labels[r], e.cfg.IDs[r]
	}
	var err error
	if e.inputs, err = e.cfg.Inputs.Load(rows); err != nil {
		return features.Set{}, err
	}
	e.cfg.Inputs.Prepare(e.next)
	e.next = nil
	e.resting = e.cfg.Resting != nil && e.cfg.Resting()
	x := e.tail.X(n)
	list := e.chunkBounds(n)
	for i, at := range list[:len(list)-1] {
		count := list[i+1] - at
		keep := !e.resting && count == n
		inputs := sliceInputs(e.inputs, e.sizes, at, count)
		if err := e.cfg.Network.Forward(features.Part(x, at, count), inputs, count, keep); err != nil {
			return features.Set{}, err
		}
	}
	z, err := e.tail.Forward(n)
	if err != nil {
		return features.Set{}, err
	}
	e.n = n
	return features.Set{X: z, Labels: e.z.Labels[:n], IDs: e.z.IDs[:n]}, nil
}

// Backward computes the parameters' gradients of the last Forward from dz = ∂L/∂z, with one row for each row of z. It
// overwrites the previous gradients. It may be called once after each Forward.
func (e *Encoder) Backward(dz blas32.General) error {
	if e.n == 0 {
		return errors.New("live: Backward without a Forward before it")
	}
	n := e.n
	e.n = 0
	dx, err := e.tail.Backward(dz)
	switch {
	case err != nil:
		return err
	case e.resting:
		for _, p := range e.cfg.Network.Params() {
			clear(p.Grad)
		}
		return nil
	case n <= e.cfg.Chunk:
		return e.cfg.Network.Backward(dx, false)
	}
	return e.backwardChunks(dx)
}

// Close releases the head's graph. It does not close the network.
func (e *Encoder) Close() error {
	e.cfg.Inputs.Prepare(nil)
	return e.tail.Close()
}
