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

// Network is an embedder whose network is loaded, on each device of the runtime. It implements backbone.Lanes.
type Network struct {
	*Embedder
	host    Host
	runtime *ort.Runtime
	nets    ort.Networks
	lanes   []*lane
}

// lane makes vectors on one device. It implements backbone.Network.
type lane struct {
	*Embedder
	net  *ort.Network
	fill int  // above 0: the size of every batch, see Infer
	unit bool // divide by the length

	pixels []float32
	x      []float32
}

var _ backbone.Lanes = (*Network)(nil)

// Load loads the network onto the devices of the host's runtime. With fill above 0 it always computes batches of that size; with unit it
// divides vectors by their length.
func (e *Embedder) Load(h Host, fill int, unit bool) (*Network, error) {
	h = h.Complete()
	rt, err := h.Runtime()
	if err != nil {
		return nil, err
	}
	p := e.Backbone.Preprocessing
	nets, err := ort.NewNetworks(rt, e.cut.Model, e.cut.Tensor, ort.NetworkInput{Name: e.cut.Input, Channels: p.Planes(), Height: p.Crop, Width: p.Crop})
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	n := &Network{Embedder: e, host: h, runtime: rt, nets: nets}
	for _, net := range nets {
		n.lanes = append(n.lanes, &lane{Embedder: e, net: net, fill: fill, unit: unit})
	}
	return n, nil
}

// Dim implements backbone.Network.
func (n *Network) Dim() int { return n.lanes[0].Dim() }

// Infer computes vectors on the first device.
func (n *Network) Infer(dst blas32.General, pixels []float32, count int) error {
	return n.lanes[0].Infer(dst, pixels, count)
}

// Lanes implements backbone.Lanes.
func (n *Network) Lanes() (list []backbone.Network) {
	for _, l := range n.lanes {
		list = append(list, l)
	}
	return list
}

// Close frees network and runtime.
func (n *Network) Close() error { return errors.Join(n.nets.Close(), n.runtime.Close()) }

// Dim implements backbone.Network.
func (l *lane) Dim() int {
	if l.head != nil {
		return l.head.Config().Out
	}
	return l.net.Dim()
}

// Infer implements backbone.Network. With fill, a batch of fewer pictures is filled up with black ones: an image's last
// bits depend on the size of its batch (one alone and the same one among 46 differed, after MobileNetV2 and a head of
// 256), and an index made in steps must equal one made at once.
func (l *lane) Infer(dst blas32.General, pixels []float32, count int) error {
	run, size := count, l.Backbone.Preprocessing.Size()
	if count < l.fill {
		if l.pixels == nil {
			l.pixels = make([]float32, l.fill*size)
		}
		copy(l.pixels, pixels[:count*size])
		clear(l.pixels[count*size:])
		pixels, run = l.pixels, l.fill
	}
	if need := run * l.net.Dim(); len(l.x) < need {
		l.x = make([]float32, need)
	}
	x := blas32.General{Rows: run, Cols: l.net.Dim(), Stride: l.net.Dim(), Data: l.x[:run*l.net.Dim()]}
	if err := l.net.Infer(x, pixels, run); err != nil {
		return err
	}
	if l.head != nil {
		var err error
		if x, err = l.head.Embed(x); err != nil {
			return err
		}
	}
	if l.unit {
		search.UnitRows(x)
	}
	for i := range count {
		copy(features.Row(dst, i), features.Row(x, i))
	}
	return nil
}

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
