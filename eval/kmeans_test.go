package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

func rows64(s features.Set) [][]float64 {
	out := make([][]float64, s.Len())
	for i := range out {
		for _, v := range s.Row(i) {
			out[i] = append(out[i], float64(v))
		}
	}
	return out
}

// bestInertia returns the least inertia over all partitions of the rows into at most k parts.
func bestInertia(rows [][]float64, k int) float64 {
	best, of := math.Inf(1), make([]int, len(rows))
	var place func(i, used int)
	place = func(i, used int) {
		if i == len(rows) {
			best = min(best, slowInertia(rows, of))
			return
		}
		for c := range min(used+1, k) {
			of[i] = c
			place(i+1, max(used, c+1))
		}
	}
	place(0, 0)
	return best
}

func TestKMeansFindsTheBestPartition(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := features.NewSet(4+rng.IntN(5), 1+rng.IntN(3))
		for i := range s.X.Data {
			s.X.Data[i] = float32(rng.NormFloat64())
		}
		for k := 1; k <= 4; k++ {
			got, err := KMeans(context.Background(), s.X, k, KMeansOptions{Seed: seed, Starts: 60})
			if err != nil {
				t.Fatal(err)
			}
			if want := bestInertia(rows64(s), k); math.Abs(got.Inertia-want) > 1e-6*(1+want) {
				t.Errorf("seed %d, %d rows, k %d: inertia %v, expected %v", seed, s.Len(), k, got.Inertia, want)
			}
			if err := fixedPoint(rows64(s), got); err != nil {
				t.Errorf("seed %d, k %d: %v", seed, k, err)
			}
		}
	}
}

// fixedPoint checks with plain loops that the centres are the means of their rows, that every row belongs to its
// nearest centre, and that the inertia is right.
func fixedPoint(rows [][]float64, c Clusters) error {
	if got := slowInertia(rows, c.Of); math.Abs(got-c.Inertia) > 1e-6*(1+got) {
		return fmt.Errorf("inertia %v, expected %v", c.Inertia, got)
	}
	distance := func(i, k int) float64 {
		sum := 0.0
		for j, v := range features.Row(c.Centres, k) {
			sum += (rows[i][j] - float64(v)) * (rows[i][j] - float64(v))
		}
		return sum
	}
	total := 0.0
	for i, own := range c.Of {
		total += distance(i, own)
		for k := range c.Centres.Rows {
			if d := distance(i, k); d < distance(i, own)-1e-5 {
				return fmt.Errorf("row %d is %v from its centre %d and %v from centre %d", i,
					distance(i, own), own, d, k)
			}
		}
	}
	if math.Abs(total-c.Inertia) > 1e-5*(1+total) {
		return fmt.Errorf("inertia %v from the centres, expected %v from the means", total, c.Inertia)
	}
	return nil
}

func TestKMeansLarger(t *testing.T) {
	ctx := context.Background()
	s := blobs(4, 700, 24, 30, 1)
	got, err := KMeans(ctx, s.X, 30, KMeansOptions{Seed: 9})
	if err != nil || !got.Converged {
		t.Fatal(err, got.Iterations)
	}
	if err := fixedPoint(rows64(s), got); err != nil {
		t.Error(err)
	}
	again, err := KMeans(ctx, s.X, 30, KMeansOptions{Seed: 9})
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("a second run with the same seed differs (%v):\n%s", err, diff)
	}
	blocked, err := KMeans(ctx, s.X, 30, KMeansOptions{Seed: 9, MaxMem: 30 * 4 * 11})
	if err != nil || !slices.Equal(got.Of, blocked.Of) {
		t.Errorf("in blocks of 11 rows the partition differs (%v)", err)
	}
	other, err := KMeans(ctx, s.X, 30, KMeansOptions{Seed: 10, Starts: 1})
	if err != nil || slices.Equal(got.Of, other.Of) {
		t.Errorf("another seed gives the same partition (%v)", err)
	}
	few, err := KMeans(ctx, s.X, 30, KMeansOptions{Seed: 9, Iterations: 1, Starts: 1})
	if err != nil || few.Converged || few.Iterations != 1 ||
		math.Abs(few.Inertia-slowInertia(rows64(s), few.Of)) > 1e-6*few.Inertia {
		t.Errorf("one iteration: %d, converged %v, inertia %v (%v)", few.Iterations, few.Converged, few.Inertia, err)
	}
	if few.Inertia < got.Inertia {
		t.Errorf("inertia %v of five complete starts, expected at most %v of one iteration", got.Inertia, few.Inertia)
	}
}

func TestKMeansDegenerate(t *testing.T) {
	same := features.NewSet(9, 3)
	for i := range same.Len() {
		copy(same.Row(i), []float32{0.1, 0.2, 0.7})
	}
	three := features.NewSet(30, 2)
	for i := range three.Len() {
		copy(three.Row(i), []float32{float32(i % 3), 1e3})
	}
	for _, c := range []struct {
		name     string
		set      features.Set
		k, parts int
	}{
		{"one row", same.Rows([]int{0}), 5, 1},
		{"equal rows", same, 4, 1},
		{"three distinct rows", three, 7, 3},
		{"as many clusters as rows", blobs(1, 12, 4, 3, 1), 12, 12},
		{"more", blobs(1, 12, 4, 3, 1), 500, 12},
		{"one cluster", blobs(1, 12, 4, 3, 1), 1, 1},
	} {
		got, err := KMeans(context.Background(), c.set.X, c.k, KMeansOptions{Seed: 2})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		parts := slices.Compact(slices.Sorted(slices.Values(got.Of)))
		if len(parts) != c.parts || !got.Converged || math.IsNaN(got.Inertia) || c.parts > 1 && got.Inertia > 1e-6 {
			t.Errorf("%s: %d clusters, expected %d; %+v", c.name, len(parts), c.parts, got)
		}
	}
	// Far from the origin, float32 products would consist of rounding error if the rows were not centred.
	far := blobs(5, 200, 6, 4, 0.1)
	near, err := KMeans(context.Background(), far.X, 4, KMeansOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range far.X.Data {
		far.X.Data[i] += 3000
	}
	got, err := KMeans(context.Background(), far.X, 4, KMeansOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := Agree(near.Of, got.Of); err != nil || a.ARI != 1 {
		t.Errorf("rows shifted by 3000: the partition differs, ARI %v (%v)", a.ARI, err)
	}
}

func TestKMeansDoor(t *testing.T) {
	s := blobs(1, 10, 4, 2, 1)
	spoilt := s.Rows([]int{0, 1, 2})
	spoilt.Row(1)[2] = float32(math.NaN())
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	for name, run := range map[string]func() error{
		"no cluster": func() error { _, err := KMeans(context.Background(), s.X, 0, KMeansOptions{}); return err },
		"no row": func() error {
			_, err := KMeans(context.Background(), features.NewMatrix(0, 4), 2, KMeansOptions{})
			return err
		},
		"NaN": func() error { _, err := KMeans(context.Background(), spoilt.X, 2, KMeansOptions{}); return err },
		"no memory": func() error {
			_, err := KMeans(context.Background(), s.X, 8, KMeansOptions{MaxMem: 4})
			return err
		},
		"cancelled": func() error { _, err := KMeans(cancelled, s.X, 2, KMeansOptions{}); return err },
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An empty cluster gets the farthest row among clusters with several rows, never the only row of a cluster.
func TestFill(t *testing.T) {
	of, far := []int{0, 0, 0, 3, 0}, []float64{1, 5, 2, 9, 0}
	var g groups
	g.sortClusters(of, 5)
	g.fillEmpty(of, far)
	if want := []int{4, 1, 2, 3, 0}; !slices.Equal(of, want) {
		t.Errorf("rows are in %v, expected %v", of, want)
	}
	for k := range 5 {
		if len(g.clusterRows(k)) != 1 {
			t.Errorf("cluster %d has the rows %v, expected one row", k, g.clusterRows(k))
		}
	}
	of, far = []int{0, 0, 0}, []float64{0, 0, 0}
	g.sortClusters(of, 2)
	if g.fillEmpty(of, far); !slices.Equal(of, []int{0, 0, 0}) {
		t.Errorf("a row at distance 0 was moved: %v", of)
	}
}

// copies returns n rows of which only some are distinct. They are so long that their products are rounded.
func copies(distinct, n, d int) features.Set {
	rng := rand.New(rand.NewPCG(8, 8))
	s := features.NewSet(n, d)
	for i := range n {
		for j := range d {
			if s.Row(i)[j] = float32(rng.NormFloat64()); i >= distinct {
				s.Row(i)[j] = s.Row(i % distinct)[j]
			}
		}
	}
	return s
}

// Rounding must not make equal rows look distinct, neither when centres are drawn nor when an empty cluster gets a row.
func TestKMeansOfCopies(t *testing.T) {
	s := copies(5, 60, 77)
	for seed := range uint64(5) {
		got, err := KMeans(context.Background(), s.X, 9, KMeansOptions{Seed: seed, Starts: 1})
		if err != nil || got.Centres.Rows != 5 || !got.Converged || got.Inertia != 0 {
			t.Errorf("seed %d: %d centres of 5 distinct rows, converged %v, inertia %v (%v)", seed, got.Centres.Rows,
				got.Converged, got.Inertia, err)
		}
	}
	p, err := newPoints(s.X, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.runLloyd(context.Background(), features.Set{X: p.x}.Rows([]int{0, 5, 1, 2, 3, 4, 9}).X, 50)
	if err != nil || !got.Converged || got.Inertia > 1e-20 {
		t.Errorf("from repeated centres: converged %v, inertia %v (%v)", got.Converged, got.Inertia, err)
	}
}

// A centre that is nearest to no row gets a row, and its cluster is kept.
func TestLloydFillsEmptyClusters(t *testing.T) {
	s := blobs(6, 120, 6, 4, 0.5)
	p, err := newPoints(s.X, 0)
	if err != nil {
		t.Fatal(err)
	}
	from := features.Set{X: p.x}.Rows([]int{0, 1, 2, 3, 4}).X
	for j := range 6 {
		features.Row(from, 2)[j] = 100
		features.Row(from, 4)[j] = -100
	}
	got, err := p.runLloyd(context.Background(), from, 100)
	if err != nil || !got.Converged {
		t.Fatal(err, got.Iterations)
	}
	if err := fixedPoint(rows64(features.Set{X: p.x}), got); err != nil {
		t.Error(err)
	}
	if parts := slices.Compact(slices.Sorted(slices.Values(got.Of))); len(parts) != 5 {
		t.Errorf("rows are in the clusters %v, expected all five", parts)
	}
}
