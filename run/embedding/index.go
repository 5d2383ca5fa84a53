package embedding

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"winnow/backbone"
	"winnow/datasets/imagelist"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/search"
)

// Indexed describes an index that was made or extended, as winnow index --json prints it.
type Indexed struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	DType   string           `json:"dtype"`
	Model   string           `json:"model"`
	Added   int              `json:"added"`
	Skipped int              `json:"skipped"` // in the index already, or named twice
	LeftOut []lookup.LeftOut `json:"left_out"`
}

// CreateIndex puts images into a new index.
func CreateIndex(ctx context.Context, h Host, dir, dtype string, images []location.Source, o Options) (Indexed, error) {
	if search.Here(dir) {
		return Indexed{}, hint.With(fmt.Errorf("index: %s: %w", dir, search.ErrExists),
			"--add adds images to it; a new index needs another --out")
	}
	e, err := Open(o.Model, o.Backbone, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	list, err := imagelist.Open(ctx, images, o.Root, o.Stdin)
	if err != nil {
		return Indexed{}, err
	}
	return e.fill(ctx, h, dir, list, o, func(dim int, paths []string) (*search.Extension, error) {
		return search.Create(dir, e.Embedder, dim, dtype, paths)
	})
}

// ExtendIndex appends the images that an index lacks, and those that changed since they were indexed, by the same
// embedder.
func ExtendIndex(ctx context.Context, h Host, dir string, images []location.Source, o Options) (Indexed, error) {
	ix, err := search.Open(dir)
	if err != nil {
		return Indexed{}, hint.With(err, "make one: winnow index --model RUN IMAGES --out %s", dir)
	}
	if err := ix.Close(); err != nil {
		return Indexed{}, err
	}
	e, err := reopen(dir, ix.Embedder, o, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	list, err := imagelist.Open(ctx, images, o.Root, o.Stdin)
	if err != nil {
		return Indexed{}, err
	}
	if !slices.ContainsFunc(images, location.Source.IsRemote) { // a server would be asked for each image
		if err := forget(h, dir, list, ix.Paths); err != nil {
			return Indexed{}, err
		}
	}
	return e.fill(ctx, h, dir, list, o, func(dim int, paths []string) (*search.Extension, error) {
		return search.Extend(dir, e.Embedder, dim, paths)
	})
}

// forget takes images out of an index that changed since it was written, so that they are embedded again.
func forget(h Host, dir string, list *imagelist.List, indexed []string) error {
	written, err := search.Written(dir)
	if err != nil {
		return err
	}
	has := make(map[string]bool, len(indexed))
	for _, p := range indexed {
		has[p] = true
	}
	var changed []string
	for _, p := range list.Paths() {
		if !has[p] {
			continue
		}
		if info, err := fs.Stat(list, p); err == nil && info.ModTime().After(written) {
			changed = append(changed, p)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if len(changed) == 1 {
		h.Complete().Note("1 image changed since it was indexed: %s is embedded again", changed[0])
	} else {
		h.Complete().Note("%d images changed since they were indexed, the first is %s: they are embedded again",
			len(changed), changed[0])
	}
	return search.Remove(dir, changed)
}

// fill embeds images into the index that open opens.
func (e *Embedder) fill(ctx context.Context, h Host, dir string, list *imagelist.List, o Options,
	open func(dim int, paths []string) (*search.Extension, error)) (r Indexed, err error) {
	net, err := e.Load(h, o.Batch, false)
	if err != nil {
		return r, err
	}
	defer net.Close()
	x, err := open(net.Dim(), list.Paths())
	if err != nil {
		return r, err
	}
	defer x.Close()
	if len(x.New) > 0 {
		err = net.embed(ctx, list, x.New, x, o)
	}
	bad := x.Bad()
	var none *backbone.NoneReadable
	if errors.As(err, &none) && none.Tried == len(x.New) && x.Total() > 0 { // the index does not change
		net.host.Note("none of the %d images that are new can be read", none.Tried)
		bad, err = []features.Bad{{Path: none.Path, Reason: none.Reason.Error()}}, nil
	}
	r = Indexed{Index: dir, Rows: x.Total(), Dim: net.Dim(), DType: x.DType(), Model: e.Backbone.Name,
		Added: x.Added(), Skipped: x.Skipped, LeftOut: lookup.Unreadable(bad)}
	if err != nil {
		return r, err
	}
	return r, x.Close()
}
