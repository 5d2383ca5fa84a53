package inspect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"winnow/audit"
	"winnow/audit/crossfit"
	"winnow/backbone"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/tuning"
)

// Tuning holds the settings of networks that are fine-tuned to score images outside their training folds. The zero
// value fine-tunes none.
type Tuning struct {
	Weights string  // the part of the network to train, as winnow train names it; "": none
	Augment string  // a recipe of package backbone; "": chosen by whether the images are grey
	Kept    string  // folder that keeps the results of finished folds for the next audit; "": none
	Minutes float64 // time limit of the training of all networks; 0: [crossfit.Minutes]
}

// allowedMemory returns the memory limit in bytes.
func (m *material) allowedMemory() int64 { return cmp.Or(m.options.MaxMem, eval.DefaultMaxMem) }

// setTuning makes the auditor fine-tune a network for each fold; open returns the network for given settings. setTuning
// chooses the number of images in a chunk by the memory limit, and the augmentation.
func (m *material) setTuning(t Tuning, h Host, open func(config.Finetune) (*tuning.Live, error)) error {
	if t.Weights == "" {
		return nil
	}
	if !audit.Named(m.options.Scorer).Trains {
		return fmt.Errorf("audit: finetune: scorer %s trains nothing, expected combined or crossfit", m.options.Scorer)
	}
	f := config.Default().Finetune
	f.Weights, f.CacheLimit = t.Weights, text.Bytes(m.allowedMemory()/4)
	first, err := open(f)
	if err != nil {
		return err
	}
	held, room := first.Held(), m.allowedMemory()/2
	if held > room {
		return hint.With(fmt.Errorf("audit: fine-tuning %s needs about %s for each image, expected at most %s, half "+
			"of the memory limit", t.Weights, text.Approx(held), text.Approx(room)),
			"allow %d MiB of memory, or train less of the network", held>>19+1)
	}
	first.Settings.Chunk = int(max(1, room/max(held, 1)))
	if first.Settings.Augment = t.Augment; t.Augment == "" {
		grey, err := tuning.Grey(first.Root, first.Paths)
		if err != nil {
			return err
		}
		if first.Settings.Augment = "adapted_triplet"; grey {
			first.Settings.Augment = "digits"
		}
	}
	augment, err := backbone.ParseAugmentation(first.Settings.Augment)
	if err != nil {
		return err
	}
	first.Augment = augment.Fitting(first.Backbone.Preprocessing) // held-out images are scored by their stored features
	h.Note("%s is fine-tuned for each of %d folds, with images augmented by %s", first.Backbone.Name,
		crossfit.TunedFolds, first.Settings.Augment)
	rt, err := h.Runtime()
	if err != nil {
		return err
	}
	cfg := first.Config
	m.by.Tune = func(ctx context.Context, l *crossfit.Lesson) (crossfit.Tuned, error) {
		l.Minutes, l.Note = t.Minutes, h.Note
		return keepLesson(t.Kept, l, cfg, func() (crossfit.Tuned, error) {
			return l.Fit(ctx, func() (crossfit.Network, error) {
				live, err := tuning.New(cfg)
				if err != nil {
					return nil, err
				}
				cfg.Note = func(string, ...any) {} // only the first network writes notes
				live.Use(rt)
				return network{live}, nil
			})
		})
	}
	return nil
}

// network lets crossfit train a backbone.
type network struct{ *tuning.Live }

func (n network) Encoder(ctx context.Context, h *head.Head, set features.Set, batch int,
	views func(ahead int) *rand.Rand) (crossfit.Encoder, error) {
	return n.Live.Encoder(ctx, h, tuning.Input{Train: set, Stored: set, Batch: batch,
		Resting: func() bool { return false }, Source: views})
}

// mostKept is the largest accepted file of a lesson, in bytes.
const mostKept = 8 << 30

// keepLesson returns the result of a lesson that an earlier audit stored in dir. Without one, it calls learn and stores
// the result there. The file starts with a checksum of the result and everything that the result depends on.
func keepLesson(dir string, l *crossfit.Lesson, cfg tuning.Config,
	learn func() (crossfit.Tuned, error)) (t crossfit.Tuned, err error) {
	if dir == "" {
		return learn()
	}
	h := sha256.New()
	fmt.Fprintln(h, cfg.Backbone.SHA256, cfg.Cut.Tensor, cfg.Backbone.Preprocessing.Key(), cfg.Settings)
	for _, set := range []features.Set{l.Learned, l.Judged} {
		for _, id := range set.IDs {
			fmt.Fprintf(h, "%q\n", cfg.Paths[id])
		}
	}
	l.Sum(h)
	file, key := filepath.Join(dir, l.Name()), h.Sum(nil)
	sum := func(content []byte) []byte {
		s := sha256.Sum256(append(key[:len(key):len(key)], content...))
		return s[:]
	}
	if data, err := regular.ReadFile(file, mostKept); err == nil && len(data) > len(key) &&
		bytes.Equal(data[:len(key)], sum(data[len(key):])) {
		err := gob.NewDecoder(bytes.NewReader(data[len(key):])).Decode(&t)
		t.Kept = true
		return t, err
	}
	if t, err = learn(); err != nil {
		return t, err
	}
	var content bytes.Buffer
	if err := errors.Join(gob.NewEncoder(&content).Encode(t), os.MkdirAll(dir, 0o777)); err != nil {
		return t, fmt.Errorf("audit: %w", err)
	}
	return t, atomicfile.WriteBytes(file, append(sum(content.Bytes()), content.Bytes()...))
}
