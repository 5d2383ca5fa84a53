package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"winnow/audit/crossfit"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/tuning"
)

// Tuning says which networks are fine-tuned to judge images that they have not seen. The zero value fine-tunes none.
type Tuning struct {
	Weights string // the part of the network to train, as winnow train names it; "": none
	Augment string // a recipe of package backbone; "": by the images
	Kept    string // folder where results of finished folds are kept for the next audit of the same images; "": none
}

// tuneStored prepares the networks that made the features of stores to be tuned on the images of a manifest.
func (o *auditing) tuneStored(in Input, stores []*features.Store, d *datasets.Dataset) error {
	var networks []*tuning.Live
	for i, store := range stores {
		data := config.Data{Manifest: in.Manifest.String(), Root: in.Root.String(), Features: store.Dir}
		if names := strings.Split(in.Model, ","); i < len(names) {
			data.Model = names[i]
		}
		net, err := tuning.Open(config.Run{Data: data, Finetune: o.newFinetuneConfig()}, d.Paths(),
			tuning.Config{Note: o.Note})
		if err != nil {
			return err
		}
		networks = append(networks, net)
	}
	return o.setTune(d, networks...)
}

// tuneImages prepares the networks that make the features of images to be tuned.
func (o *auditing) tuneImages(looks []*extraction.Extraction, root string, d *datasets.Dataset) error {
	var networks []*tuning.Live
	for _, e := range looks {
		net, err := tuning.New(tuning.Config{
			Backbone: e.Model, Cut: e.Cut, Settings: o.newFinetuneConfig(), Root: e.Root, RootName: root,
			Paths: d.Paths(),
			Batch: extraction.UsualBatch, Note: o.Note,
		})
		if err != nil {
			return err
		}
		networks = append(networks, net)
	}
	return o.setTune(d, networks...)
}

// newFinetuneConfig returns the settings of the networks.
func (o *auditing) newFinetuneConfig() config.Finetune {
	f := config.Default().Finetune
	f.Weights, f.CacheLimit = o.Tuning.Weights, config.Bytes(o.MaxMem/4)
	return f
}

// setTune sets Tune: for each fold, it fine-tunes one network of each backbone with the settings of firsts.
func (o *auditing) setTune(d *datasets.Dataset, firsts ...*tuning.Live) error {
	for _, first := range firsts {
		if err := o.settleTraining(first, d); err != nil {
			return err
		}
	}
	rt, err := o.Runtime()
	if err != nil {
		return err
	}
	o.Paced = func(p crossfit.Pace) {
		o.Note("fine-tuning %s begins, at a rate of %.2g: at most %d steps, about %s",
			text.Plural(p.Networks, "network"), p.Rate, p.Steps, text.About(p.Most))
	}
	at := *o
	o.Tune = func(ctx context.Context, l *crossfit.Lesson) (crossfit.Tuned, error) {
		cfg := &firsts[l.Part()].Config
		return at.keepLesson(l, *cfg, func() (crossfit.Tuned, error) {
			live, err := tuning.New(*cfg)
			if err != nil {
				return crossfit.Tuned{}, err
			}
			cfg.Note = func(string, ...any) {} // notes once are enough
			live.Use(rt)
			t, err := l.Fit(ctx, network{live})
			return t, errors.Join(err, live.Close())
		})
	}
	return nil
}

// settleTraining decides how many images a network learns from at a time, and how they are augmented.
func (o *auditing) settleTraining(first *tuning.Live, d *datasets.Dataset) error {
	held, room := first.Held(), o.MaxMem/2
	if held > room {
		return hint.With(fmt.Errorf("audit: fine-tuning %s needs about %s for an image, expected at most half of the "+
			"memory allowed, %s", o.Tuning.Weights, text.Approx(held), text.Approx(room)),
			"allow %d MiB of memory, or train less of the network: winnow models show prints the sizes of its stages",
			held>>19+1)
	}
	first.Settings.Chunk = int(max(1, room/max(held, 1)))
	o.Note("fine-tuning %s needs about %s for an image of a batch, and takes %d at a time", first.Backbone.Name,
		text.Approx(held), min(first.Settings.Chunk, crossfit.TunedBatch))
	if first.Settings.Augment = o.Tuning.Augment; o.Tuning.Augment == "" {
		grey, err := tuning.Grey(first.Root, d.Paths())
		if err != nil {
			return err
		}
		if first.Settings.Augment = "adapted_triplet"; grey {
			first.Settings.Augment = "digits"
		}
		o.Note("images are augmented by %s, which suits them", first.Settings.Augment)
	}
	augment, err := backbone.ParseAugmentation(first.Settings.Augment)
	first.Augment = augment.Fitting(first.Backbone.Preprocessing) // networks judge the features of the store
	return err
}

// network is a backbone that learns for crossfit.
type network struct{ *tuning.Live }

func (n network) Encoder(ctx context.Context, h *head.Head, set features.Set, batch int,
	views func(ahead int) *rand.Rand) (crossfit.Encoder, error) {
	return n.Live.Encoder(ctx, h, tuning.Input{Train: set, Stored: set, Batch: batch,
		Resting: func() bool { return false }, Source: views})
}

// keepLesson returns the result of a lesson that an earlier audit kept; else it calls learn and keeps the result.
func (o *auditing) keepLesson(l *crossfit.Lesson, cfg tuning.Config,
	learn func() (crossfit.Tuned, error)) (crossfit.Tuned, error) {
	if o.Tuning.Kept == "" {
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
	file, sum := filepath.Join(o.Tuning.Kept, l.Name()), h.Sum(nil)
	t := l.Blank()
	found := make([]float32, 2) // epochs and rate
	values := [][]float32{t.Z.Data, t.Directions.Data, t.Margins, found}
	if readKept(file, sum, values) {
		t.Kept, t.Epochs, t.Rate = true, int(found[0]), float64(found[1])
		return t, nil
	}
	t, err := learn()
	if err != nil {
		return t, err
	}
	if err := os.MkdirAll(o.Tuning.Kept, 0o777); err != nil {
		return t, fmt.Errorf("audit: %w", err)
	}
	return t, atomicfile.Write(file, func(w io.Writer) error {
		for _, part := range []any{sum, t.Z.Data, t.Directions.Data, t.Margins,
			[]float32{float32(t.Epochs), float32(t.Rate)}} {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// readKept reads values from a file that was kept for sum, and reports whether it did.
func readKept(file string, sum []byte, values [][]float32) bool {
	f, err := regular.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	size := len(sum)
	for _, v := range values {
		size += 4 * len(v)
	}
	was := make([]byte, len(sum))
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(size) {
		return false
	}
	if _, err := io.ReadFull(f, was); err != nil || string(was) != string(sum) {
		return false
	}
	for _, v := range values {
		if err := binary.Read(f, binary.LittleEndian, v); err != nil {
			return false
		}
	}
	return true
}
