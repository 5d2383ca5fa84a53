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
	"winnow/run/extraction"
	"winnow/search"
)

// Network is an embedder whose network is loaded on each device of the runtime. It implements backbone.Lanes.
type Network struct {
	*Embedder
	host    Host
	runtime *ort.Runtime
	nets    ort.Networks
	lanes   []*lane
}

// lane computes vectors on one device. It implements backbone.Network.
type lane struct {
	*Embedder
	net  *ort.Network
	fill int  // fixed batch size, see Infer; 0: any
	unit bool // divide vectors by their length

	pixels []float32
	x      []float32
}

var (
	_ backbone.Lanes  = (*Network)(nil)
	_ backbone.Pinner = (*Network)(nil)
)

// Load loads the network onto the devices of the host's runtime. If fill is above 0, every batch is padded to this
// size. With unit, vectors are divided by their length.
func (e *Embedder) Load(h Host, fill int, unit bool) (*Network, error) {
	h = h.Complete()
	rt, err := h.Runtime()
	if err != nil {
		return nil, err
	}
	in := extraction.NetworkInput(e.cut, e.Backbone.Preprocessing)
	nets, err := ort.NewNetworks(rt, e.cut.Model, e.cut.Tensor, in)
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

// Pin implements backbone.Pinner.
func (n *Network) Pin(data []float32) { n.nets.Pin(data) }

// Unpin implements backbone.Pinner.
func (n *Network) Unpin() { n.nets.Unpin() }

// Close frees network and runtime.
func (n *Network) Close() error { return errors.Join(n.nets.Close(), n.runtime.Close()) }

// Dim implements backbone.Network.
func (l *lane) Dim() int {
	if l.head != nil {
		return l.head.Config().Out
	}
	return l.net.Dim()
}

// Infer implements backbone.Network. With fill, it pads a smaller batch with black images. The last bits of a vector
// depend on the batch size (with MobileNetV2 and a head of 256, a single image and the same image in a batch of 46
// differed), but an index made in steps must equal an index made at once.
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

// embedPaths embeds images and passes their vectors to rows.
func (n *Network) embedPaths(
	ctx context.Context,
	images fs.FS,
	paths []string,
	rows backbone.RowWriter,
	o Options,
) error {
	observe, end := n.host.Images()
	defer end()
	cfg := backbone.ExtractConfig{Preprocessing: n.Backbone.Preprocessing, Batch: o.Batch, Workers: o.Workers}
	return backbone.Extract(ctx, cfg, n, images, paths, rows, observe)
}

// Queries embeds images to search for. It also returns the images that cannot be read or whose vector is all zeros.
func (n *Network) Queries(ctx context.Context, images fs.FS, paths []string, o Options) (list []search.Query,
	bad []features.Bad, err error) {
	all := &rows{take: func(x blas32.General, first int, unreadable []features.Bad) error {
		for i := range x.Rows {
			row := first + i
			if slices.ContainsFunc(unreadable, func(b features.Bad) bool { return b.Row == row }) {
				continue
			}
			if q, ok := search.NewQuery(paths[row], slices.Clone(features.Row(x, i))); ok {
				list = append(list, q)
			} else {
				bad = append(bad, features.Bad{Row: row, Path: paths[row], Reason: search.NoDirection})
			}
		}
		return nil
	}}
	err = n.embedPaths(ctx, images, paths, all, o)
	bad = append(bad, all.bad...)
	slices.SortFunc(bad, func(a, b features.Bad) int { return cmp.Compare(a.Row, b.Row) })
	return list, bad, err
}
