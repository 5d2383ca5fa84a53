package eval

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/features"
)

// The result for a class equals the slow evaluation of its queries only, against the whole gallery. The overall result
// equals the result of Retrieve.
func TestRetrieveClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	ctx, opts := context.Background(), RetrievalOptions{K: []int{1, 3}}
	for round := range 20 {
		query, gallery := randomSet(rng, 60, 4, 7, round%2 == 1), (*features.Set)(nil)
		query.Labels[3], query.Labels[4] = 50, features.Unlabelled // class 50 has a single image, so no positive
		whole := query
		if round%3 == 2 {
			g := randomSet(rng, 40, 4, 6, false)
			gallery, whole = &g, g
		}
		want, err := Retrieve(ctx, query, gallery, opts)
		if err != nil {
			t.Fatal(err)
		}
		all, classes, err := RetrieveClasses(ctx, query, gallery, opts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Fatal(diff)
		}
		near, err := Nearest(ctx, query, gallery, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		n, right := 0, 0.0
		for _, c := range classes {
			others := query
			others.Labels = make([]int, query.Len())
			counts, misses := map[int]int{}, 0
			for i, label := range query.Labels {
				if others.Labels[i] = features.Unlabelled; label != c.Label {
					continue
				}
				others.Labels[i] = label
				if other := whole.Labels[near[i][0].Row]; other != label && c.Retrieval.N > 0 {
					misses++
					counts[other]++
				}
			}
			slow := slowRetrieve(others, &features.Set{X: whole.X, Labels: whole.Labels}, opts)
			if gallery == nil {
				slow = ofClass(query, c.Label, opts)
			}
			if diff := cmp.Diff(slow, c.Retrieval, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Fatalf("class %d: %s", c.Label, diff)
			}
			if c.Misses != misses || c.Times != counts[c.Instead] || misses > 0 && c.Times == 0 {
				t.Errorf("class %d: %+v, expected %d misses among %v", c.Label, c, misses, counts)
			}
			for _, times := range counts {
				if times > c.Times {
					t.Errorf("class %d: %+v, expected the most frequent of %v", c.Label, c, counts)
				}
			}
			n, right = n+c.Retrieval.N, right+c.Retrieval.PrecisionAt1*float64(c.Retrieval.N)
			if c.Label == 50 && c.Retrieval.N != 0 {
				t.Error("a query without positives was not left out")
			}
		}
		if n != all.N || cmp.Diff(right/float64(n), all.PrecisionAt1, cmpopts.EquateApprox(0, 1e-12)) != "" {
			t.Errorf("classes: %d queries, P@1 %v; overall: %d queries, P@1 %v", n, right/float64(n), all.N,
				all.PrecisionAt1)
		}
	}
}

// ofClass uses the images of a class as queries one by one, and leaves each image out of its gallery.
func ofClass(z features.Set, label int, opts RetrievalOptions) Retrieval {
	out := Retrieval{Recall: map[int]float64{}}
	for _, k := range opts.K {
		out.Recall[k] = 0
	}
	for i := range z.Len() {
		if z.Labels[i] != label {
			continue
		}
		var rest []int
		for j := range z.Len() {
			if j != i {
				rest = append(rest, j)
			}
		}
		g := z.Rows(rest)
		one := slowRetrieve(z.Rows([]int{i}), &g, opts)
		out.Lonely += one.Lonely
		out.N += one.N
		out.Hits, out.Precisions = append(out.Hits, one.Hits...), append(out.Precisions, one.Precisions...)
		out.PrecisionAt1 += one.PrecisionAt1
		out.RPrecision += one.RPrecision
		out.MAPAtR += one.MAPAtR
		for k, v := range one.Recall {
			out.Recall[k] += v
		}
	}
	n := float64(max(out.N, 1))
	out.PrecisionAt1, out.RPrecision, out.MAPAtR = out.PrecisionAt1/n, out.RPrecision/n, out.MAPAtR/n
	for k := range out.Recall {
		out.Recall[k] /= n
	}
	return out
}
