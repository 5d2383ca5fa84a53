package embedding

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/search"
)

// Network is an embedder whose network is loaded. It implements backbone.Network.
type Network struct {
	*Embedder
	host    Host
	runtime *ort.Runtime
	net     *ort.Network
	fill    int  // above 0: the size of every batch, see Infer
	unit    bool // divide by the length

	pixels []float32
	x      []float32
}

// Load loads the network onto the host's runtime. With fill above 0 it always computes batches of that size; with unit it
// divides vectors by their length.
func (e *Embedder) Load(h Host, fill int, unit bool) (*Network, error) {
	h = h.Complete()
	rt, err := h.Runtime()
	if err != nil {
		return nil, err
	}
	p := e.Backbone.Preprocessing
	net, err := ort.NewNetwork(rt, e.cut.Model, e.cut.Tensor, ort.NetworkInput{Name: e.cut.Input, Channels: p.Planes(), Height: p.Crop, Width: p.Crop})
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return &Network{Embedder: e, host: h, runtime: rt, net: net, unit: unit, fill: fill}, nil
}

// Dim implements backbone.Network.
func (n *Network) Dim() int {
	if n.head != nil {
		return n.head.Config().Out
	}
	return n.net.Dim()
}

// Infer implements backbone.Network. With fill, a batch of fewer pictures is filled up with black ones: an image's last
// bits depend on the size of its batch (one alone and the same one among 46 differed, after MobileNetV2 and a head of
// 256), and an index made in steps must equal one made at once.
func (n *Network) Infer(dst blas32.General, pixels []float32, count int) error {
	run, size := count, n.Backbone.Preprocessing.Size()
	if count < n.fill {
		if n.pixels == nil {
			n.pixels = make([]float32, n.fill*size)
		}
		copy(n.pixels, pixels[:count*size])
		clear(n.pixels[count*size:])
		pixels, run = n.pixels, n.fill
	}
	if need := run * n.net.Dim(); len(n.x) < need {
		n.x = make([]float32, need)
	}
	x := blas32.General{Rows: run, Cols: n.net.Dim(), Stride: n.net.Dim(), Data: n.x[:run*n.net.Dim()]}
	if err := n.net.Infer(x, pixels, run); err != nil {
		return err
	}
	if n.head != nil {
		var err error
		if x, err = n.head.Embed(x); err != nil {
			return err
		}
	}
	if n.unit {
		search.UnitRows(x)
	}
	for i := range count {
		copy(features.Row(dst, i), features.Row(x, i))
	}
	return nil
}

// Close frees network and runtime.
func (n *Network) Close() error { return errors.Join(n.net.Close(), n.runtime.Close()) }

// embed sends images through the network into rows.
func (n *Network) embed(ctx context.Context, images fs.FS, paths []string, rows backbone.RowWriter, o Options) error {
	observe, end := n.host.Images()
	defer end()
	cfg := backbone.ExtractConfig{Preprocessing: n.Backbone.Preprocessing, Batch: o.Batch, Workers: o.Workers}
	return backbone.Extract(ctx, cfg, n, images, paths, rows, observe)
}

// Queries embeds images to search for. It also returns those that cannot be read or whose vector is all zeros.
func (n *Network) Queries(ctx context.Context, images fs.FS, paths []string, o Options) ([]search.Query, []features.Bad, error) {
	rows := &queryRows{paths: paths}
	err := n.embed(ctx, images, paths, rows, o)
	slices.SortFunc(rows.bad, func(a, b features.Bad) int { return cmp.Compare(a.Row, b.Row) })
	return rows.list, rows.bad, err
}

// queryRows collects the vectors of queries.
type queryRows struct {
	paths []string
	list  []search.Query
	rows  int
	bad   []features.Bad
}

// Rows, Bad and Flush implement backbone.RowWriter.
func (s *queryRows) Rows() int           { return s.rows }
func (s *queryRows) Bad() []features.Bad { return s.bad }
func (s *queryRows) Flush() error        { return nil }

// Append implements backbone.RowWriter.
func (s *queryRows) Append(x blas32.General, bad []features.Bad) error {
	for i := range x.Rows {
		row := s.rows + i
		if slices.ContainsFunc(bad, func(b features.Bad) bool { return b.Row == row }) {
			continue
		}
		if q, ok := search.NewQuery(s.paths[row], slices.Clone(features.Row(x, i))); ok {
			s.list = append(s.list, q)
		} else {
			s.bad = append(s.bad, features.Bad{Row: row, Path: s.paths[row], Reason: search.NoDirection})
		}
	}
	s.rows += x.Rows
	s.bad = append(s.bad, bad...)
	return nil
}
