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

// ExampleOptions selects examples of retrieval: the first query of each of Queries classes, which are spread evenly
// over the manifest.
type ExampleOptions struct {
	Queries int   // number of queries; 0: all
	K       int   // number of nearest images of each query
	MaxMem  int64 // bytes of similarities in memory at once
}

// Examples holds queries with their nearest images.
type Examples struct {
	Split     string           `json:"split"`
	View      string           `json:"view,omitempty"` // center or mean, if the store has several views of each image
	Of        int              `json:"of"`             // number of possible queries
	Gallery   int              `json:"gallery"`        // number of searched images
	InGallery int              `json:"queries_in_gallery,omitempty"`
	Precision float64          `json:"hits_per_rank"` // share of hits among the nearest images of all queries
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

// Found is one of the nearest images of a query.
type Found struct {
	Path       string  `json:"path"`
	Label      string  `json:"label"`
	Similarity float32 `json:"similarity"`
	Hit        bool    `json:"hit"` // the image has the query's label
}

// ExamplesAmong returns the nearest images of some queries. of holds the embedded images of a split of d.
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
		return e, fmt.Errorf("retrieve: no image of the split %s has the same label as another image", split)
	}
	if o.Queries > 0 {
		rows = spreadClasses(rows, of.Query.Labels, o.Queries)
	}
	own := 0 // the largest number of gallery rows that show the same image as a query
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

// Askers returns the rows of the queries that share their label with another image of the gallery.
func Askers(of folder.Asked[features.Set]) (rows []int) {
	gallery := of.Query
	if of.Gallery != nil {
		gallery = *of.Gallery
	}
	counts, labels := map[int]int{}, map[int]int{} // number of images by label, and label by image ID
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

// ownOf returns the IDs of the gallery images that are the same image as a query.
func ownOf(of folder.Asked[features.Set], query int) []int {
	id := of.Query.IDs[query]
	if of.Gallery == nil {
		return []int{id}
	}
	return of.Same[id]
}

// spreadClasses returns the first row of each of n classes. In the order of their first rows, the n classes are spread
// evenly over all classes. It returns the first rows of all classes if there are at most n.
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

// newExample returns the example of a query: the paths and labels of the query and its nearest images.
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

// Paths returns the paths of all queries and their nearest images.
func (e Examples) Paths() (list []string) {
	for _, q := range e.Queries {
		list = append(list, q.Path)
		for _, n := range q.Nearest {
			list = append(list, n.Path)
		}
	}
	return list
}
