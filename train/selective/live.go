package selective

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// Live is a backbone that learns with the head. Rows are positions in the training set. An image is the array of
// numbers that the network receives, and images are mixed by mixing these arrays.
type Live interface {
	Size() int                                                    // numbers per image
	Draw(images blas32.General, rows []int, rng *rand.Rand) error // writes an augmented view of each row to images
	Plain(images blas32.General, rows []int) error                // writes each row without augmentation to images
	Encoder(h *head.Head, images blas32.General) (Encoder, error) // the encoder embeds the current rows of images
	// Average returns a running average of network and head, initialised with their current state.
	Average(h *head.Head) (Average, error)
	Embed() (features.Set, error) // embeds the training set with the current network and head
}

// Encoder embeds images and can be trained.
type Encoder interface {
	train.Encoder
	Close() error
}

// Average embeds images like an encoder, but has its own weights: first the head's, then the backbone's. A head
// without a backbone is also an Average.
type Average interface {
	Params() []*features.Param
	EmbedInto(dst, images blas32.General) error
}

// drawer draws views of rows of the training set, from stored features or from images.
type drawer interface {
	drawViews(dst blas32.General, rows []int, rng *rand.Rand) error
	copyPlainViews(dst blas32.General, rows []int) error
}

// liveViews draws views from the images of a live backbone.
type liveViews struct{ Live }

func (v liveViews) drawViews(dst blas32.General, rows []int, rng *rand.Rand) error {
	return v.Draw(dst, rows, rng)
}
func (v liveViews) copyPlainViews(dst blas32.General, rows []int) error { return v.Plain(dst, rows) }

// viewDrawer returns the source of the learner's views.
func (l *Learner) viewDrawer() drawer {
	if l.live != nil {
		return liveViews{l.live}
	}
	return newViews(l.cfg.View, l.set, l.stored)
}

// beginAverage returns the running average of the learner's network, and the parameters that the average follows.
func (l *Learner) beginAverage() (Average, []*features.Param, error) {
	if l.live == nil {
		h, err := copyHead(l.head, averagePrefix)
		return h, l.head.Params(), err
	}
	a, err := l.live.Average(l.head)
	return a, append(l.head.Params(), l.backbone...), err
}

// averagePrefix starts the names of a running average's parameters.
const averagePrefix = "average."
