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
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/tuning"
)

// Tuning says which networks are fine-tuned to judge images that they have not seen; the zero value: none.
type Tuning struct {
	Weights string // as winnow train --finetune has them; "": none
	Augment string // a recipe of package backbone; "": by the pictures
	Kept    string // folder for what networks made of finished folds, which the next audit of the same images uses again; "": nothing is kept
}

// tuneStored tunes the networks that made the features of stores, on the images of a manifest.
func (o *Options) tuneStored(in Input, stores []*features.Store, d *datasets.Dataset) error {
	var networks []*tuning.Live
	for i, store := range stores {
		data := config.Data{Manifest: in.Manifest.String(), Root: in.Root.String(), Features: store.Dir}
		if names := strings.Split(in.Model, ","); i < len(names) {
			data.Model = names[i]
		}
		net, err := tuning.Open(config.Run{Data: data, Finetune: o.finetune()}, d.Paths(), tuning.Config{Note: o.Note, Watch: unwatched})
		if err != nil {
			return err
		}
		networks = append(networks, net)
	}
	return o.tune(d, networks...)
}

// tuneImages tunes the networks that make the features of images.
func (o *Options) tuneImages(looks []*extraction.Extraction, root string, d *datasets.Dataset) error {
	var networks []*tuning.Live
	for _, e := range looks {
		net, err := tuning.New(tuning.Config{
			Backbone: e.Model, Cut: e.Cut, Settings: o.finetune(), Root: e.Root, RootName: root, Paths: d.Paths(), Batch: extraction.UsualBatch, Note: o.Note, Watch: unwatched,
		})
		if err != nil {
			return err
		}
		networks = append(networks, net)
	}
	return o.tune(d, networks...)
}

// finetune returns the settings of the networks.
func (o *Options) finetune() config.Finetune {
	f := config.Default().Finetune
	f.Weights, f.CacheLimit = o.Tuning.Weights, config.Bytes(o.MaxMem/4)
	return f
}

func unwatched(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }

// tune has heads joined by networks, one for each fold, fine-tuned as the first, of every backbone in turn.
func (o *Options) tune(d *datasets.Dataset, firsts ...*tuning.Live) error {
	for _, first := range firsts {
		if err := o.settle(first, d); err != nil {
			return err
		}
	}
	rt, err := o.Host.Runtime()
	if err != nil {
		return err
	}
	at := *o
	o.Tune = func(ctx context.Context, l *crossfit.Lesson) (crossfit.Tuned, error) {
		cfg := &firsts[l.Part()].Config
		return at.kept(l, *cfg, func() (crossfit.Tuned, error) {
			live, err := tuning.New(*cfg)
			if err != nil {
				return crossfit.Tuned{}, err
			}
			cfg.Note = func(string, ...any) {} // once is enough
			live.Use(rt)
			t, err := l.Fit(ctx, network{live})
			return t, errors.Join(err, live.Close())
		})
	}
	return nil
}

// settle finds out how many images a network learns from at a time, and what they look like.
func (o *Options) settle(first *tuning.Live, d *datasets.Dataset) error {
	held, room := first.Held(), o.MaxMem/2
	if held > room {
		return hint.With(fmt.Errorf("audit: --finetune %s holds about %s for an image, half of --max-mem is %s", o.Tuning.Weights, text.Approx(held), text.Approx(room)),
			"allow more, --max-mem %dMiB, or train less of the network: winnow models show says how large the stages are", held>>19+1)
	}
	first.Settings.Chunk = int(max(1, room/max(held, 1)))
	o.Note("fine-tuning %s holds about %s for an image of a batch, and looks at %d at a time", first.Backbone.Name, text.Approx(held), min(first.Settings.Chunk, crossfit.TunedBatch))
	if first.Settings.Augment = o.Tuning.Augment; o.Tuning.Augment == "" {
		grey, err := tuning.Grey(first.Root, d.Paths())
		if err != nil {
			return err
		}
		if first.Settings.Augment = "adapted_triplet"; grey {
			first.Settings.Augment = "digits"
		}
		o.Note("images are augmented by %s, --augment chooses another way", first.Settings.Augment)
	}
	augment, err := backbone.ParseAugmentation(first.Settings.Augment)
	first.Augment = augment.Fitting(first.Backbone.Preprocessing) // the networks judge by features as the store has them
	return err
}

// network is a backbone that learns for crossfit.
type network struct{ *tuning.Live }

func (n network) Encoder(ctx context.Context, h *head.Head, set features.Set, batch int, views func(ahead int) *rand.Rand) (crossfit.Encoder, error) {
	return n.Live.Encoder(ctx, h, tuning.Input{Train: set, Stored: set, Batch: batch, Resting: func() bool { return false }, Source: views})
}

// kept returns what a network made of a lesson in an earlier audit, else what learn says, which it keeps.
func (o *Options) kept(l *crossfit.Lesson, cfg tuning.Config, learn func() (crossfit.Tuned, error)) (crossfit.Tuned, error) {
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
	values := [][]float32{t.Z.Data, t.Directions.Data}
	if readKept(file, sum, values) {
		t.Kept = true
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
		for _, part := range []any{sum, t.Z.Data, t.Directions.Data} {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// readKept fills values from a file that was kept for the same sum, and reports whether it did.
func readKept(file string, sum []byte, values [][]float32) bool {
	f, err := os.Open(file)
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
