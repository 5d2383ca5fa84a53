package judges

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
	"winnow/filters/leaveout"
)

func metricOf(t *testing.T, z features.Set, classes int) *metric {
	t.Helper()
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMetric(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// slowly returns the similarities of x, computed directly from all images other than i; i < 0: from all images.
func slowly(m *metric, lambda float64, x []float32, i int) []float64 {
	z, c := m.s.Z, len(m.s.Classes)
	d := z.Dim()
	vector := func(x []float32) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		for at := range x {
			v.SetVec(at, float64(x[at]))
		}
		return v
	}
	squares := mat.NewSymDense(d, nil)
	for j := range z.Len() {
		if j != i {
			squares.SymRankOne(squares, 1, vector(z.Row(j)))
		}
	}
	for at := range d {
		squares.SetSym(at, at, squares.At(at, at)+lambda*m.mean)
	}
	var by mat.Cholesky
	if !by.Factorize(squares) {
		panic("the metric is singular")
	}
	var root mat.TriDense
	by.LTo(&root)
	mean := mat.NewVecDense(d, nil) // mean of the others; the mean of all is at the origin
	if i >= 0 {
		for j := range z.Len() {
			if j != i {
				mean.AddScaledVec(mean, 1/float64(z.Len()-1), vector(z.Row(j)))
			}
		}
	}
	turn := func(x []float32) []float64 { // to a space where dot products are those of the metric
		v := vector(x)
		v.SubVec(v, mean)
		if err := v.SolveVec(&root, v); err != nil {
			panic(err)
		}
		return v.RawVector().Data
	}
	sums, count, spread := make([]float64, c*d), make([]float64, c), 0.0
	for j := range z.Len() {
		if j != i {
			k, v := m.s.Column[z.Labels[j]], turn(z.Row(j))
			floats.Add(sums[k*d:][:d], v)
			count[k]++
			spread += floats.Dot(v, v)
		}
	}
	if own, row := turn(x), make([]float64, c); !leaveout.Uneven(count) {
		for k := range row {
			sum := sums[k*d:][:d]
			row[k] = floats.Dot(own, sum) / (floats.Norm(own, 2) * floats.Norm(sum, 2))
		}
		return row
	}
	means := leaveout.NewMeans(sums, nil, count, count, spread, false)
	scale, all := m.scaleEigenvalues(lambda)
	means.Usual = leaveout.NewMeans(m.sums, scale, m.count, m.count, all, true).Usual
	own, row := turn(x), make([]float64, c)
	for k := range row {
		row[k] = floats.Dot(own, sums[k*d:][:d]) / count[k]
	}
	means.Compare(row, leaveout.Left{Square: floats.Dot(own, own), Spread: spread}, leaveout.NewWork(c))
	return row
}

func TestMetricAgainstLoops(t *testing.T) {
	z, _ := fine(3, 0.3)
	z = z.Rows(rand.New(rand.NewPCG(1, 1)).Perm(z.Len())[:150])
	m := metricOf(t, z, 32)
	for i, twin := range m.twin {
		best, at := math.Inf(-1), -1
		for j := range m.s.Z.Len() {
			if v := dotOf(m.s.Z.Row(i), m.s.Z.Row(j)); j != i && m.s.Z.Labels[i] == m.s.Z.Labels[j] && v > best {
				best, at = v, j
			}
		}
		if twin != at {
			t.Fatalf("image %d: nearest %d, by loops %d", i, twin, at)
		}
	}
	for _, lambda := range []float64{0.3, 10} {
		spoiled := 0.0
		m.visitSimilarities(t.Context(), lambda, true, 29, func(i, y int, row []float64) {
			want, with := slowly(m, lambda, m.s.Z.Row(i), i), slowly(m, lambda, m.s.Z.Row(i), -1)
			for k, v := range row {
				if math.Abs(v-want[k]) > 1e-4 {
					t.Errorf("λ %v, image %d, class %d (own %d): %v, by loops %v", lambda, i, k, y, v, want[k])
				}
			}
			spoiled = math.Max(spoiled, math.Abs(row[y]-with[y]))
		})
		if spoiled < 0.05 {
			t.Errorf("including the image changes similarities by only %v, so this test cannot fail", spoiled)
		}
	}
}

func dotOf(a, b []float32) float64 {
	var sum float32
	for j, v := range a {
		sum += v * b[j]
	}
	return float64(sum)
}

// Duplicates do not change the similarities of other images. A duplicate has the similarities of the image that
// represents it. A mute image is compared with sums that do not include it.
func TestMetricHearsCopiesOnce(t *testing.T) {
	z, _ := fine(3, 0.3)
	z = z.Rows(rand.New(rand.NewPCG(1, 1)).Perm(z.Len())[:150])
	n := z.Len()
	whole := z.Rows(append(features.AllRows(n), 3, 3, 7))
	whole.Labels[n+2] = (z.Labels[7] + 1) % 32
	voice := features.AllRows(n + 3)
	voice[n], voice[n+1], voice[7], voice[n+2] = 3, 3, leaveout.Mute, leaveout.Mute
	s, err := leaveout.NewHeard(whole, 32, voice)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMetric(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var heard []int
	for i := range n {
		if i != 7 {
			heard = append(heard, i)
		}
	}
	alone := metricOf(t, z.Rows(heard), 32)
	if !slices.Equal(alone.s.Classes, s.Classes) {
		t.Fatal("duplicates change the set of classes")
	}
	for _, twins := range []bool{true, false} {
		want, seen := map[int][]float64{}, 0
		alone.visitSimilarities(t.Context(), 1, twins, 1, func(i, _ int, row []float64) {
			want[heard[alone.s.Rows[i]]] = slices.Clone(row)
		})
		m.visitSimilarities(t.Context(), 1, twins, 1, func(i, y int, row []float64) {
			at := s.Rows[i]
			switch {
			case at >= n && at < n+2:
				at = 3
			case at == 7 || at == n+2:
				expected := slowly(alone, 1, s.Z.Row(i), -1) // sums over the others, without the mute image
				for k, v := range row {
					if math.Abs(v-expected[k]) > 1e-4 {
						t.Errorf("mute image %d, class %d: %v, expected %v", at, k, v, expected[k])
					}
				}
				return
			}
			seen++
			for k, v := range row {
				if math.Abs(v-want[at][k]) > 1e-4 {
					t.Errorf("image %d, class %d: %v, without copies %v", at, k, v, want[at][k])
				}
			}
		})
		if seen < n-1 {
			t.Errorf("only %d images are compared", seen)
		}
	}
}
