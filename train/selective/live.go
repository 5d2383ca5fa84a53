package selective

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// Live is a backbone that learns with the head, as a learner asks for it. Rows are those of the training set; an image is the
// numbers that the network is fed, so that mixtures of images are mixtures of these.
type Live interface {
	Size() int                                                    // numbers of an image
	Draw(images blas32.General, rows []int, rng *rand.Rand) error // writes an augmented view of each row
	Plain(images blas32.General, rows []int) error                // writes each row as it is evaluated
	Encoder(h *head.Head, images blas32.General) (Encoder, error) // whose row i is the i-th of images, as it is then
	// a running average of network and head, which begins as they are
	Average(h *head.Head) (Average, error)
	Embed() (features.Set, error) // the training set, as network and head are now
}

// Encoder embeds images, and is trained.
type Encoder interface {
	train.Encoder
	Close() error
}

// Average embeds what an encoder does, by weights of its own: the head's, then the backbone's. A head alone is one.
type Average interface {
	Params() []*features.Param
	EmbedInto(dst, images blas32.General) error
}

// drawer makes views of rows of the training set: of stored features, or of images.
type drawer interface {
	draw(dst blas32.General, rows []int, rng *rand.Rand) error
	plain(dst blas32.General, rows []int) error
}

// liveViews are a backbone's.
type liveViews struct{ Live }

func (v liveViews) draw(dst blas32.General, rows []int, rng *rand.Rand) error {
	return v.Draw(dst, rows, rng)
}
func (v liveViews) plain(dst blas32.General, rows []int) error { return v.Plain(dst, rows) }

// drawer returns what makes the learner's views.
func (l *Learner) drawer() drawer {
	if l.live != nil {
		return liveViews{l.live}
	}
	return newViews(l.cfg.View, l.set, l.stored)
}

// average returns the running average of what the learner trains, and what it follows.
func (l *Learner) average() (Average, []*features.Param, error) {
	if l.live == nil {
		h, err := copyHead(l.head, averagePrefix)
		return h, l.head.Params(), err
	}
	a, err := l.live.Average(l.head)
	return a, append(l.head.Params(), l.backbone...), err
}

// averagePrefix begins the names of a running average's parameters.
const averagePrefix = "average."
