package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/seen"
	"winnow/search"
)

// Indexed describes an index that was made or extended, as printed by winnow index --json.
type Indexed struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	Added   int              `json:"added"`
	Skipped int              `json:"skipped"` // images in the index already, or named twice
	LeftOut []lookup.LeftOut `json:"left_out"`
}

// CreateIndex makes an index of images.
func CreateIndex(ctx context.Context, h Host, dir string, images []location.Source, o Options) (Indexed, error) {
	if search.Unfinished(dir) { // an earlier command failed or was killed
		return ExtendIndex(ctx, h, dir, images, o)
	}
	if search.Here(dir) {
		return Indexed{}, hint.With(fmt.Errorf("index: %s: %w", dir, search.ErrExists),
			"add images to it with --add, or make a new index with another --out")
	}
	e, err := Open(o.Model, o.Backbone, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	list, err := imageroot.OpenList(ctx, images, o.Root, o.Stdin, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	return e.fillIndex(ctx, h, dir, list, o, func(dim int, paths []string) (*search.Extension, error) {
		return search.Create(dir, e.Embedder, dim, paths)
	})
}

// ExtendIndex appends images that an index lacks and images that changed since they were indexed, by the same embedder.
func ExtendIndex(ctx context.Context, h Host, dir string, images []location.Source, o Options) (Indexed, error) {
	ix, err := search.Open(dir)
	if err != nil {
		return Indexed{}, hint.With(err, "make one: winnow index --model RUN IMAGES --out %s", dir)
	}
	if err := ix.Close(); err != nil {
		return Indexed{}, err
	}
	e, err := reopenEmbedder(dir, ix.Embedder, o, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	list, err := imageroot.OpenList(ctx, images, o.Root, o.Stdin, h.Note)
	if err != nil {
		return Indexed{}, err
	}
	if err := forgetChanged(h, dir, list); err != nil {
		return Indexed{}, err
	}
	return e.fillIndex(ctx, h, dir, list, o, func(dim int, paths []string) (*search.Extension, error) {
		return search.Extend(dir, e.Embedder, dim, paths)
	})
}

// forgetChanged removes images from an index: those whose files changed, so that they are embedded again, and those
// that are missing in the folders of the list.
func forgetChanged(h Host, dir string, list *imageroot.List) error {
	ix, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	files, err := ix.Files()
	if err != nil {
		return err
	}
	var changed, gone []string
	for row, p := range ix.Paths {
		switch listed := list.Has(p); {
		case listed && files.At(row, list.Base(p)) == seen.Changed: // one that is gone cannot be embedded again
			changed = append(changed, p)
		case !listed && list.Covers(p):
			gone = append(gone, p)
		}
	}
	h = h.Complete()
	switch n := len(changed); {
	case n == 1:
		h.Note("1 image changed since it was indexed: %s is embedded again", changed[0])
	case n > 1:
		h.Note("%d images changed since they were indexed, the first is %s: they are embedded again", n, changed[0])
	}
	switch n := len(gone); {
	case n == 1:
		h.Note("1 image is gone: %s is removed from the index", gone[0])
	case n > 1:
		h.Note("%d images are gone, the first is %s: they are removed from the index", n, gone[0])
	}
	if err := ix.Close(); err != nil || len(changed)+len(gone) == 0 {
		return err
	}
	return search.Remove(dir, slices.Concat(changed, gone))
}

// fillIndex embeds images into the index that open opens.
func (e *Embedder) fillIndex(ctx context.Context, h Host, dir string, list *imageroot.List, o Options,
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
	x.Base = list.Base
	if len(x.New) > 0 {
		err = net.embedPaths(ctx, list, x.New, x, o)
	}
	bad := x.Bad()
	var none *backbone.NoneReadable
	if errors.As(err, &none) && none.Tried == len(x.New) && x.Total() > 0 { // the index does not change
		net.host.Note("none of the %d new images can be read", none.Tried)
		bad, err = []features.Bad{{Path: none.Path, Reason: none.Reason.Error()}}, nil
	}
	r = Indexed{Index: dir, Rows: x.Total(), Dim: net.Dim(), Model: e.Backbone.Name,
		Added: x.Added(), Skipped: x.Skipped, LeftOut: lookup.Unreadable(bad)}
	if err != nil {
		return r, err
	}
	return r, cmp.Or(x.Finish(), x.Close())
}
