package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// Networks is the encoder of training with peer networks, such as co-teaching. For n images of C classes its output has
// n×(networks·C) values: the logits of all networks side by side. The gradients of all networks are clipped together.
// The result is the head of the first network; the second only teaches it. Not safe for use by several goroutines.
type Networks struct {
	cfg     Config
	classes int
	clock   *train.Clock
	list    []*network
	loss    *loss
	rows    int   // number of rows in the training set
	next    []int // rows of the step that follows the next Forward
	z       blas32.General
}

// network is a head followed by a classifier.
type network struct {
	head       *head.Head
	encoder    Encoder
	classifier *classifier
	backbone   []*features.Param // the encoder's trained parameters except the head's
	state      []*features.Param // the encoder's state
}

// Encoder computes a head's output rows y, which are not normalised. The head's input are stored features or the
// output of a backbone.
type Encoder interface {
	train.Encoder
	Close() error
}

// Input holds the data and the initial state of the networks.
type Input struct {
	Head    *head.Head   // the first network's head, which is trained in place
	Train   features.Set // stored features; labels 0 … Classes-1, or negative without a label
	Stored  features.Set // Train, followed by other views of its rows, if any; empty: Train
	Classes int
	Batch   int          // rows of the largest batch
	Clock   *train.Clock // the trainer's
	Seed    uint64

	// Encoder creates the encoder of the first network (peer is false) or of the second (peer is true). If it is
	// nil, the heads are trained on stored features.
	Encoder func(h *head.Head, peer bool) (Encoder, error)
}

// New builds the networks of a method. The second head is initialised like the first, but with its own random
// source. Two random heads therefore differ. Two whitened heads start equal, like two copies of a pretrained
// network, so that only their classifiers differ. If New fails, it closes what it has opened.
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
	n.z = features.NewMatrix(in.Batch, cfg.countNetworks()*in.Classes)
	if in.Encoder == nil {
		in.Encoder = func(h *head.Head, _ bool) (Encoder, error) { return head.NewRawEncoder(h, in.Stored, in.Batch) }
	}
	for i := range cfg.countNetworks() {
		h, prefix := in.Head, ""
		if i > 0 {
			prefix = "peer."
			var err error
			if h, err = head.New(ctx, in.Head.Config(), in.Train.X, train.Rand(in.Seed, "peer head", 0)); err != nil {
				return nil, errors.Join(err, n.Close())
			}
			for _, p := range h.Params() {
				p.Name = prefix + p.Name
			}
		}
		e, err := in.Encoder(h, i > 0)
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		c := newClassifier(cfg, prefix, in.Classes, h.Config().Out, train.Rand(in.Seed, prefix+"classifier", 0))
		net := &network{head: h, encoder: e, classifier: c}
		net.backbone = prefixParams(prefix, slices.DeleteFunc(slices.Clone(e.Params()),
			func(p *features.Param) bool { return slices.Contains(h.Params(), p) }))
		if s, ok := e.(train.Stateful); ok {
			net.state = prefixParams(prefix, s.State())
		}
		n.list = append(n.list, net)
	}
	var err error
	if n.loss, err = newLoss(cfg, in.Classes, in.Clock); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// prefixParams returns parameters that share the memory of params, with a prefix added to their names.
func prefixParams(prefix string, params []*features.Param) []*features.Param {
	list := make([]*features.Param, len(params))
	for i, p := range params {
		other := *p
		other.Name = prefix + p.Name
		list[i] = &other
	}
	return list
}

// Announce passes the rows of the next step to the first learning network.
func (n *Networks) Announce(rows []int) { n.next = rows }

// Forward computes the logits of the networks that learn in the current step. The logits of a resting network are 0.
func (n *Networks) Forward(rows []int) (features.Set, error) {
	if n.needsEstimate() {
		if err := n.estimateMatrix(); err != nil {
			return features.Set{}, err
		}
	}
	z := features.Resize(n.z, len(rows), n.z.Cols)
	clear(z.Data)
	var out features.Set
	for i, net := range n.list {
		if !n.isLearning(i) {
			continue
		}
		if e, ok := net.encoder.(train.Announced); ok && n.next != nil {
			e.Announce(n.next)
			n.next = nil
		}
		y, err := net.encoder.Forward(rows)
		if err != nil {
			return features.Set{}, err
		}
		net.classifier.forwardLogits(n.logitsOf(z, i), y.X)
		out = y
	}
	out.X = z
	return out, nil
}

// Backward propagates the gradient of the logits into each network that learns in the current step.
func (n *Networks) Backward(dz blas32.General) error {
	for i, net := range n.list {
		if !n.isLearning(i) {
			continue
		}
		if err := net.encoder.Backward(net.classifier.backwardLogits(n.logitsOf(dz, i))); err != nil {
			return err
		}
	}
	return nil
}

// logitsOf returns the view of one network's logits.
func (n *Networks) logitsOf(z blas32.General, i int) blas32.General {
	return columnView(z, i*n.classes, n.classes)
}

func columnView(m blas32.General, from, n int) blas32.General {
	m.Data, m.Cols = m.Data[from:], n
	return m
}

// isLearning reports whether a network learns in the current step. All networks learn in every step, except with an
// estimated matrix: then only the second network learns in the first stage, and only the first network afterwards.
func (n *Networks) isLearning(i int) bool {
	return !n.cfg.Estimates() || (i == 1) == n.firstStage()
}

func (n *Networks) firstStage() bool { return n.cfg.Estimates() && n.clock.Step() <= n.cfg.FirstStage }

// needsEstimate reports whether the current step is the first that needs the estimate.
func (n *Networks) needsEstimate() bool {
	return n.cfg.Estimates() && n.clock.Step() == n.cfg.FirstStage+1
}

// Params returns the parameters of all networks. Each network lists its head, its classifier and its backbone.
func (n *Networks) Params() []*features.Param {
	var list []*features.Param
	for i := range n.list {
		list = append(list, n.paramsOf(i)...)
	}
	return list
}

func (n *Networks) paramsOf(i int) []*features.Param {
	return slices.Concat(n.list[i].ownParams(), n.list[i].backbone)
}

// ownParams returns a network's parameters without its backbone.
func (net *network) ownParams() []*features.Param {
	return slices.Concat(net.head.Params(), net.classifier.Params())
}

// State returns the estimated transition matrix, if there is one, and the state of the backbones.
func (n *Networks) State() (list []*features.Param) {
	if n.cfg.Estimates() {
		list = append(list, n.loss.transition.dense)
	}
	for _, net := range n.list {
		list = append(list, net.state...)
	}
	return list
}

// Term returns the method as a loss term for the trainer.
func (n *Networks) Term() train.Term {
	return train.Term{Name: n.cfg.Method, Loss: n.loss, Weight: 1}
}

// Groups returns a group for each network, with its own solver and a schedule over the steps in which the network
// learns. The run has the given number of steps. If the backbones learn, each backbone also gets a group, which rests
// for the network's first rest steps. plan returns the solver and schedule of a group for a number of steps.
func (n *Networks) Groups(
	steps, rest int, plan func(group string, steps int) (train.Solver, train.Schedule, error),
) ([]train.Group, error) {
	if n.cfg.Estimates() && n.cfg.FirstStage >= steps {
		return nil, fmt.Errorf("peers: %s: first_stage: %d steps, expected fewer than the %d of the run", n.cfg.Method,
			n.cfg.FirstStage, steps)
	}
	var groups []train.Group
	for i, net := range n.list {
		names := [2]string{train.HeadGroup, train.BackboneGroup}
		if i > 0 {
			names = [2]string{train.PeerGroup, train.PeerBackboneGroup}
		}
		from, stop := n.learningSpan(i)
		for k, params := range [2][]*features.Param{net.ownParams(), net.backbone} {
			if len(params) == 0 {
				continue
			}
			g := train.Group{Name: names[k], Params: params, Start: from + k*rest, Stop: stop}
			last := cmp.Or(stop, steps)
			if g.Start > last {
				return nil, fmt.Errorf("peers: %s: the backbone rests for %d steps, expected fewer than the %d steps "+
					"in which its network learns", n.cfg.Method, rest, last-from+1)
			}
			var err error
			if g.Solver, g.Schedule, err = plan(g.Name, last-g.Start+1); err != nil {
				return nil, err
			}
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// learningSpan returns the first and the last step in which a network learns; 0 means the last step of the run.
func (n *Networks) learningSpan(i int) (from, stop int) {
	switch {
	case !n.cfg.Estimates():
		return 1, 0
	case i == 0:
		return n.cfg.FirstStage + 1, 0
	}
	return 1, n.cfg.FirstStage
}

// Close releases the graphs of the networks.
func (n *Networks) Close() error {
	var first error
	for _, net := range n.list {
		if err := net.encoder.Close(); first == nil {
			first = err
		}
	}
	return first
}
