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

// Backbone is what a head is trained on: [Stored] features, or a [Live] network that is trained too.
type Backbone interface {
	// Weights names the trained weights; none if the backbone is not trained.
	Weights() []string
	// Share counts the trained weights; nil if there are none.
	Share() *folder.Share
	// Encoder returns the head on this backbone, for training.
	Encoder(ctx context.Context, h *head.Head, in Input) (Encoder, error)
	// Now returns a set of images with the features that the backbone computes for them now.
	Now(ctx context.Context, set features.Set) (features.Set, error)
	// Save writes the head and, if it is trained, the network that it belongs to.
	Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error
	// Saved returns a function that computes features by a saved network.
	Saved(file string) (Features, error)
	// Matches reports whether a saved head is whole and belongs to the network saved with it.
	Matches(dir, headFile string) bool
	// Close frees the memory of the network.
	Close() error
}

// Features returns a set of images, whose features are stored, with its features by a network.
type Features func(ctx context.Context, set features.Set) (features.Set, error)

// Encoder is an encoder that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// Input says what an encoder is for.
type Input struct {
	Train   features.Set // training images, in their first view
	Stored  features.Set // stored features of all their views
	Batch   int          // rows of a batch
	Resting func() bool  // reports whether the network rests in the current step

	Raw  bool       // rows are the output of the head's last layer, not of unit length
	Peer *rand.Rand // not nil: a second network, on the views of the first; it shuffles weights that were drawn

	// Source returns the random numbers of a batch's views: of the current step (0) or of the next one (1).
	Source func(ahead int) *rand.Rand
}

// Stored is the backbone of a head that is trained alone: its features are stored and do not change.
type Stored struct{}

func (Stored) Weights() []string    { return nil }
func (Stored) Share() *folder.Share { return nil }
func (Stored) Close() error         { return nil }

// Encoder returns the head on the stored features.
func (Stored) Encoder(_ context.Context, h *head.Head, in Input) (Encoder, error) {
	if in.Raw {
		return head.NewRawEncoder(h, in.Stored, in.Batch)
	}
	return head.NewEncoder(h, in.Stored, in.Batch)
}

// Now returns the set unchanged.
func (Stored) Now(_ context.Context, set features.Set) (features.Set, error) { return set, nil }

// Save writes the head alone.
func (Stored) Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error {
	return models.WriteHead(filepath.Join(dir, headFile), h, meta)
}

// Saved returns features unchanged: there is no such file.
func (s Stored) Saved(string) (Features, error) { return s.Now, nil }

// Matches reports whether a saved head is whole: there is no network.
func (Stored) Matches(dir, headFile string) bool {
	_, _, err := models.ReadHead(filepath.Join(dir, headFile))
	return err == nil
}
