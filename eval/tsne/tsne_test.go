package tsne

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"winnow/eval"
	"winnow/features"
)

// clusters draws unit rows around random centres; row i belongs to centre i % classes.
func clusters(n, d, classes int, spread float64, seed uint64) blas32.General {
	draw := rand.New(rand.NewPCG(seed, 1))
	centres := make([][]float64, classes)
	for k := range centres {
		for range d {
			centres[k] = append(centres[k], draw.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	x := features.NewMatrix(n, d)
	for i := range n {
		for j := range d {
			features.Row(x, i)[j] = float32(centres[i%classes][j] + spread*draw.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	if err := features.Normalize(x); err != nil {
		panic(err)
	}
	return x
}

func cloud(n int, seed uint64) []Point {
	draw := rand.New(rand.NewPCG(seed, 2))
	y := make([]Point, n)
	for i := range y {
		y[i] = Point{3 * draw.NormFloat64(), 2 * draw.NormFloat64()}
	}
	return y
}

// slowP returns P computed with plain loops over all pairs, including its zeros.
func slowP(t *testing.T, x blas32.General, k int, perplexity float64) [][]float64 {
	t.Helper()
	n := x.Rows
	p := make([][]float64, n)
	for i := range p {
		p[i] = make([]float64, n)
	}
	for i := range n {
		d, order := make([]float64, n), []int{}
		for j := range n {
			for c, v := range features.Row(x, i) {
				u := float64(v) - float64(features.Row(x, j)[c])
				d[j] += u * u
			}
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			switch {
			case d[a] < d[b]:
				return -1
			case d[a] > d[b]:
				return 1
			}
			return a - b
		})
		order = order[:k]
		at := func(beta float64) (weights []float64, entropy float64) {
			sum := 0.0
			for _, j := range order {
				weights = append(weights, math.Exp(-beta*(d[j]-d[order[0]])))
				sum += weights[len(weights)-1]
			}
			for j := range weights {
				weights[j] /= sum
				if weights[j] > 0 {
					entropy -= weights[j] * math.Log(weights[j])
				}
			}
			return weights, entropy
		}
		low, high := 0.0, 1e9
		for range 200 {
			if _, h := at((low + high) / 2); h > math.Log(perplexity) {
				low = (low + high) / 2
			} else {
				high = (low + high) / 2
			}
		}
		weights, _ := at(low)
		for j, w := range weights {
			p[i][order[j]] += w / float64(2*n)
			p[order[j]][i] += w / float64(2*n)
		}
	}
	return p
}

// slowKL returns the divergence by plain loops over all pairs; slowGradient returns its gradient.
func slowKL(p [][]float64, y []Point) (kl, z float64) {
	for i := range y {
		for j := range y {
			if i != j {
				z += 1 / (1 + distance2(y[i], y[j]))
			}
		}
	}
	for i := range y {
		for j := range y {
			if p[i][j] > 0 {
				kl += p[i][j] * math.Log(p[i][j]*(1+distance2(y[i], y[j]))*z)
			}
		}
	}
	return kl, z
}

func distance2(a, b Point) float64 { return (a.X-b.X)*(a.X-b.X) + (a.Y-b.Y)*(a.Y-b.Y) }

func dense(a affinity) [][]float64 {
	n := len(a.from) - 1
	p := make([][]float64, n)
	for i := range p {
		p[i] = make([]float64, n)
		for k := a.from[i]; k < a.from[i+1]; k++ {
			p[i][a.all[k].col] = a.all[k].p
		}
	}
	return p
}

func affinitiesOf(t *testing.T, x blas32.General, k int, perplexity float64) affinity {
	t.Helper()
	near, err := eval.Nearest(context.Background(), features.Set{X: x}, nil, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	return newAffinity(near, perplexity)
}

// farthest returns the largest difference of two matrices, relative to the largest entry.
func farthest(a, b [][]float64) float64 {
	worst, most := 0.0, 0.0
	for i := range a {
		for j := range a[i] {
			worst, most = max(worst, math.Abs(a[i][j]-b[i][j])), max(most, math.Abs(b[i][j]))
		}
	}
	return worst / most
}

func TestAffinities(t *testing.T) {
	x := clusters(60, 8, 4, 0.7, 3)
	want := slowP(t, x, 15, 5)
	if d := farthest(dense(affinitiesOf(t, x, 15, 5)), want); d > 1e-4 {
		t.Errorf("P differs from the plain loops by %.2g of its largest entry", d)
	}
	for name, other := range map[string]affinity{"another perplexity": affinitiesOf(t, x, 15, 5.1),
		"a neighbour less": affinitiesOf(t, x, 14, 5)} {
		if d := farthest(dense(other), want); d < 1e-3 {
			t.Errorf("%s passes the check: %.2g", name, d)
		}
	}
	sum := 0.0
	p := dense(affinitiesOf(t, x, 15, 5))
	for i := range p {
		for j := range p {
			sum += p[i][j]
			if p[i][j] != p[j][i] || i == j && p[i][j] != 0 {
				t.Fatalf("p[%d][%d] = %v, p[%d][%d] = %v", i, j, p[i][j], j, i, p[j][i])
			}
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("P sums to %v", sum)
	}
}

// The gradient equals the central differences of the divergence if the tree is exact, and is close otherwise.
func TestGradient(t *testing.T) {
	x := clusters(40, 8, 4, 0.7, 5)
	a := affinitiesOf(t, x, 12, 4)
	p, y := dense(a), cloud(40, 6)
	const h = 1e-5
	want := make([]Point, len(y))
	for i := range y {
		for _, side := range []struct{ at, to *float64 }{{&y[i].X, &want[i].X}, {&y[i].Y, &want[i].Y}} {
			was := *side.at
			*side.at = was + h
			up, _ := slowKL(p, y)
			*side.at = was - h
			down, _ := slowKL(p, y)
			*side.at, *side.to = was, (up-down)/(2*h)
		}
	}
	d := descent{p: a, y: y, theta: 1e-9}
	if off := gradientOff(d.pointGradients(1), want); off > 1e-7 {
		t.Errorf("the gradient is off by %.2g of its length", off)
	}
	if off := gradientOff(d.pointGradients(1.001), want); off < 1e-5 {
		t.Errorf("a gradient with too much attraction passes the check: %.2g", off)
	}
	if got, _ := slowKL(p, y); math.Abs(d.computeKL()-got) > 1e-12 {
		t.Errorf("KL %v, by loops %v", d.computeKL(), got)
	}
}

func gradientOff(got, want []Point) float64 {
	wrong, length := 0.0, 0.0
	for i := range want {
		wrong += distance2(got[i], want[i])
		length += distance2(want[i], Point{})
	}
	return math.Sqrt(wrong / length)
}

// The tree's repulsion is close to the exact repulsion at the usual theta, closer at a smaller theta, and exact at 0.
func TestTreeIsNearExact(t *testing.T) {
	y := cloud(3000, 7)
	copy(y[10:20], y[20:30]) // equal points
	exact, sum := make([]Point, len(y)), 0.0
	for i := range y {
		for j := range y {
			if i != j {
				q := 1 / (1 + distance2(y[i], y[j]))
				sum += q
				exact[i].X += q * q * (y[i].X - y[j].X)
				exact[i].Y += q * q * (y[i].Y - y[j].Y)
			}
		}
	}
	last := 1.0
	for _, c := range []struct{ theta, force, z float64 }{{0.5, 0.03, 1e-2}, {0.2, 5e-3, 2e-3}, {1e-9, 1e-12, 1e-12}} {
		d := descent{y: y, theta: c.theta}
		z := d.repelPoints()
		off := gradientOff(d.repelled, exact)
		if off > c.force || math.Abs(z-sum)/sum > c.z || off >= last {
			t.Errorf("theta %g: force off by %.2g of its length, Z by %.2g; expected at most %g, %g", c.theta, off,
				math.Abs(z-sum)/sum, c.force, c.z)
		}
		last = off
	}
}

// Every point is in exactly one leaf, every cell has the right points, and the traversal ends.
func TestTreeHoldsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		number := rapid.OneOf(rapid.Float64Range(-2, 2),
			rapid.SampledFrom([]float64{0, 1, math.Nextafter(1, 2), 1e-300, 1e12}))
		y := make([]Point, n)
		for i := range y {
			y[i] = Point{number.Draw(t, "x"), number.Draw(t, "y")}
		}
		var tr tree
		tr.buildTree(y)
		mass := 0.0
		for i, c := range tr.cells {
			if c.width2 < 0 {
				mass += c.mass
			}
			if int(c.next) <= i || int(c.next) > len(tr.cells) {
				t.Fatalf("cell %d of %d continues at %d", i, len(tr.cells), c.next)
			}
		}
		if mass != float64(n) || tr.cells[0].mass != float64(n) || len(tr.cells) > 2*n {
			t.Fatalf("%d points, %v in leaves, %d cells, %v in the root", n, mass, len(tr.cells), tr.cells[0].mass)
		}
		order := slices.Clone(tr.order)
		slices.Sort(order)
		for i, v := range order {
			if int(v) != i {
				t.Fatalf("the order is not a permutation: %v", tr.order)
			}
		}
	})
}

// Clusters stay together on the map, the divergence decreases, and the result is bit-identical for any number of cores.
func TestEmbed(t *testing.T) {
	x := clusters(400, 16, 5, 0.5, 9)
	for i := 10; i < 15; i++ { // equal rows
		copy(features.Row(x, i), features.Row(x, 10))
	}
	o := Options{Iterations: 400, Early: 100, Seed: 3, Perplexity: 10}
	y, r, err := Embed(t.Context(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Iterations != 400 || r.KL >= r.KLEarly || r.KL <= 0 || r.Neighbours != 30 {
		t.Errorf("%+v", r)
	}
	if share := sameNearest(y, 5); share < 0.97 {
		t.Errorf("share of points whose nearest is of the same cluster: %.2f, expected nearly 1", share)
	}
	if share := sameNearest(cloud(400, 3), 5); share > 0.5 {
		t.Errorf("a random map passes the check: %.2f", share)
	}
	was := runtime.GOMAXPROCS(1)
	again, _, err := Embed(t.Context(), x, o)
	runtime.GOMAXPROCS(was)
	if err != nil || !slices.Equal(y, again) {
		t.Errorf("the map depends on the number of cores: %v", err)
	}
	o.Seed++
	if other, _, err := Embed(t.Context(), x, o); err != nil || slices.Equal(y, other) {
		t.Errorf("another seed gives the same map: %v", err)
	}
}

// sameNearest returns the share of points whose nearest neighbour has the same cluster.
func sameNearest(y []Point, classes int) float64 {
	same := 0.0
	for i := range y {
		best, at := math.Inf(1), 0
		for j := range y {
			if d := distance2(y[i], y[j]); j != i && d < best {
				best, at = d, j
			}
		}
		if at%classes == i%classes {
			same++
		}
	}
	return same / float64(len(y))
}

func TestFewAndEqualRows(t *testing.T) {
	for _, n := range []int{5, 6, 40} {
		x := features.NewMatrix(n, 3)
		for i := range n {
			features.Row(x, i)[1] = 1
		}
		y, r, err := Embed(t.Context(), x, Options{Iterations: 300})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range y {
			if math.IsNaN(p.X + p.Y) {
				t.Fatalf("%d equal rows: %v %+v", n, y, r)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	good := clusters(20, 4, 2, 0.5, 1)
	long := clusters(20, 4, 2, 0.5, 1)
	long.Data[5] += 1
	none := clusters(20, 4, 2, 0.5, 1)
	none.Data[7] = float32(math.NaN())
	for _, c := range []struct {
		x    blas32.General
		o    Options
		want string
	}{
		{clusters(4, 4, 2, 0.5, 1), Options{}, "4 points, expected at least 5"},
		{long, Options{}, "row 1: squared norm"},
		{none, Options{}, "row 1: squared norm is NaN"},
		{good, Options{Perplexity: 0.5}, "perplexity is 0.5"},
		{good, Options{Perplexity: math.NaN()}, "perplexity is NaN"},
		{good, Options{Iterations: -1}, "-1 iterations"},
		{good, Options{Theta: 0.8}, "theta is 0.8"},
		{good, Options{Exaggeration: 0.5}, "exaggeration is 0.5"},
		{good, Options{LearningRate: -1}, "learning rate is -1"},
		{good, Options{LearningRate: 1e300}, "use a learning rate below"},
	} {
		if _, _, err := Embed(t.Context(), c.x, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.o, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := Embed(ctx, good, Options{Stepped: func(iteration int) {
		if iteration == 7 {
			cancel()
		}
		if iteration > 7 {
			panic("not stopped")
		}
	}})
	if err != context.Canceled {
		t.Errorf("stopped: %v", err)
	}
}

// The components equal a full eigenvalue decomposition, in few and in many dimensions.
func TestPCA(t *testing.T) {
	for _, d := range []int{1, 2, 5, 100} {
		x := clusters(300, d, 3, 0.6, 4)
		got, err := PCA(x)
		if err != nil {
			t.Fatal(err)
		}
		cov, mean := mat.NewSymDense(d, nil), make([]float64, d)
		for i := range x.Rows {
			for j, v := range features.Row(x, i) {
				mean[j] += float64(v) / float64(x.Rows)
			}
		}
		total := 0.0
		for a := range d {
			for b := a; b < d; b++ {
				sum := 0.0
				for i := range x.Rows {
					sum += (float64(features.Row(x, i)[a]) - mean[a]) * (float64(features.Row(x, i)[b]) - mean[b])
				}
				cov.SetSym(a, b, sum/float64(x.Rows))
			}
			total += cov.At(a, a)
		}
		var eigen mat.EigenSym
		eigen.Factorize(cov, true)
		all := eigen.Values(nil)
		var variance, cross float64
		for _, p := range got.Points {
			variance += p.X * p.X / float64(x.Rows)
			cross += p.X * p.Y / float64(x.Rows)
		}
		for k := range min(2, d) {
			if want := all[d-1-k]; math.Abs(got.Variance[k]-want) > 1e-5*all[d-1] ||
				math.Abs(got.Share[k]-want/total) > 1e-5 {
				t.Errorf("%d dimensions: variance %v and share %v along direction %d, expected %v and %v", d,
					got.Variance[k], got.Share[k], k, want, want/total)
			}
		}
		if math.Abs(variance-got.Variance[0]) > 1e-5*variance || math.Abs(cross) > 1e-5*variance {
			t.Errorf("%d dimensions: the points have variance %v and covariance %v, expected %v and 0", d, variance,
				cross, got.Variance[0])
		}
	}
	if _, err := PCA(features.NewMatrix(1, 3)); err == nil {
		t.Error("no error for one row")
	}
}

// BenchmarkEmbed checks the documented time of one minute for 10,000 points on two cores.
func BenchmarkEmbed(b *testing.B) {
	for _, d := range []int{64, 512} {
		x := clusters(10_000, d, 100, 0.8, 1)
		b.Run(map[int]string{64: "10000x64", 512: "10000x512"}[d], func(b *testing.B) {
			for range b.N {
				_, r, err := Embed(context.Background(), x, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.KL, "KL")
			}
		})
	}
}
