// Package live trains a backbone together with its head: rows of the training set are decoded, augmented and run
// through a network whose weights change, and the loss's gradient goes back through the head into them.
//
//	rows → Inputs → network → x → head → z        ∂L/∂z → head → ∂L/∂x → network → gradients of both
//
// An [Encoder] is to the trainer what a head on stored features is: it cannot tell which. The network is a
// [backbone.LiveNetwork], made by backbone/ort; what it is fed are pixels ([Pixels]), or, where the first part of
// the network is frozen, that part's activations, computed for each batch ([Prefixed]) or once ([Cached]).
//
// The package imports backbone, features and head; it knows neither losses nor filters.
package live

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/features"
	"winnow/head"
)

// Inputs are what a network is fed for rows of the training set.
type Inputs interface {
	Sizes() []int // floats an image takes in each input of the network

	// Load returns one slice for each input, image after image, in memory that the next Load may write to.
	Load(rows []int) ([][]float32, error)

	// Prepare is told what the next step's Load will name, and may begin with it beside what else is computed; nil ends
	// what was begun. What Load returns does not depend on it.
	Prepare(rows []int)
}

// Config is what an Encoder is made of.
type Config struct {
	Network backbone.LiveNetwork // stays the caller's to close
	Inputs  Inputs
	Head    *head.Head
	Labels  []int // of the training rows
	IDs     []int
	Batch   int  // largest batch of Forward
	Raw     bool // rows are the head's as they come out of its last layer, not of unit length, for what stands behind it

	// Chunk is how many images go through the network at a time at most; 0: the whole batch, whose activations must
	// then fit into memory. A larger batch goes in as few chunks as that allows, all of a size or one apart.
	Chunk int

	// Resting is asked at every step: true while the network is not trained, only the head (its warm-up). The
	// network then computes vectors and nothing more, its statistics stay, and its gradients are zero: those who
	// steps the weights must leave them alone, for weight decay and momentum move them without a gradient.
	// nil: never.
	Resting func() bool
}

// Encoder embeds rows of a training set by a network and a head and turns ∂L/∂z into the gradients of both. It is
// the train package's Encoder; one goroutine may use it.
//
// A batch larger than Chunk is computed twice (gradient caching): Forward runs all chunks without keeping anything,
// so that the loss sees the whole batch; Backward runs each chunk once more, now keeping its activations, and adds
// its gradients. The result is that of one pass, to rounding, at the memory of one chunk and about 4/3 of the
// time. Where the network normalises by the batch (training BatchNorm), the statistics are those of a chunk, as on
// several devices without synchronisation; the running statistics move once a step, towards the mean of the chunks'
// weighted by their rows. They move in the Forward of a batch of one chunk and in the Backward of a larger one.
//
// Source: Gao, Zhang, Han & Callan, Scaling deep contrastive learning batch size under memory limited setup,
// RepL4NLP 2021, section 3.
type Encoder struct {
	cfg     Config
	tail    *head.Tail
	params  []*features.Param
	inputs  [][]float32 // of the last Forward
	sizes   []int
	next    []int // rows of the Forward after the next
	z       features.Set
	n       int // rows of the last Forward; 0: none
	resting bool

	scratch blas32.General // vectors of a chunk that is run for its gradient
	before  [][]float32    // statistics before a step
	mean    [][]float64    // of the statistics after each chunk
}

// New checks what an Encoder is made of and builds the head's graph.
func New(cfg Config) (*Encoder, error) {
	e := &Encoder{cfg: cfg, sizes: cfg.Network.Inputs()}
	switch {
	case cfg.Batch < 1:
		return nil, fmt.Errorf("live: batch: found %d rows, expected at least 1", cfg.Batch)
	case cfg.Chunk < 0:
		return nil, fmt.Errorf("live: chunk: found %d images, expected 0 (the whole batch) or more", cfg.Chunk)
	case len(cfg.Labels) != len(cfg.IDs):
		return nil, fmt.Errorf("live: found %d labels and %d ids, expected as many", len(cfg.Labels), len(cfg.IDs))
	case cfg.Network.Dim() != cfg.Head.Config().In:
		return nil, fmt.Errorf("live: head: expects %d features, the network gives %d", cfg.Head.Config().In, cfg.Network.Dim())
	}
	if err := matches(cfg.Inputs.Sizes(), e.sizes); err != nil {
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

// matches holds what is loaded against what the network wants.
func matches(found, expected []int) error {
	same := len(found) == len(expected)
	for i := 0; same && i < len(found); i++ {
		same = found[i] == expected[i]
	}
	if !same {
		return fmt.Errorf("live: inputs: found %v floats an image, the network expects %v", found, expected)
	}
	return nil
}

// Params returns the network's, then the head's.
func (e *Encoder) Params() []*features.Param { return e.params }

// State returns what a checkpoint must hold beside the parameters: the network's running statistics.
func (e *Encoder) State() []*features.Param { return e.cfg.Network.State() }

// Announce names the rows of the step after the next Forward's, whose pictures are then made while the network computes.
// What Forward gives does not depend on it.
func (e *Encoder) Announce(rows []int) { e.next = rows }

// Forward embeds the named rows, at most Batch, at least one. A row whose output is not finite is NaN in every
// value; it is for the caller to look. The result is overwritten by the next Forward.
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
	list := e.bounds(n)
	for i, at := range list[:len(list)-1] {
		count := list[i+1] - at
		keep := !e.resting && count == n
		if err := e.cfg.Network.Forward(features.Part(x, at, count), part(e.inputs, e.sizes, at, count), count, keep); err != nil {
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

// Backward overwrites the gradients of the parameters with those of the last Forward's loss, given dz = ∂L/∂z, one
// row for each row of z. It may be called once for each Forward.
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

// Close releases the head's graph. The network is its owner's to close.
func (e *Encoder) Close() error {
	e.cfg.Inputs.Prepare(nil)
	return e.tail.Close()
}
