package selective

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// blocks is how many rows the head sees for each image of a batch at most: views and mixtures, one block of the batch
// after the other.
const blocks = 5

// classifierLength is what unit rows are multiplied by before the classifier, l = 4·u·Wᵀ + b. The largest curvature of
// cross entropy in the weights is half the squared length of a row, so that at 4 the published rate of 0.1 with momentum
// 0.9 stays well inside what is stable, and weights of ordinary size still make sure predictions. W alone is drawn.
const classifierLength = 4

// Learner is what a method trains, as an encoder of the trainer: a head and a classifier. Its row of an image is, for
// each of the image's blocks, the embedding and the logits: n×5(D+C), 0 in blocks that a step does not need. One
// goroutine may use it.
type Learner struct {
	cfg        Config
	classes    int
	clock      *train.Clock
	seed       uint64
	head       *head.Head
	encoder    Encoder
	classifier head.Classifier
	live       Live              // nil: features are stored
	backbone   []*features.Param // what the encoder trains beside the head
	input      features.Set      // what the head sees: blocks·batch rows, rewritten for each step
	all        []int             // 0 … blocks·batch-1
	set        features.Set      // stored features
	stored     blas32.General    // of all their views
	judge      judge
	method     method
	loss       *Loss

	n, filled int            // images of the last Forward, and blocks that it filled
	z         blas32.General // what Forward returned
	u, l      blas32.General // the same as blocks below each other: filled·n rows
	du, dl    blas32.General
}

// method is what Sel-CL and TCL differ in.
type method interface {
	// consider judges the labels of the whole set by the state that an epoch begins with.
	consider(j *judge, epoch int) error
	// fill writes what the head will see of the rows of a step, n rows a block, and says how many blocks it filled.
	fill(input blas32.General, rows []int, step int, rng *rand.Rand) (int, error)
	// eval is the loss of the blocks' embeddings u and logits l, and overwrites du and dl with its gradient.
	eval(du, dl, u, l blas32.General) float64
	// chosen appends the batch's positions whose labels are believed.
	chosen(dst []int) []int
	state() []*features.Param
}

// Input is what a learner sees and starts from.
type Input struct {
	Head    *head.Head   // kept and trained in place
	Train   features.Set // stored features; labels 0 … Classes-1, or negative for none
	Stored  features.Set // all stored views of Train's rows below each other, Train first; empty: Train
	Classes int
	Batch   int          // rows of the largest batch
	Clock   *train.Clock // the trainer's
	Seed    uint64
	Live    Live // a backbone that learns too; nil: features are stored
}

// New builds the learner of a method.
func New(cfg Config, in Input) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	switch {
	case in.Classes < 2:
		return nil, fmt.Errorf("selective: %d classes, expected at least 2", in.Classes)
	case in.Batch < 2:
		return nil, fmt.Errorf("selective: batches of %d rows, expected at least 2", in.Batch)
	case in.Train.Len() > maxQueue:
		return nil, fmt.Errorf("selective: %d training rows, expected at most %d", in.Train.Len(), maxQueue)
	}
	if in.Stored.Len() == 0 {
		in.Stored = in.Train
	}
	dim := in.Head.Config().Out
	l := &Learner{cfg: cfg, classes: in.Classes, clock: in.Clock, seed: in.Seed, head: in.Head, set: in.Train,
		stored: in.Stored.X, live: in.Live}
	size := in.Train.Dim()
	if l.live != nil {
		size = l.live.Size()
	}
	l.input = features.Set{X: features.NewMatrix(blocks*in.Batch, size)}
	for i := range blocks * in.Batch {
		l.all = append(l.all, i)
	}
	var err error
	if l.live != nil {
		l.encoder, err = l.live.Encoder(in.Head, l.input.X)
	} else {
		l.encoder, err = head.NewEncoder(in.Head, l.input, blocks*in.Batch)
	}
	if err != nil {
		return nil, err
	}
	l.backbone = slices.DeleteFunc(slices.Clone(l.encoder.Params()), func(p *features.Param) bool {
		return slices.Contains(in.Head.Params(), p)
	})
	l.classifier = head.NewClassifier("", in.Classes, dim, classifierLength)
	l.classifier.Draw(train.Rand(in.Seed, "classifier", 0), l.classifier.Weight)
	if l.judge, err = newJudge(l); err == nil {
		if l.method, err = newMethod(l, in.Batch); err == nil {
			l.loss = &Loss{learner: l}
			return l, nil
		}
	}
	l.encoder.Close()
	return nil, err
}

func newMethod(l *Learner, batch int) (method, error) {
	if l.cfg.Method == SelCL {
		return newSelCL(l, batch)
	}
	return newTCL(l), nil
}

// Forward draws views of the rows and embeds them.
func (l *Learner) Forward(rows []int) (features.Set, error) {
	step := l.clock.Step()
	if err := l.judge.consider(l, step); err != nil {
		return features.Set{}, err
	}
	var err error
	l.n = len(rows)
	if l.filled, err = l.method.fill(l.input.X, rows, step, train.Rand(l.seed, "views", step)); err != nil {
		return features.Set{}, err
	}
	z, err := l.encoder.Forward(l.all[:l.filled*l.n])
	if err != nil {
		return features.Set{}, err
	}
	l.u, l.l = z.X, features.Resize(l.l, l.filled*l.n, l.classes)
	l.classifier.Forward(l.l, l.u)
	out := features.Set{Labels: make([]int, l.n), IDs: make([]int, l.n)}
	for i, row := range rows {
		out.Labels[i] = l.set.Labels[row]
		if out.IDs[i] = row; l.set.IDs != nil {
			out.IDs[i] = l.set.IDs[row]
		}
	}
	l.z = features.Resize(l.z, l.n, blocks*l.width())
	clear(l.z.Data)
	l.pack(l.z, l.u, l.l)
	out.X = l.z
	return out, nil
}

// width returns that of a block in a row of the encoder: embedding, then logits.
func (l *Learner) width() int { return l.head.Config().Out + l.classes }

// pack writes blocks below each other into one wide row an image.
func (l *Learner) pack(wide, u, logits blas32.General) {
	for b := range l.filled {
		for i := range l.n {
			to := features.Row(wide, i)[b*l.width() : (b+1)*l.width()]
			copy(to, features.Row(u, b*l.n+i))
			copy(to[u.Cols:], features.Row(logits, b*l.n+i))
		}
	}
}

// unpack is pack the other way round.
func (l *Learner) unpack(u, logits, wide blas32.General) {
	for b := range l.filled {
		for i := range l.n {
			from := features.Row(wide, i)[b*l.width() : (b+1)*l.width()]
			copy(features.Row(u, b*l.n+i), from)
			copy(features.Row(logits, b*l.n+i), from[u.Cols:])
		}
	}
}

// Backward sends the gradient of all blocks into classifier and head.
func (l *Learner) Backward(dz blas32.General) error {
	rows := l.filled * l.n
	l.du, l.dl = features.Resize(l.du, rows, l.u.Cols), features.Resize(l.dl, rows, l.classes)
	l.unpack(l.du, l.dl, dz)
	l.classifier.Backward(l.du, l.u, l.dl, 1)
	return l.encoder.Backward(l.du)
}

// Params returns the head's parameters, the classifier's, then the backbone's.
func (l *Learner) Params() []*features.Param { return slices.Concat(l.own(), l.backbone) }

// own returns the parameters beside the backbone's.
func (l *Learner) own() []*features.Param {
	return slices.Concat(l.head.Params(), l.classifier.Params())
}

// State returns what an epoch began with, and what the method and the backbone keep.
func (l *Learner) State() []*features.Param {
	list := slices.Concat(l.judge.params(), l.method.state())
	if s, ok := l.encoder.(train.Stateful); ok {
		list = append(list, s.State()...)
	}
	return list
}

// Term returns the method as the trainer's loss.
func (l *Learner) Term() train.Term { return train.Term{Name: l.cfg.Method, Loss: l.loss, Weight: 1} }

// Group returns all that learns but the backbone, stepped by one solver.
func (l *Learner) Group(solver train.Solver, schedule train.Schedule) train.Group {
	return train.Group{Name: train.HeadGroup, Params: l.own(), Solver: solver, Schedule: schedule, Start: 1}
}

// Backbone returns the parameters of the backbone, if it learns.
func (l *Learner) Backbone() []*features.Param { return l.backbone }

// Close releases the head's graph.
func (l *Learner) Close() error { return l.encoder.Close() }

// Loss is a method over the blocks of its learner's last Forward (see [Learner]). Sel-CL's is told at selcl, TCL's at
// tcl; ref is not looked at.
type Loss struct {
	learner      *Learner
	u, l, du, dl blas32.General
	kept         []int
}

// Eval implements losses.Loss.
func (l *Loss) Eval(grad *blas32.General, z features.Set, _ *features.Set) float64 {
	n := l.learner
	rows := n.filled * n.n
	l.u, l.du = features.Resize(l.u, rows, n.u.Cols), features.Resize(l.du, rows, n.u.Cols)
	l.l, l.dl = features.Resize(l.l, rows, n.classes), features.Resize(l.dl, rows, n.classes)
	n.unpack(l.u, l.l, z.X)
	clear(l.du.Data)
	clear(l.dl.Data)
	value := n.method.eval(l.du, l.dl, l.u, l.l)
	if grad != nil {
		for i := range grad.Rows {
			clear(features.Row(*grad, i))
		}
		n.pack(*grad, l.du, l.dl)
	}
	l.kept = n.method.chosen(l.kept[:0])
	return value
}

// Chosen returns the rows of the batch whose labels are believed.
func (l *Loss) Chosen() []int { return l.kept }
