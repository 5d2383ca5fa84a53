package embedding

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/search"
	"winnow/search/pgvector"
)

// Points are vectors for a database, and the images left out so far.
type Points interface {
	pgvector.Source
	LeftOut() []lookup.LeftOut
}

// runPoints are the embeddings of a run's images, computed block by block as they are sent.
type runPoints struct {
	ctx       context.Context
	run       *folder.Run
	rows, ids []int // of the store, and in the manifest
	columns   []string
	left      []lookup.LeftOut
	at        int
}

// RunPoints returns the embeddings of the images of some splits, each with columns of the manifest, and the sha256 of
// the head that computes them. ctx ends the computation.
func RunPoints(ctx context.Context, r *folder.Run, splits string, columns []string) (Points, string, error) {
	rows, ids, left, err := listReadableIn(r, splits)
	if err != nil {
		return nil, "", err
	}
	model, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	return &runPoints{ctx: ctx, run: r, rows: rows, ids: ids, columns: columns, left: left}, model, err
}

// Len implements pgvector.Source.
func (p *runPoints) Len() int { return len(p.rows) }

// Width implements pgvector.Source.
func (p *runPoints) Width() int { return p.run.Head.Config().Out }

// LeftOut implements Points.
func (p *runPoints) LeftOut() []lookup.LeftOut { return p.left }

// Next implements pgvector.Source. The blocks are those of exports to files, and so are the numbers.
func (p *runPoints) Next() ([]pgvector.Point, error) {
	n := min(embeddedBlock, len(p.rows)-p.at)
	if n == 0 {
		return nil, io.EOF
	}
	x := features.NewMatrix(n, p.Width())
	ids := p.ids[p.at : p.at+n]
	if err := embedBlock(p.ctx, p.run, x, p.rows[p.at:p.at+n], ids); err != nil {
		return nil, err
	}
	list := make([]pgvector.Point, 0, n)
	for i, id := range ids {
		path := p.run.Manifest.Samples[id].Path
		v := features.Row(x, i)
		if isZeroVector(v) {
			p.left = append(p.left, lookup.LeftOut{Path: path, Reason: search.NoDirection})
			continue
		}
		list = append(list, pgvector.Point{Path: path, Vector: v, Payload: payloadOf(p.run.Manifest, id, p.columns)})
	}
	p.at += n
	return list, nil
}

func isZeroVector(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

// payloadOf returns a sample's fields in these columns of a manifest. A sample without a label has no field for it.
func payloadOf(d *datasets.Dataset, id int, columns []string) map[string]string {
	fields := map[string]string{}
	sample := &d.Samples[id]
	for _, name := range columns {
		switch name {
		case "split":
			fields[name] = sample.Split
		case "label":
			if sample.Label != datasets.Unlabelled {
				fields[name] = d.Classes[sample.Label]
			}
		default:
			if at := slices.Index(d.Columns, name); at < len(sample.Extra) {
				fields[name] = sample.Extra[at]
			}
		}
	}
	return fields
}

// galleryPoints are the vectors of an index or of a feature store.
type galleryPoints struct {
	*search.Gallery
	manifest *datasets.Dataset // nil: none
	columns  []string
	samples  map[string]int // positions of paths in the manifest
	left     []lookup.LeftOut
	at       int
}

// GalleryPoints returns the vectors of an index or of a feature store, each with columns of a manifest, which may be
// nil.
func GalleryPoints(g *search.Gallery, manifest *datasets.Dataset, columns []string) Points {
	p := &galleryPoints{Gallery: g, manifest: manifest, columns: columns, samples: map[string]int{}}
	if manifest != nil {
		for i, sample := range manifest.Samples {
			p.samples[sample.Path] = i
		}
	}
	return p
}

// LeftOut implements Points.
func (p *galleryPoints) LeftOut() []lookup.LeftOut { return p.left }

// Next implements pgvector.Source.
func (p *galleryPoints) Next() ([]pgvector.Point, error) {
	n := min(embeddedBlock, p.Len()-p.at)
	if n == 0 {
		return nil, io.EOF
	}
	x, absent, err := p.Block(p.at, n)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	own := features.NewMatrix(n, p.Width()) // Block reuses what it returns
	list := make([]pgvector.Point, 0, n)
	for i := range n {
		path := p.Paths[p.at+i]
		if absent != nil && absent[i] {
			p.left = append(p.left, lookup.LeftOut{Path: path, Reason: p.explainNoDirection(p.at + i)})
			continue
		}
		point := pgvector.Point{Path: path, Vector: features.Row(own, i)}
		copy(point.Vector, features.Row(x, i))
		if id, known := p.samples[path]; known {
			point.Payload = payloadOf(p.manifest, id, p.columns)
		}
		list = append(list, point)
	}
	p.at += n
	return list, nil
}

// explainNoDirection returns the reason why a row has no direction.
func (p *galleryPoints) explainNoDirection(row int) string {
	if p.Store != nil {
		if reason, bad := p.Store.BadRows()[row]; bad {
			return reason
		}
	}
	return search.NoDirection
}
