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

// blocks is the largest number of rows (views and mixtures) that the head embeds for each image of a batch.
const blocks = 5

// classifierLength multiplies unit rows before the classifier: l = 4·u·Wᵀ + b. The largest curvature of the
// cross entropy with respect to the weights is half the squared length of a row. With length 4 the published learning
// rate of 0.1 with momentum 0.9 is therefore stable, and weights of ordinary size still give confident
// predictions. W is drawn at random; b starts at 0.
const classifierLength = 4

// Learner is the encoder that Sel-CL and TCL train: a head and a classifier. For n images its output has n×5(D+C)
// values: the embeddings (D) and logits (C) of the image's 5 blocks. Blocks that a step does not need are 0. Only one
// goroutine may use a Learner at a time.
type Learner struct {
	cfg        Config
	classes    int
	clock      *train.Clock
	seed       uint64
	head       *head.Head
	encoder    Encoder
	classifier head.Classifier
	live       Live              // nil: features are stored
	backbone   []*features.Param // the encoder's trained parameters except the head's
	input      features.Set      // the head's input: blocks·batch rows, rewritten at each step
	all        []int             // 0 … blocks·batch-1
	set        features.Set      // stored features
	stored     blas32.General    // all stored views of the set's rows
	judge      judge
	method     method
	loss       *loss

	n, filled int            // in the last Forward: number of images, and number of blocks filled
	z         blas32.General // result of Forward
	u, l      blas32.General // embeddings and logits of z, block below block: filled·n rows
	du, dl    blas32.General
}

// method is the part of a learner in which Sel-CL and TCL differ.
type method interface {
	// considerEpoch scores the labels of the whole set with the judge's state from the start of an epoch.
	considerEpoch(j *judge, epoch int) error
	// fillInput writes the head's input for the rows of a step, one row per image and block, and returns the number
	// of blocks filled.
	fillInput(input blas32.General, rows []int, step int, rng *rand.Rand) (int, error)
	// evalMethod returns the loss for the blocks' embeddings u and logits l, and overwrites the gradients du and dl.
	evalMethod(du, dl, u, l blas32.General) float64
	// appendChosen appends the positions in the batch of the rows whose labels the method trusts.
	appendChosen(dst []int) []int
	methodState() []*features.Param
}

// Input holds the data and the initial state of a learner.
type Input struct {
	Head    *head.Head   // trained in place
	Train   features.Set // stored features; labels 0 … Classes-1, or negative without a label
	Stored  features.Set // all stored views of Train's rows, view below view, Train first; empty: Train
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
			l.loss = &loss{learner: l}
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
	if err := l.judge.considerStep(l, step); err != nil {
		return features.Set{}, err
	}
	var err error
	l.n = len(rows)
	if l.filled, err = l.method.fillInput(l.input.X, rows, step, train.Rand(l.seed, "views", step)); err != nil {
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
	l.z = features.Resize(l.z, l.n, blocks*l.blockWidth())
	clear(l.z.Data)
	l.packBlocks(l.z, l.u, l.l)
	out.X = l.z
	return out, nil
}

// blockWidth returns the width of a block in a row of the encoder: embedding, then logits.
func (l *Learner) blockWidth() int { return l.head.Config().Out + l.classes }

// packBlocks copies the blocks of u and logits, stored one below the other, into one wide row per image.
func (l *Learner) packBlocks(wide, u, logits blas32.General) {
	for b := range l.filled {
		for i := range l.n {
			to := features.Row(wide, i)[b*l.blockWidth() : (b+1)*l.blockWidth()]
			copy(to, features.Row(u, b*l.n+i))
			copy(to[u.Cols:], features.Row(logits, b*l.n+i))
		}
	}
}

// unpackBlocks is the inverse of packBlocks.
func (l *Learner) unpackBlocks(u, logits, wide blas32.General) {
	for b := range l.filled {
		for i := range l.n {
			from := features.Row(wide, i)[b*l.blockWidth() : (b+1)*l.blockWidth()]
			copy(features.Row(u, b*l.n+i), from)
			copy(features.Row(logits, b*l.n+i), from[u.Cols:])
		}
	}
}

// Backward propagates the gradient of all blocks into classifier and head.
func (l *Learner) Backward(dz blas32.General) error {
	rows := l.filled * l.n
	l.du, l.dl = features.Resize(l.du, rows, l.u.Cols), features.Resize(l.dl, rows, l.classes)
	l.unpackBlocks(l.du, l.dl, dz)
	l.classifier.Backward(l.du, l.u, l.dl, 1)
	return l.encoder.Backward(l.du)
}

// Params returns the parameters of the head, the classifier and the backbone, in this order.
func (l *Learner) Params() []*features.Param { return slices.Concat(l.headParams(), l.backbone) }

// headParams returns the parameters without the backbone's.
func (l *Learner) headParams() []*features.Param {
	return slices.Concat(l.head.Params(), l.classifier.Params())
}

// State returns the judge's copies from the start of the epoch, and the state of the method and of the backbone.
func (l *Learner) State() []*features.Param {
	list := slices.Concat(l.judge.judgeParams(), l.method.methodState())
	if s, ok := l.encoder.(train.Stateful); ok {
		list = append(list, s.State()...)
	}
	return list
}

// Term returns the method as a loss term for the trainer.
func (l *Learner) Term() train.Term { return train.Term{Name: l.cfg.Method, Loss: l.loss, Weight: 1} }

// Group returns everything that learns except the backbone, stepped by one solver.
func (l *Learner) Group(solver train.Solver, schedule train.Schedule) train.Group {
	return train.Group{Name: train.HeadGroup, Params: l.headParams(), Solver: solver, Schedule: schedule, Start: 1}
}

// Backbone returns the parameters of the backbone, if it learns.
func (l *Learner) Backbone() []*features.Param { return l.backbone }

// Close releases the head's graph.
func (l *Learner) Close() error { return l.encoder.Close() }

// loss is the loss of a method over the blocks of its learner's last Forward (see [Learner]). The types selcl and
// tcl describe the two methods' losses. ref is not used.
type loss struct {
	learner      *Learner
	u, l, du, dl blas32.General
	kept         []int
}

// Eval implements losses.Loss.
func (l *loss) Eval(grad *blas32.General, z features.Set, _ *features.Set) float64 {
	n := l.learner
	rows := n.filled * n.n
	l.u, l.du = features.Resize(l.u, rows, n.u.Cols), features.Resize(l.du, rows, n.u.Cols)
	l.l, l.dl = features.Resize(l.l, rows, n.classes), features.Resize(l.dl, rows, n.classes)
	n.unpackBlocks(l.u, l.l, z.X)
	clear(l.du.Data)
	clear(l.dl.Data)
	value := n.method.evalMethod(l.du, l.dl, l.u, l.l)
	if grad != nil {
		for i := range grad.Rows {
			clear(features.Row(*grad, i))
		}
		n.packBlocks(*grad, l.du, l.dl)
	}
	l.kept = n.method.appendChosen(l.kept[:0])
	return value
}

// Chosen returns the rows of the batch whose labels the method trusts.
func (l *loss) Chosen() []int { return l.kept }
