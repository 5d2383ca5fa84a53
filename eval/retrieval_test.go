package eval

import (
	compare "cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// randomSet draws n unit vectors around class centres; with grid, many similarities tie exactly.
func randomSet(rng *rand.Rand, n, d, classes int, grid bool) features.Set {
	s := features.NewSet(n, d)
	for i := range n {
		s.Labels[i], s.IDs[i] = rng.IntN(classes), i
		for j := range d {
			v := rng.NormFloat64()
			if j == s.Labels[i]%d {
				v += 1.5
			}
			if grid {
				v = float64(rng.IntN(2)*2 - 1)
			}
			s.Row(i)[j] = float32(v)
		}
	}
	if err := features.Normalize(s.X); err != nil {
		panic(err)
	}
	return s
}

// slowRetrieve sorts the whole gallery of every query.
func slowRetrieve(q features.Set, gallery *features.Set, opts RetrievalOptions) Retrieval {
	g, self := q, gallery == nil
	if !self {
		g = *gallery
	}
	out := Retrieval{Recall: map[int]float64{}}
	for i := range q.Len() {
		if q.Labels[i] == features.Unlabelled {
			continue
		}
		var order []int
		s := make([]float32, g.Len())
		positives := 0
		for j := range g.Len() {
			if self && i == j {
				continue
			}
			for k := range q.Dim() {
				s[j] += q.Row(i)[k] * g.Row(j)[k]
			}
			order = append(order, j)
			if g.Labels[j] == q.Labels[i] {
				positives++
			}
		}
		if positives == 0 {
			out.Lonely++
			if !opts.CountLonely {
				continue
			}
		}
		out.N++
		out.Hits, out.Precisions = append(out.Hits, false), append(out.Precisions, 0)
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case s[a] > s[b]:
				return -1
			case s[a] < s[b]:
				return 1
			}
			return 0
		})
		hits, ap := 0, 0.0
		for k, j := range order {
			if g.Labels[j] != q.Labels[i] {
				continue
			}
			if hits == 0 {
				for _, limit := range opts.K {
					if k < limit {
						out.Recall[limit]++
					}
				}
				if k == 0 {
					out.PrecisionAt1++
					out.Hits[len(out.Hits)-1] = true
				}
			}
			hits++
			if k < positives {
				ap += float64(hits) / float64(k+1)
				out.RPrecision += 1 / float64(positives)
			}
		}
		if positives > 0 {
			out.MAPAtR += ap / float64(positives)
			out.Precisions[out.N-1] = ap / float64(positives)
		}
	}
	n := float64(max(out.N, 1))
	for _, k := range opts.K {
		out.Recall[k] /= n
	}
	out.PrecisionAt1, out.RPrecision, out.MAPAtR = out.PrecisionAt1/n, out.RPrecision/n, out.MAPAtR/n
	return out
}

var near = cmpopts.EquateApprox(0, 1e-9)

func TestRetrieveAgainstSorting(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 7))
		// On the grid d is a power of 4, so unit rows and their products are exact and ties are real.
		grid := seed%2 == 0
		d := 7
		if grid {
			d = 16
		}
		q := randomSet(rng, 5+rng.IntN(60), d, 1+rng.IntN(12), grid)
		q.Labels[rng.IntN(q.Len())] = features.Unlabelled
		g := randomSet(rng, 1+rng.IntN(80), d, 1+rng.IntN(12), grid)
		opts := RetrievalOptions{K: []int{1, 2, 5, 1000}, CountLonely: seed%3 == 0}
		if seed%4 >= 2 {
			opts.K = []int{2, 1} // most positives are beyond every K and are dropped early
		}
		for name, gallery := range map[string]*features.Set{"self": nil, "gallery": &g} {
			want := slowRetrieve(q, gallery, opts)
			for _, mem := range []Bytes{0, Bytes(4 * max(q.Len(), g.Len()))} { // one block, then single rows
				opts.MaxMem = mem
				got, err := Retrieve(ctx, q, gallery, opts)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, near); diff != "" {
					t.Fatalf("seed %d, %s, max-mem %d (-want +got):\n%s", seed, name, mem, diff)
				}
			}
		}
	}
}

// Each sampled query searches the whole gallery except itself.
func TestRetrieveDrawnQueries(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	q, g := randomSet(rng, 60, 16, 6, true), randomSet(rng, 40, 16, 6, true)
	for _, gallery := range []*features.Set{nil, &g} {
		opts := RetrievalOptions{K: []int{1, 3}, Queries: 25, Seed: 7}
		got, err := Retrieve(ctx, q, gallery, opts)
		if err != nil {
			t.Fatal(err)
		}
		asking, at := opts.sampleQueries(q)
		want := Retrieval{N: asking.Len(), Recall: map[int]float64{1: 0, 3: 0}, DrawnFrom: 60}
		for i := range asking.Len() {
			ask := gallery
			if ask == nil {
				rows := slices.DeleteFunc(slices.Clone(q.IDs), func(j int) bool { return j == at(i) })
				others := q.Rows(rows)
				ask = &others
			}
			one := slowRetrieve(q.Rows([]int{at(i)}), ask, opts)
			want.Hits, want.Precisions = append(want.Hits, one.Hits...), append(want.Precisions, one.Precisions...)
			want.PrecisionAt1 += one.PrecisionAt1 / 25
			want.RPrecision += one.RPrecision / 25
			want.MAPAtR += one.MAPAtR / 25
			want.Recall[1] += one.Recall[1] / 25
			want.Recall[3] += one.Recall[3] / 25
		}
		if diff := cmp.Diff(want, got, near); diff != "" || got.N != 25 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		opts.Seed = 8
		if other, _ := opts.sampleQueries(q); cmp.Equal(other.IDs, asking.IDs) {
			t.Error("another seed draws the same queries")
		}
		opts.Queries = 60
		all, err := Retrieve(ctx, q, gallery, opts)
		if want := slowRetrieve(q, gallery, opts); err != nil || !cmp.Equal(want, all, near) {
			t.Errorf("as many queries as rows: %v (-want +got):\n%s", err, cmp.Diff(want, all, near))
		}
	}
}

func TestRetrieveDoor(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 1))
	q, other := randomSet(rng, 5, 4, 2, false), randomSet(rng, 5, 3, 2, false)
	empty := features.NewSet(0, 4)
	for name, run := range map[string]func() error{
		"empty gallery":   func() error { _, err := Retrieve(ctx, q, &empty, RetrievalOptions{}); return err },
		"other dimension": func() error { _, err := Retrieve(ctx, q, &other, RetrievalOptions{}); return err },
		"no memory":       func() error { _, err := Retrieve(ctx, q, nil, RetrievalOptions{MaxMem: 8}); return err },
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	one, err := Retrieve(ctx, q.Rows([]int{0}), nil, RetrievalOptions{})
	if err != nil || one.N != 0 || one.Lonely != 1 || one.PrecisionAt1 != 0 {
		t.Errorf("a single vector: %+v, %v", one, err)
	}
}

func TestNearest(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 3))
	q, g := randomSet(rng, 20, 16, 3, true), randomSet(rng, 30, 16, 3, true)
	for _, gallery := range []*features.Set{nil, &g} {
		for _, k := range []int{0, 1, 4, 100} {
			got, err := Nearest(ctx, q, gallery, k, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if diff := cmp.Diff(slowNearest(q, gallery, i, k), got[i], cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("query %d, k %d (-want +got):\n%s", i, k, diff)
				}
			}
		}
	}
}

// With many rows that tie up to rounding, and some equal rows, the lists equal a complete sort in float64.
func TestNearestOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, spread := range []float64{1, 1e-3} {
		g := features.NewSet(1200, 24)
		for i := range g.Len() {
			for j := range g.Dim() {
				g.Row(i)[j] = float32(1 + spread*rng.NormFloat64())
			}
			if i >= 100 && i%3 == 0 {
				copy(g.Row(i), g.Row(rng.IntN(100)))
			}
		}
		if err := features.Normalize(g.X); err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 7, 90} {
			lists, err := Nearest(t.Context(), g, nil, k, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < g.Len(); i += 97 {
				var want, got []int
				for j := range g.Len() {
					if j != i {
						want = append(want, j)
					}
				}
				slices.SortStableFunc(want, func(a, b int) int {
					return compare.Compare(features.Dot(g.Row(i), g.Row(b)), features.Dot(g.Row(i), g.Row(a)))
				})
				for _, n := range lists[i] {
					got = append(got, n.Row)
				}
				if !slices.Equal(got, want[:k]) {
					t.Fatalf("spread %g, query %d, k %d: found %v, expected %v", spread, i, k, got, want[:k])
				}
			}
		}
	}
}

func slowNearest(q features.Set, gallery *features.Set, i, k int) []Neighbour {
	g := q
	if gallery != nil {
		g = *gallery
	}
	var all []Neighbour
	for j := range g.Len() {
		if gallery == nil && i == j {
			continue
		}
		var s float32
		for c := range q.Dim() {
			s += q.Row(i)[c] * g.Row(j)[c]
		}
		all = append(all, Neighbour{j, s})
	}
	slices.SortStableFunc(all, func(a, b Neighbour) int {
		return int(math.Copysign(1, float64(b.Similarity-a.Similarity))) * b2i(a.Similarity != b.Similarity)
	})
	return all[:min(k, len(all))]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCopiesTie: equal rows rank by index, even if their float32 products differ.
func TestCopiesTie(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 17))
		d := 3 + rng.IntN(60)
		q, g := randomSet(rng, 20, d, 3, false), randomSet(rng, 10+rng.IntN(50), d, 3, false)
		for i := range g.Len() / 2 { // keep the labels: duplicates with other labels are label noise
			copy(g.Row(i), g.Row(i+g.Len()/2))
		}
		lists, err := Nearest(context.Background(), q, &g, g.Len(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var want Retrieval
		for i, list := range lists {
			for k := 1; k < len(list); k++ {
				if a, b := list[k-1].Row, list[k].Row; slices.Equal(g.Row(a), g.Row(b)) && a > b {
					t.Errorf("seed %d: query %d: duplicate %d is ranked before %d", seed, i, a, b)
				}
			}
			hits, all, ap := 0, 0, 0.0
			for _, label := range g.Labels {
				if label == q.Labels[i] {
					all++
				}
			}
			for k, n := range list[:all] {
				if g.Labels[n.Row] == q.Labels[i] {
					hits++
					ap += float64(hits) / float64(k+1) / float64(all)
				}
			}
			if all > 0 {
				want.N++
				want.MAPAtR += ap
			}
		}
		got, err := Retrieve(context.Background(), q, &g, RetrievalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.N != want.N || math.Abs(got.MAPAtR-want.MAPAtR/float64(max(want.N, 1))) > 1e-12 {
			t.Errorf("seed %d: MAP@R %v of %d queries, by the lists %v of %d", seed, got.MAPAtR, got.N,
				want.MAPAtR/float64(max(want.N, 1)), want.N)
		}
	}
}

// goldenSet turns rows into a normalised set.
func goldenSet(t *testing.T, rows [][]float64, labels []int) features.Set {
	t.Helper()
	s := features.NewSet(len(rows), len(rows[0]))
	copy(s.Labels, labels)
	for i, row := range rows {
		for j, v := range row {
			s.Row(i)[j] = float32(v)
		}
	}
	if err := features.Normalize(s.X); err != nil {
		t.Fatal(err)
	}
	return s
}

func goldenRetrieval(t *testing.T, c reference.Case) {
	onlyParams(t, c, "K", "self_excluded")
	if alone, ok := c.Params["self_excluded"].(bool); ok && alone == c.Has("gallery") {
		t.Fatalf("%s: self_excluded is %v, with a gallery: %v", c.Name, alone, c.Has("gallery"))
	}
	labelsOf := func(key string) []int { return c.Ints(t, key) }
	var ks []int
	for _, k := range c.Params["K"].([]any) {
		ks = append(ks, int(k.(float64)))
	}
	q := goldenSet(t, c.Matrix(t, "embeddings"), labelsOf("labels"))
	var gallery *features.Set
	if c.Has("gallery") {
		g := goldenSet(t, c.Matrix(t, "gallery"), labelsOf("gallery_labels"))
		gallery = &g
	}
	for _, lonely := range []bool{false, true} {
		got, err := Retrieve(context.Background(), q, gallery, RetrievalOptions{K: ks, CountLonely: lonely})
		if err != nil {
			t.Fatal(err)
		}
		suffix := ""
		if lonely {
			suffix = "_all_queries"
		}
		for _, k := range ks {
			if key := fmt.Sprintf("recall@%d%s", k, suffix); !(math.Abs(got.Recall[k]-c.Float(t, key)) <= 1e-8) {
				t.Errorf("%s: %s is %v, expected %v", c.Name, key, got.Recall[k], c.Float(t, key))
			}
		}
		if lonely {
			continue
		}
		if got.N != int(c.Float(t, "num_valid_queries")) {
			t.Errorf("%s: %d valid queries, expected %v", c.Name, got.N, c.Float(t, "num_valid_queries"))
		}
		for key, v := range map[string]float64{"precision_at_1": got.PrecisionAt1, "r_precision": got.RPrecision,
			"mean_average_precision_at_r": got.MAPAtR} {
			if !(math.Abs(v-c.Float(t, key)) <= 1e-8) {
				t.Errorf("%s: %s is %v, expected %v", c.Name, key, v, c.Float(t, key))
			}
		}
	}
	if c.Has("neighbours_top3") {
		lists, err := Nearest(context.Background(), q, gallery, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Matrix(t, "neighbours_top3") {
			for k := range want {
				if lists[i][k].Row != int(want[k]) {
					t.Errorf("%s: neighbour %d of %d is %d, expected %v", c.Name, k, i, lists[i][k].Row, want[k])
				}
			}
		}
	}
}

func goldenDetection(t *testing.T, c reference.Case) {
	onlyParams(t, c, "threshold", "rule")
	flags := func(key string) []bool {
		var raw []any
		c.Decode(t, key, &raw)
		out := make([]bool, len(raw))
		for i, v := range raw {
			switch v := v.(type) {
			case bool:
				out[i] = v
			case float64:
				out[i] = v != 0
			}
		}
		return out
	}
	scores, keep := c.Floats(t, "p_clean"), flags("keep")
	if rule := c.Params["rule"]; rule != nil && rule != "keep iff p_clean > threshold" {
		t.Errorf("%s: unknown rule %q", c.Name, rule)
	}
	for i, score := range scores {
		if bar := c.Param("threshold", 0.5); keep[i] != (score > bar) {
			t.Errorf("%s: sample %d with score %v: kept %v, threshold %v", c.Name, i, score,
				keep[i], bar)
		}
	}
	got, err := Detect(scores, flags("is_noisy"), keep)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]float64{
		"precision": got.Precision, "recall": got.Recall, "f1": got.F1,
		"filter_accuracy": got.FilterAccuracy, "keep_recall": got.KeepRecall, "auroc": got.AUROC,
		"average_precision": got.AP,
	} {
		// undefined values, such as the AUROC if no label is wrong, are replaced by a constant
		if want := c.Float(t, key); !(math.Abs(v-want) <= 1e-8*math.Max(1, want)) &&
			!(math.IsNaN(want) && !math.IsNaN(v)) {
			t.Errorf("%s: %s is %v, expected %v", c.Name, key, v, want)
		}
	}
}

// AUROC and AP agree with their definitions: over all pairs, and over every threshold.
func TestDetectAgainstDefinition(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := 2 + rng.IntN(40)
		scores, wrong, kept := make([]float64, n), make([]bool, n), make([]bool, n)
		for i := range n {
			scores[i], wrong[i], kept[i] = float64(rng.IntN(6))/5, rng.IntN(2) == 0, rng.IntN(2) == 0
		}
		wrong[0], wrong[1] = true, false
		got, err := Detect(scores, wrong, kept)
		if err != nil {
			t.Fatal(err)
		}
		pairs, won := 0.0, 0.0
		for i := range n {
			for j := range n {
				if wrong[i] && !wrong[j] {
					pairs++
					if scores[i] < scores[j] {
						won++
					} else if scores[i] == scores[j] {
						won += 0.5
					}
				}
			}
		}
		ap, before := 0.0, 0.0
		for level := range 6 { // ascending thresholds: score ≤ level/5
			found, taken := 0.0, 0.0
			for i := range n {
				if scores[i] <= float64(level)/5 {
					taken++
					if wrong[i] {
						found++
					}
				}
			}
			if taken > 0 {
				recall := found / float64(got.Wrong)
				ap += (recall - before) * found / taken
				before = recall
			}
		}
		if math.Abs(got.AUROC-won/pairs) > 1e-12 || math.Abs(got.AP-ap) > 1e-12 {
			t.Fatalf("seed %d: auroc %v, ap %v; expected %v, %v", seed, got.AUROC, got.AP, won/pairs, ap)
		}
	}
	if _, err := Detect([]float64{math.NaN()}, []bool{true}, []bool{true}); err == nil {
		t.Error("no error for a NaN score")
	}
}

// A repeated K is used once.
func TestRetrieveSameKTwice(t *testing.T) {
	s := randomSet(rand.New(rand.NewPCG(3, 3)), 40, 8, 4, false)
	once, err := Retrieve(context.Background(), s, nil, RetrievalOptions{K: []int{1, 4}})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Retrieve(context.Background(), s, nil, RetrievalOptions{K: []int{4, 1, 4, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("(-once +twice):\n%s", diff)
	}
}
