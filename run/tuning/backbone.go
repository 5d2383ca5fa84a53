package tuning

import (
	"context"
	"math/rand/v2"
	"path/filepath"

	"winnow/features"
	"winnow/head"
	"winnow/models"
	"winnow/run/folder"
	"winnow/train"
)

// Backbone is what a head stands on while it is trained: [Stored] features, or a network that is trained too, a [Live] one.
type Backbone interface {
	// Weights names the trained weights; none where the backbone stays as it is.
	Weights() []string
	// Share counts the trained weights; nil where there are none.
	Share() *folder.Share
	// Encoder returns what a run trains: the head on this backbone.
	Encoder(ctx context.Context, h *head.Head, in Input) (Encoder, error)
	// Now returns a set of images with the features that the backbone gives of them now.
	Now(ctx context.Context, set features.Set) (features.Set, error)
	// Save writes the head and, where it is trained, the network that it belongs to.
	Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error
	// Saved returns what gives the features of images by the network in a file that was saved.
	Saved(file string) (Features, error)
	// Matches reports whether a saved head belongs to the network saved beside it.
	Matches(dir, headFile string) bool
	// Views compares what training sees of images with what is evaluated; nil where images do not vary, and before there is an encoder.
	Views() *Views
	// Close frees the memory of the network.
	Close() error
}

// Features gives a set of images, whose features are stored, its features by a network.
type Features func(ctx context.Context, set features.Set) (features.Set, error)

// Encoder is an encoder that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// Input is what an encoder is asked for.
type Input struct {
	Train   features.Set // the training images, in their first view
	Stored  features.Set // the stored features of all their views
	Batch   int          // rows of a batch
	Resting func() bool  // reports whether the network rests in the running step

	Raw  bool       // rows are the head's as they come out of its last layer, not of unit length
	Peer *rand.Rand // not nil: a network beside the first encoder's, on the same views; one that was drawn is drawn anew

	// Source gives the random numbers of a batch's views: of the running step's (0) and the next one's (1).
	Source func(ahead int) *rand.Rand
}

// Stored is the backbone of a head that is trained alone: its features are stored, and stay as they are.
type Stored struct{}

func (Stored) Weights() []string    { return nil }
func (Stored) Share() *folder.Share { return nil }
func (Stored) Views() *Views        { return nil }
func (Stored) Close() error         { return nil }

// Encoder returns the head on the stored features.
func (Stored) Encoder(_ context.Context, h *head.Head, in Input) (Encoder, error) {
	if in.Raw {
		return head.NewRawEncoder(h, in.Stored, in.Batch)
	}
	return head.NewEncoder(h, in.Stored, in.Batch)
}

// Now returns the set as it is stored.
func (Stored) Now(_ context.Context, set features.Set) (features.Set, error) { return set, nil }

// Save writes the head alone.
func (Stored) Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error {
	return models.WriteHead(filepath.Join(dir, headFile), h, meta)
}

// Saved returns features as they are stored: there is no such file.
func (s Stored) Saved(string) (Features, error) { return s.Now, nil }

// Matches reports true: there is no file beside it.
func (Stored) Matches(string, string) bool { return true }
