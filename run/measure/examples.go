package measure

import (
	"context"
	"fmt"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// ExampleOptions choose examples of retrieval: the first query of classes spread evenly over the manifest.
type ExampleOptions struct {
	Queries int   // 0: all
	K       int   // nearest images of each query
	MaxMem  int64 // bytes of similarities at once
}

// Examples are queries with their nearest images.
type Examples struct {
	Split     string           `json:"split"`
	View      string           `json:"view,omitempty"` // center or mean, if the store has several views of each image
	Of        int              `json:"of"`             // possible queries
	Gallery   int              `json:"gallery"`        // images searched
	InGallery int              `json:"queries_in_gallery,omitempty"`
	Precision float64          `json:"hits_per_rank"` // share of hits among the neighbours shown
	Queries   []Example        `json:"queries"`
	LeftOut   []lookup.LeftOut `json:"left_out"`
	K         int              `json:"-"`
}

// Example is one query with its nearest images.
type Example struct {
	Path    string  `json:"path"`
	Label   string  `json:"label"`
	Hits    int     `json:"hits"`
	Nearest []Found `json:"nearest"`
}

// Found is an image found by a query.
type Found struct {
	Path       string  `json:"path"`
	Label      string  `json:"label"`
	Similarity float32 `json:"similarity"`
	Hit        bool    `json:"hit"` // has the query's label
}

// ExamplesAmong finds the nearest images of some embedded images of a manifest's split.
func ExamplesAmong(ctx context.Context, d *datasets.Dataset, split string, of folder.Asked[features.Set],
	o ExampleOptions) (Examples, error) {
	gallery := of.Query
	if of.Gallery != nil {
		gallery = *of.Gallery
	}
	rows := Askers(of)
	e := Examples{Split: split, Of: len(rows), Gallery: gallery.Len(),
		InGallery: len(of.Same), K: o.K}
	if len(rows) == 0 {
		return e, fmt.Errorf("retrieve: no image of the split %s has another with its label to find", split)
	}
	if o.Queries > 0 {
		rows = spreadClasses(rows, of.Query.Labels, o.Queries)
	}
	own := 0 // most rows of the gallery that are a query itself
	for _, i := range rows {
		own = max(own, len(ownOf(of, i)))
	}
	lists, err := eval.Nearest(ctx, of.Query.Rows(rows), &gallery, o.K+own, eval.Bytes(o.MaxMem))
	if err != nil {
		return e, err
	}
	for i, list := range lists {
		itself := ownOf(of, rows[i])
		list = slices.DeleteFunc(list, func(near eval.Neighbour) bool {
			return slices.Contains(itself, gallery.IDs[near.Row])
		})
		e.Queries = append(e.Queries, newExample(d, of.Query.IDs[rows[i]], gallery, list[:min(o.K, len(list))]))
	}
	hits, all := 0, 0
	for _, q := range e.Queries {
		hits, all = hits+q.Hits, all+len(q.Nearest)
	}
	e.Precision = float64(hits) / float64(max(all, 1))
	return e, nil
}

// Askers returns the rows of the queries that have another image with their label to find.
func Askers(of folder.Asked[features.Set]) (rows []int) {
	gallery := of.Query
	if of.Gallery != nil {
		gallery = *of.Gallery
	}
	counts, labels := map[int]int{}, map[int]int{} // images of a label, and the label of each
	for i, label := range gallery.Labels {
		counts[label]++
		labels[gallery.IDs[i]] = label
	}
	for i, label := range of.Query.Labels {
		own := 0
		for _, id := range ownOf(of, i) {
			if labels[id] == label {
				own++
			}
		}
		if counts[label] > own {
			rows = append(rows, i)
		}
	}
	return rows
}

// ownOf returns the IDs of the images in the gallery that are a query itself.
func ownOf(of folder.Asked[features.Set], query int) []int {
	id := of.Query.IDs[query]
	if of.Gallery == nil {
		return []int{id}
	}
	return of.Same[id]
}

// spreadClasses returns the first row of each of n classes, spread evenly over the classes in the order of their first
// rows; or of all classes if there are no more.
func spreadClasses(rows, labels []int, n int) (first []int) {
	seen := map[int]bool{}
	for _, i := range rows {
		if !seen[labels[i]] {
			seen[labels[i]] = true
			first = append(first, i)
		}
	}
	n = min(n, len(first))
	out := make([]int, n)
	for k := range out {
		out[k] = first[k*len(first)/n]
	}
	return out
}

// newExample names a query and its neighbours.
func newExample(d *datasets.Dataset, id int, gallery features.Set, list []eval.Neighbour) Example {
	s := d.Samples[id]
	q := Example{Path: s.Path, Label: d.Classes[s.Label], Nearest: []Found{}}
	for _, near := range list {
		other := d.Samples[gallery.IDs[near.Row]]
		q.Nearest = append(q.Nearest, Found{other.Path, d.Classes[other.Label], near.Similarity,
			other.Label == s.Label})
		if other.Label == s.Label {
			q.Hits++
		}
	}
	return q
}

// Paths returns the images of all examples.
func (e Examples) Paths() (list []string) {
	for _, q := range e.Queries {
		list = append(list, q.Path)
		for _, n := range q.Nearest {
			list = append(list, n.Path)
		}
	}
	return list
}
