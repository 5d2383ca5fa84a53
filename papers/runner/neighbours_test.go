package runner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/datasets"
	"winnow/features"
	"winnow/papers/studies"
	"winnow/run/folder"
)

// Hits are counted over all images, as by brute force. The first image of each of four classes is shown with its ten
// nearest. If there is a gallery, only its images are found.
func TestNeighbours(t *testing.T) {
	s, err := studies.Find("adapted-figure7")
	if err != nil {
		t.Fatal(err)
	}
	d, z, rng := &datasets.Dataset{}, features.NewSet(120, 5), rand.New(rand.NewPCG(2, 3))
	for k := range 8 {
		d.Classes = append(d.Classes, fmt.Sprint("class", k))
	}
	for i := range z.Len() {
		z.Labels[i], z.IDs[i] = i%8, i
		for j := range z.Row(i) {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
		z.Row(i)[i%8%5] += 1.5
		d.Samples = append(d.Samples, datasets.Sample{
			Path: fmt.Sprintf("%d.png", i), Label: i % 8, True: i % 8, Split: datasets.Test,
		})
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	found := func(s studies.Study, of folder.Asked[features.Set]) studies.Outcome {
		o := studies.Outcome{Seed: 3, Measures: map[string]float64{}}
		if err := (&reproduction{Options: Options{Study: s}}).countNeighbourHits(t.Context(), &o, d, of); err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := found(s, folder.Asked[features.Set]{Query: z})
	if want := slowHits(z, z, true); math.Abs(o.Measures[studies.Hits10]-want) > 1e-12 {
		t.Errorf("%v hits, expected %v", o.Measures[studies.Hits10], want)
	}
	var paths []string
	for _, q := range o.Queries {
		paths = append(paths, q.Path)
		last := float32(1)
		for _, n := range q.Nearest {
			if n.Hit != (n.Class == q.Class) || n.Path == q.Path || n.Similarity > last {
				t.Errorf("%s, %s: found %+v after %v", q.Path, q.Class, n, last)
			}
			last = n.Similarity
		}
		if len(q.Nearest) != 10 {
			t.Errorf("%s: found %d", q.Path, len(q.Nearest))
		}
	}
	if !slices.Equal(paths, []string{"0.png", "2.png", "4.png", "6.png"}) {
		t.Errorf("found the queries %v", paths)
	}
	queries, gallery := z.Rows(features.AllRows(40)), z.Rows(features.AllRows(120)[40:])
	o = found(s, folder.Asked[features.Set]{Query: queries, Gallery: &gallery})
	if want := slowHits(queries, gallery, false); math.Abs(o.Measures[studies.Hits10]-want) > 1e-12 {
		t.Errorf("%v hits in a gallery, expected %v", o.Measures[studies.Hits10], want)
	}
	s.Chart = nil
	if o = found(s, folder.Asked[features.Set]{Query: z}); len(o.Measures) != 1 || len(o.Queries) != 0 {
		t.Errorf("a study that shows none: %+v", o)
	}
	s.Measures = []string{"p@1"}
	if o = found(s, folder.Asked[features.Set]{Query: z}); len(o.Measures) != 0 || len(o.Queries) != 0 {
		t.Errorf("a study of another measure: %+v", o)
	}
}

// slowHits returns the mean number of images of a query's class among its ten nearest, by sorting all.
func slowHits(queries, gallery features.Set, same bool) float64 {
	hits := 0.0
	for i := range queries.Len() {
		type near struct {
			similarity float64
			hit        bool
		}
		var list []near
		for j := range gallery.Len() {
			if same && j == i {
				continue
			}
			n := near{hit: gallery.Labels[j] == queries.Labels[i]}
			for k, v := range queries.Row(i) {
				n.similarity += float64(v) * float64(gallery.Row(j)[k])
			}
			list = append(list, n)
		}
		slices.SortFunc(list, func(a, b near) int {
			if a.similarity > b.similarity {
				return -1
			}
			return 1
		})
		for _, n := range list[:10] {
			if n.hit {
				hits++
			}
		}
	}
	return hits / float64(queries.Len())
}
