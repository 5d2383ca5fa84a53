package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/internal/config"
	"winnow/models"
	"winnow/runs"
)

// openedRun is a run folder with what it was trained on.
type openedRun struct {
	Dir          string
	Config       config.Run
	HeadFile     string // its name in Dir
	Head         *head.Head
	Meta         models.HeadMeta
	ManifestFile string // may be a folder
	Manifest     *datasets.Dataset
	Store        *features.Store  // of the network that the head belongs to
	tuned        *models.Backbone // that network, where the run trained it; else nil
}

// dataFlags choose the state of a run, and name the data where they moved since the training, or other data.
var dataFlags = []cli.Flag{
	&cli.BoolFlag{Name: "last", Usage: "take the last state of the training instead of the one that validation chose"},
	&cli.StringFlag{Name: "manifest", DefaultText: "the one the run was trained on", Usage: "manifest `FILE`"},
	&cli.StringFlag{Name: "features", DefaultText: "the one the run was trained on", Usage: "feature store `DIR`"},
	&cli.StringFlag{Name: "view", Value: backbone.CenterName, Usage: "of stores with several views of each image look at `VIEW` center, or at the mean of all their features"},
	&cli.StringFlag{Name: "root", DefaultText: "the run's", Usage: "`DIR` (or .zip file) that the manifest's paths start from, where images are looked at: fine-tuned runs, export"},
}

// openRunArg opens the run folder that a command is given as its one argument. splits are those whose features it
// will look at, all where none is named: where they must be computed, no others are.
func openRunArg(c *cli.Context, splits ...string) (*openedRun, error) {
	if c.NArg() != 1 {
		return nil, misused("winnow %s takes one run folder, found %d arguments (flags may stand before or after it)", c.Command.Name, c.NArg())
	}
	return openRun(c, c.Args().First(), splits...)
}

// openRun opens a run folder.
func openRun(c *cli.Context, dir string, splits ...string) (*openedRun, error) {
	if v := c.String("view"); v != backbone.CenterName && v != meanView {
		return nil, misused("--view: found %q, expected %s or %s", v, backbone.CenterName, meanView)
	}
	r, err := readRun(dir, c.Bool("last"))
	if err != nil {
		return nil, err
	}
	manifest, store := r.Config.Data.Manifest, r.originalStore()
	if c.IsSet("manifest") {
		manifest = c.String("manifest")
	}
	if c.IsSet("features") {
		store = c.String("features")
	}
	r.ManifestFile = manifest
	if r.Manifest, err = datasets.Read(manifest, datasets.ReadOptions{}); err != nil {
		return nil, withHint(err, "if it moved, name it with --manifest")
	}
	if r.Config.Finetune.On() {
		if err := r.openTuned(c, splits); err != nil {
			return nil, err
		}
	} else if r.Store, err = features.Open(store); err != nil {
		return nil, withHint(err, "if it moved, name it with --features")
	}
	if err := r.matches(); err != nil {
		return nil, err
	}
	if r.Store, err = lookAt(c, r.Store); err != nil {
		return nil, err
	}
	return r, nil
}

// readRun reads configuration and head of a run folder: the last state of the training, or the one that validation chose.
func readRun(dir string, last bool) (*openedRun, error) {
	r := &openedRun{Dir: dir, HeadFile: runs.BestHeadFile}
	if last {
		r.HeadFile = runs.LastHeadFile
	}
	var err error
	if r.Config, err = config.Load(filepath.Join(r.Dir, runs.ConfigFile), nil); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, withHint(fmt.Errorf("%s: holds no %s, expected a folder that winnow train wrote", r.Dir, runs.ConfigFile), "make one: winnow train --manifest FILE --features DIR --out %s", r.Dir)
		}
		return nil, err
	}
	if r.Head, r.Meta, err = models.ReadHead(filepath.Join(r.Dir, r.HeadFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, withHint(fmt.Errorf("%s: holds no %s: the training is not finished", r.Dir, r.HeadFile), "go on with it: winnow train --config %s --out %s --resume", filepath.Join(r.Dir, runs.ConfigFile), r.Dir)
		}
		return nil, err
	}
	return r, nil
}

// view is what is looked at of each image, "" where the store has nothing to choose from.
func (r *openedRun) view(c *cli.Context) string {
	if r.Store.Views() == 1 {
		return ""
	}
	return c.String("view")
}

// meanView as a --view is the mean of all.
const meanView = "mean"

// lookAt is a store as --view asks for it.
func lookAt(c *cli.Context, s *features.Store) (*features.Store, error) {
	if c.String("view") != meanView {
		if s.Views() > 1 {
			note(c, "%s holds %d views of each image: looking at the centre (--view mean averages all)", s.Dir, s.Views())
		}
		return s, nil
	}
	if s.Views() == 1 {
		return nil, withHint(fmt.Errorf("--view %s: %s holds one view of each image, the %s, expected several", meanView, s.Dir, backbone.CenterName),
			"extract with --views center+flip or another and name that store with --features; the head stays as it is")
	}
	note(c, "looking at the mean of the %d views of each image in %s", s.Views(), s.Dir)
	return s.Averaged(), nil
}

// matches refuses a store whose vectors the head was not trained on.
func (r *openedRun) matches() error {
	k := r.Store.Key
	if read, asked := decoderOf(k.Preprocessing), decoderOf(r.Meta.Preprocessing); read != asked {
		return withHint(fmt.Errorf("features %s: the images were read with decoder %s, but those that the head of %s was trained on with %s", r.Store.Dir, read, r.Dir, asked),
			"make them with winnow extract --decoder %s", asked)
	}
	for _, part := range []struct{ what, store, head string }{
		{"model", k.Model, r.Meta.ModelSHA256}, {"output", k.Output, r.Meta.Output}, {"preprocessing", k.Preprocessing, r.Meta.Preprocessing},
	} {
		if part.store != part.head {
			return fmt.Errorf("features %s: made with %s %.80s, but the head of %s was trained with %.80s", r.Store.Dir, part.what, part.store, r.Dir, part.head)
		}
	}
	return nil
}

// decoderOf is the decoder that a preprocessing names.
func decoderOf(preprocessing string) string {
	p, err := backbone.ParsePreprocessing(preprocessing)
	if err != nil {
		return backbone.ExactDecoder // texts that differ are refused as a whole
	}
	return p.DecoderName()
}

// parseSize reads a number of bytes: 1GiB, 512MB, 300000.
func parseSize(text string) (int64, error) {
	var b config.Bytes
	if err := b.UnmarshalText([]byte(text)); err != nil || b == 0 {
		return 0, fmt.Errorf("%q is not a size: write for example 1GiB, 512MiB or 200000000", text)
	}
	return int64(b), nil
}

// retrievalOptions reads --k, --max-mem and --count-lonely.
func retrievalOptions(c *cli.Context) (eval.RetrievalOptions, error) {
	opts := eval.RetrievalOptions{CountLonely: c.Bool("count-lonely")}
	for _, text := range strings.Split(c.String("k"), ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || k < 1 {
			return opts, misused("--k: %q is not a number of neighbours, expected 1 or more", text)
		}
		if !slices.Contains(opts.K, k) {
			opts.K = append(opts.K, k)
		}
	}
	var err error
	if opts.MaxMem, err = parseSize(c.String("max-mem")); err != nil {
		return opts, misused("--max-mem: %v", err)
	}
	return opts, nil
}
