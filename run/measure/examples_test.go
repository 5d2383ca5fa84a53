package measure_test

import (
	"fmt"
	"slices"
	"testing"

	"winnow/datasets"
	"winnow/features"
	"winnow/run/folder"
	"winnow/run/measure"
)

// line returns images on a half circle. Consecutive images are nearest neighbours, and their classes alternate.
func line(classes, images int) (*datasets.Dataset, features.Set) {
	d, z := &datasets.Dataset{}, features.NewSet(classes*images, 2)
	for k := range classes {
		d.Classes = append(d.Classes, fmt.Sprint("class", k))
	}
	for i := range z.Len() {
		z.Labels[i], z.IDs[i] = i%classes, i
		z.Row(i)[0], z.Row(i)[1] = 1, float32(i)/10
		d.Samples = append(d.Samples, datasets.Sample{Path: fmt.Sprintf("%d.png", i), Label: i % classes,
			True: i % classes, Split: datasets.Test})
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return d, z
}

// The queries are the first images of evenly spaced classes; classes with a single image are left out. With fewer
// classes than queries, there is one query for each class.
func TestSpread(t *testing.T) {
	d, z := line(10, 3)
	z.Labels[0], z.Labels[10], z.Labels[20] = 0, 1, 1 // class 0 has a single image
	d.Samples[10].Label, d.Samples[20].Label = 1, 1
	for n, want := range map[int][]string{4: {"1.png", "3.png", "5.png", "7.png"}, 1: {"1.png"},
		50: {"1.png", "2.png", "3.png", "4.png", "5.png", "6.png", "7.png", "8.png", "9.png"}} {
		e, err := measure.ExamplesAmong(t.Context(), d, datasets.Test, folder.Asked[features.Set]{Query: z},
			measure.ExampleOptions{Queries: n, K: 2, MaxMem: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range e.Queries {
			got = append(got, q.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d queries: found %v, expected %v", n, got, want)
		}
	}
}

// With 0 queries asked for, every image is a query, and no query finds itself.
func TestChooseAll(t *testing.T) {
	d, z := line(2, 10)
	e, err := measure.ExamplesAmong(t.Context(), d, datasets.Test, folder.Asked[features.Set]{Query: z},
		measure.ExampleOptions{K: 2, MaxMem: 1 << 20})
	if err != nil || len(e.Queries) != 20 || e.Of != 20 {
		t.Fatalf("%v, found %d queries of %d", err, len(e.Queries), e.Of)
	}
	for _, q := range e.Queries {
		for _, n := range q.Nearest {
			if n.Path == q.Path {
				t.Errorf("%s finds itself", q.Path)
			}
		}
	}
}
