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

// Backbone provides the features that a head is trained on: [Stored] features, or a [Live] network that is fine-tuned.
type Backbone interface {
	// Weights returns the names of the trained weights; none if the backbone is not trained.
	Weights() []string
	// Share counts the trained weights; nil if there are none.
	Share() *folder.Share
	// Encoder returns an encoder of backbone and head, for training.
	Encoder(ctx context.Context, h *head.Head, in Input) (Encoder, error)
	// Now returns a set of images with their features by the backbone in its current state.
	Now(ctx context.Context, set features.Set) (features.Set, error)
	// Save writes the head and, in fine-tuning, the network.
	Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error
	// Saved returns a function that computes features with a saved network.
	Saved(file string) (Features, error)
	// Matches reports whether a saved head is complete and belongs to the network saved with it.
	Matches(dir, headFile string) bool
	// Close frees the memory of the network.
	Close() error
}

// Features replaces the stored features of a set of images by features that a network computes.
type Features func(ctx context.Context, set features.Set) (features.Set, error)

// Encoder is an encoder that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// Input holds the data and options of an encoder.
type Input struct {
	Train   features.Set // training images, in their first view
	Stored  features.Set // stored features of all their views
	Batch   int          // rows of a batch
	Resting func() bool  // reports whether the network is frozen in the current step

	Raw  bool       // return the output of the head's last layer, without normalising it
	Peer *rand.Rand // not nil: make a second network on the views of the first; shuffles untrained weights

	// Source returns the random source for the views of a batch: of the current step (0) or of the next step (1).
	Source func(ahead int) *rand.Rand
}

// Stored is the Backbone without fine-tuning: its features are stored and do not change.
type Stored struct{}

func (Stored) Weights() []string    { return nil }
func (Stored) Share() *folder.Share { return nil }
func (Stored) Close() error         { return nil }

// Encoder returns an encoder of the head on the stored features.
func (Stored) Encoder(_ context.Context, h *head.Head, in Input) (Encoder, error) {
	if in.Raw {
		return head.NewRawEncoder(h, in.Stored, in.Batch)
	}
	return head.NewEncoder(h, in.Stored, in.Batch)
}

// Now returns the set unchanged.
func (Stored) Now(_ context.Context, set features.Set) (features.Set, error) { return set, nil }

// Save writes only the head.
func (Stored) Save(dir, headFile string, h *head.Head, meta models.HeadMeta) error {
	return models.WriteHead(filepath.Join(dir, headFile), h, meta)
}

// Saved returns a function that leaves features unchanged, because there is no network.
func (s Stored) Saved(string) (Features, error) { return s.Now, nil }

// Matches reports whether a saved head is complete.
func (Stored) Matches(dir, headFile string) bool {
	_, _, err := models.ReadHead(filepath.Join(dir, headFile))
	return err == nil
}
