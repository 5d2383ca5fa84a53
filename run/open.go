package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run/embedding"
	"winnow/search"
)

// Opened is a finished run that embeds images, and searches with them. Only one of its methods may run at a time.
type Opened struct{ net *embedding.Network }

// Open opens the folder of a finished run. The network runs on the CPU; Close frees it.
func Open(dir string) (*Opened, error) {
	e, err := embedding.OpenRun(dir, "")
	if err != nil {
		return nil, err
	}
	net, err := e.Load(embedding.Host{}, 0, true)
	if err != nil {
		return nil, err
	}
	return &Opened{net}, nil
}

// Close frees the network.
func (o *Opened) Close() error { return o.net.Close() }

// EmbedFile returns the vector of an image file, of length 1: the same as winnow embed, with EXIF orientation.
func (o *Opened) EmbedFile(ctx context.Context, path string) ([]float32, error) {
	list, bad, err := o.net.Queries(ctx, os.DirFS(filepath.Dir(path)), []string{filepath.Base(path)},
		embedding.Options{Batch: 1, Workers: 1})
	if err == nil && len(bad) > 0 {
		err = errors.New(bad[0].Reason)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list[0].Vector, nil
}

// Embed returns the vector of an image in memory, of length 1. The image must already be upright.
func (o *Opened) Embed(img image.Image) ([]float32, error) {
	p := o.net.Backbone.Preprocessing
	pixels, vector := make([]float32, p.Size()), make([]float32, o.net.Dim())
	if err := backbone.Preprocess(pixels, img, p); err != nil {
		return nil, err
	}
	row := blas32.General{Rows: 1, Cols: len(vector), Stride: len(vector), Data: vector}
	if err := o.net.Infer(row, pixels, 1); err != nil {
		return nil, err
	}
	if search.UnitRows(row) != nil {
		return nil, errors.New(search.NoDirection)
	}
	return vector, nil
}

// Search returns the k vectors nearest to a vector that this run embedded, by the cosine: in an index of the same run
// ([search.OpenGallery]) or in a set of such vectors ([search.Held]).
func (o *Opened) Search(ctx context.Context, in search.Vectors, vector []float32, k int) ([]search.Hit, error) {
	if g, ok := in.(*search.Gallery); ok && g.Index != nil {
		if why := g.Index.Embedder.Differs(o.net.Embedder.Embedder); why != "" {
			return nil, hint.With(&search.OtherEmbedder{Dir: g.Index.Dir, Why: why}, "open the run that made the index")
		}
	}
	if in.Width() != o.net.Dim() || len(vector) != o.net.Dim() {
		return nil, fmt.Errorf("search: found a vector of %d values among vectors of %d, expected %d of the run",
			len(vector), in.Width(), o.net.Dim())
	}
	one := features.Set{X: blas32.General{Rows: 1, Cols: len(vector), Stride: len(vector), Data: vector}}
	found, err := search.Nearest(ctx, in, one, k, nil)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
