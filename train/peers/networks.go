package peers

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// Networks is what a method trains, as an encoder of the trainer: its rows are the logits of all networks side by
// side, n×(networks·C); a limit to the gradient's norm counts them together. The first network's head is the one that is kept; the second is there to teach it. One
// goroutine may use it.
type Networks struct {
	cfg     Config
	classes int
	clock   *train.Clock
	list    []*network
	loss    *Loss
	rows    int // of the training set
	z       blas32.General
}

// network is a head and a classifier behind it.
type network struct {
	head       *head.Head
	encoder    *head.Encoder
	classifier *classifier
}

// Input is what the networks see and start from.
type Input struct {
	Head    *head.Head   // the first network's, kept and trained in place
	Train   features.Set // stored features; labels 0 … Classes-1, or negative for none
	Stored  features.Set // what rows are of: Train, and behind it other views of its rows, if any; empty: Train
	Classes int
	Batch   int          // rows of the largest batch
	Clock   *train.Clock // the trainer's
	Seed    uint64
}

// New builds the networks of a method. The second head is drawn as the first was, from a source of its own: random
// heads differ; whitened ones start alike, as two copies of a pretrained network do, and only their classifiers
// differ.
func New(ctx context.Context, cfg Config, in Input) (*Networks, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if in.Classes < 2 {
		return nil, fmt.Errorf("peers: %d classes, expected at least 2", in.Classes)
	}
	n := &Networks{cfg: cfg, classes: in.Classes, clock: in.Clock, rows: in.Train.Len()}
	if in.Stored.Len() == 0 {
		in.Stored = in.Train
	}
	n.z = features.NewMatrix(in.Batch, cfg.networks()*in.Classes)
	for i := range cfg.networks() {
		h, prefix := in.Head, ""
		if i > 0 {
			prefix = "peer."
			var err error
			if h, err = head.New(ctx, in.Head.Config(), in.Train.X, train.Rand(in.Seed, "peer head", 0)); err != nil {
				return nil, err
			}
			for _, p := range h.Params() {
				p.Name = prefix + p.Name
			}
		}
		e, err := head.NewRawEncoder(h, in.Stored, in.Batch)
		if err != nil {
			return nil, err
		}
		c := newClassifier(cfg, prefix, in.Classes, h.Config().Out, train.Rand(in.Seed, prefix+"classifier", 0))
		n.list = append(n.list, &network{h, e, c})
	}
	var err error
	n.loss, err = newLoss(cfg, in.Classes, in.Clock)
	return n, err
}

// Forward computes the logits of the networks that learn in the running step; those of one that rests are 0.
func (n *Networks) Forward(rows []int) (features.Set, error) {
	if n.estimating() {
		if err := n.estimate(); err != nil {
			return features.Set{}, err
		}
	}
	z := features.Resize(n.z, len(rows), n.z.Cols)
	clear(z.Data)
	var out features.Set
	for i, net := range n.list {
		if !n.learns(i) {
			continue
		}
		y, err := net.encoder.Forward(rows)
		if err != nil {
			return features.Set{}, err
		}
		net.classifier.forward(n.part(z, i), y.X)
		out = y
	}
	out.X = z
	return out, nil
}

// Backward sends the gradient of the logits into each network that learns in the running step.
func (n *Networks) Backward(dz blas32.General) error {
	for i, net := range n.list {
		if !n.learns(i) {
			continue
		}
		if err := net.encoder.Backward(net.classifier.backward(n.part(dz, i))); err != nil {
			return err
		}
	}
	return nil
}

// part returns the view of one network's logits.
func (n *Networks) part(z blas32.General, i int) blas32.General {
	return columns(z, i*n.classes, n.classes)
}

// columns returns a view of n columns.
func columns(m blas32.General, from, n int) blas32.General {
	m.Data, m.Cols = m.Data[from:], n
	return m
}

// learns reports whether a network learns in the running step: both do, but where the second is trained first and for
// the estimate alone.
func (n *Networks) learns(i int) bool {
	return !n.cfg.estimates() || (i == 1) == n.firstStage()
}

func (n *Networks) firstStage() bool { return n.cfg.estimates() && n.clock.Step() <= n.cfg.FirstStage }

// estimating reports whether the running step is the first that needs the estimate.
func (n *Networks) estimating() bool {
	return n.cfg.estimates() && n.clock.Step() == n.cfg.FirstStage+1
}

// Params returns the parameters of all networks: head, then classifier, of each.
func (n *Networks) Params() []*features.Param {
	var list []*features.Param
	for i := range n.list {
		list = append(list, n.paramsOf(i)...)
	}
	return list
}

func (n *Networks) paramsOf(i int) []*features.Param {
	return append(n.list[i].head.Params(), n.list[i].classifier.Params()...)
}

// State returns the estimated transition matrix, if there is one.
func (n *Networks) State() []*features.Param {
	if n.cfg.estimates() {
		return []*features.Param{n.loss.transition.dense}
	}
	return nil
}

// Term returns the method as the trainer's loss.
func (n *Networks) Term() train.Term {
	return train.Term{Name: n.cfg.Method, Loss: n.loss, Weight: 1}
}

// Groups gives each network its own solver, and a schedule for the steps it learns in: a run of so many steps.
func (n *Networks) Groups(steps int, solver func() (train.Solver, error), schedule func(steps int) (train.Schedule, error)) ([]train.Group, error) {
	groups := []train.Group{{Name: train.HeadGroup, Start: 1}}
	if len(n.list) > 1 {
		groups = append(groups, train.Group{Name: train.PeerGroup, Start: 1})
	}
	if n.cfg.estimates() {
		if n.cfg.FirstStage >= steps {
			return nil, fmt.Errorf("peers: %s: first_stage: %d steps, expected fewer than the %d of the run", n.cfg.Method, n.cfg.FirstStage, steps)
		}
		groups[0].Start, groups[1].Stop = n.cfg.FirstStage+1, n.cfg.FirstStage
	}
	for i := range groups {
		g := &groups[i]
		last := steps
		if g.Stop > 0 {
			last = g.Stop
		}
		var err error
		if g.Solver, err = solver(); err != nil {
			return nil, err
		}
		if g.Schedule, err = schedule(last - g.Start + 1); err != nil {
			return nil, err
		}
		g.Params = n.paramsOf(i)
	}
	return groups, nil
}

// Close releases the networks' graphs.
func (n *Networks) Close() error {
	var first error
	for _, net := range n.list {
		if err := net.encoder.Close(); first == nil {
			first = err
		}
	}
	return first
}
