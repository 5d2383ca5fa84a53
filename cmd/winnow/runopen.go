package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/internal/config"
	"winnow/models"
)

// openedRun is a run folder with what it was trained on.
type openedRun struct {
	Dir          string
	Config       config.Run
	Head         *head.Head
	Meta         models.HeadMeta
	ManifestFile string // may be a folder
	Manifest     *datasets.Dataset
	Store        *features.Store
}

// dataFlags name the data where they moved since the training, or other data.
var dataFlags = []cli.Flag{
	&cli.StringFlag{Name: "manifest", Usage: "manifest `FILE`; default: the one the run was trained on"},
	&cli.StringFlag{Name: "features", Usage: "feature store `DIR`; default: the one the run was trained on"},
}

// openRunArg opens the run folder that a command is given as its one argument.
func openRunArg(c *cli.Context) (*openedRun, error) {
	if c.NArg() != 1 {
		return nil, misused("winnow %s takes one run folder, found %d arguments (flags may stand before or after it)", c.Command.Name, c.NArg())
	}
	r := &openedRun{Dir: c.Args().First()}
	var err error
	if r.Config, err = config.Load(filepath.Join(r.Dir, configFile), nil); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, withHint(fmt.Errorf("%s: holds no %s, expected a folder that winnow train wrote", r.Dir, configFile), "make one: winnow train --manifest FILE --features DIR --out %s", r.Dir)
		}
		return nil, err
	}
	if r.Head, r.Meta, err = models.ReadHead(filepath.Join(r.Dir, bestHeadFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, withHint(fmt.Errorf("%s: holds no %s: the training is not finished", r.Dir, bestHeadFile), "go on with it: winnow train --config %s --out %s --resume", filepath.Join(r.Dir, configFile), r.Dir)
		}
		return nil, err
	}
	manifest, store := r.Config.Data.Manifest, r.Config.Data.Features
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
	if r.Store, err = features.Open(store); err != nil {
		return nil, withHint(err, "if it moved, name it with --features")
	}
	return r, r.matches()
}

// matches refuses a store whose vectors the head was not trained on.
func (r *openedRun) matches() error {
	k := r.Store.Key
	for _, part := range []struct{ what, store, head string }{
		{"model", k.Model, r.Meta.ModelSHA256}, {"output", k.Output, r.Meta.Output}, {"preprocessing", k.Preprocessing, r.Meta.Preprocessing},
	} {
		if part.store != part.head {
			return fmt.Errorf("features %s: made with %s %.80s, but the head of %s was trained with %.80s", r.Store.Dir, part.what, part.store, r.Dir, part.head)
		}
	}
	return nil
}

// splitSet joins one split of a manifest with the features of its images, as they are stored. Labels are the
// dataset's class ids, IDs positions in it. Unreadable images are left out and reported.
func splitSet(d *datasets.Dataset, s *features.Store, split string) (set features.Set, left []leftOut, err error) {
	rows, ids, left, err := storedRows(d, s, d.Select(split), split+" ")
	if err != nil {
		return set, nil, err
	}
	set = features.Set{Labels: []int{}, IDs: []int{}}
	for _, id := range ids {
		set.Labels, set.IDs = append(set.Labels, d.Samples[id].Label), append(set.IDs, id)
	}
	if len(rows) > 0 {
		set.X, err = s.Read(rows)
	}
	return set, left, err
}

// storedRows finds the images at these positions of a manifest in a store: ids are the positions of the readable
// ones, rows where the store has them. which describes the images in an error: "train ", or "" for all.
func storedRows(d *datasets.Dataset, s *features.Store, at []int, which string) (rows, ids []int, left []leftOut, err error) {
	paths := make([]string, len(at))
	for i, id := range at {
		paths[i] = d.Samples[id].Path
	}
	found, missing := s.Lookup(paths)
	if len(missing) > 0 {
		return nil, nil, nil, withHint(fmt.Errorf("features %s: %d of the %d %simages are not in the store, the first is %q", s.Dir, len(missing), len(at), which, missing[0]),
			"extract again with this manifest: winnow extract --manifest FILE --root DIR --model MODEL --out DIR")
	}
	bad := s.BadRows()
	for i, id := range at {
		if reason, ok := bad[found[i]]; ok {
			left = append(left, leftOut{paths[i], reason})
			continue
		}
		rows, ids = append(rows, found[i]), append(ids, id)
	}
	return rows, ids, left, nil
}

// embed is set through the head.
func embed(h *head.Head, set features.Set) (features.Set, error) {
	x, err := h.Embed(set.X)
	return features.Set{X: x, Labels: set.Labels, IDs: set.IDs}, err
}

// labelledOnly leaves out the rows without a given label.
func labelledOnly(set features.Set) features.Set {
	var rows []int
	for i, label := range set.Labels {
		if label != features.Unlabelled {
			rows = append(rows, i)
		}
	}
	if len(rows) == set.Len() {
		return set
	}
	return set.Rows(rows)
}

// parseSize reads a number of bytes: 1GiB, 512MB, 300000.
func parseSize(text string) (int64, error) {
	units := []struct {
		name  string
		bytes float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err == nil && v*u.bytes >= 1 && v*u.bytes < 1<<60 {
				return int64(v * u.bytes), nil
			}
			break
		}
	}
	return 0, fmt.Errorf("%q is not a size: write for example 1GiB, 512MiB or 200000000", text)
}

// retrievalOptions reads --k, --max-mem and --count-lonely.
func retrievalOptions(c *cli.Context) (eval.RetrievalOptions, error) {
	opts := eval.RetrievalOptions{CountLonely: c.Bool("count-lonely")}
	for _, text := range strings.Split(c.String("k"), ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || k < 1 {
			return opts, misused("--k: %q is not a number of neighbours, expected 1 or more", text)
		}
		opts.K = append(opts.K, k)
	}
	var err error
	if opts.MaxMem, err = parseSize(c.String("max-mem")); err != nil {
		return opts, misused("--max-mem: %v", err)
	}
	return opts, nil
}

// compareOn measures frozen, whitened and trained embeddings of the same images; gallery is nil where the
// queries are their own.
func compareOn(ctx context.Context, h *head.Head, train, query features.Set, gallery *features.Set, opts eval.RetrievalOptions) (comparison, error) {
	linear := h.Config()
	linear.Hidden, linear.Init = nil, head.Whiten
	white, err := head.New(linear, train.X, nil)
	if err != nil {
		return comparison{}, err
	}
	var c comparison
	for _, row := range []struct {
		embed func(features.Set) (features.Set, error)
		to    *eval.Retrieval
	}{
		{frozen, &c.Frozen},
		{func(s features.Set) (features.Set, error) { return embed(white, s) }, &c.Whitened},
		{func(s features.Set) (features.Set, error) { return embed(h, s) }, &c.Trained},
	} {
		q, err := row.embed(query)
		if err != nil {
			return c, err
		}
		var g *features.Set
		if gallery != nil {
			embedded, err := row.embed(*gallery)
			if err != nil {
				return c, err
			}
			g = &embedded
		}
		if *row.to, err = eval.Retrieve(ctx, q, g, opts); err != nil {
			return c, err
		}
	}
	return c, nil
}

// frozen is the stored features as they are, on the unit sphere.
func frozen(set features.Set) (features.Set, error) {
	unit := set.Rows(allRows(set.Len()))
	return unit, features.Normalize(unit.X)
}
