package judges

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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

// slowly returns the similarity of image i to class k with everything computed from the other images alone, including
// their mean; with self, image i is left in.
func slowly(m *metric, lambda float64, i, k int, twins, self bool) float64 {
	z := m.s.Z
	d := z.Dim()
	squares, sum := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	phi := func(j int) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		for c, x := range z.Row(j) {
			v.SetVec(c, float64(x))
		}
		return v
	}
	mean, count := mat.NewVecDense(d, nil), 0.0
	for j := range z.Len() {
		if j != i || self {
			mean.AddVec(mean, phi(j))
			count++
		}
	}
	mean.ScaleVec(1/count, mean)
	centred := func(j int) *mat.VecDense {
		v := phi(j)
		v.SubVec(v, mean)
		return v
	}
	for j := range z.Len() {
		if j == i && !self {
			continue
		}
		squares.SymRankOne(squares, 1, phi(j))
		own := m.s.Column[z.Labels[i]] == k
		if m.s.Column[z.Labels[j]] == k && (twins || !own || j != m.twin[i]) {
			sum.AddVec(sum, centred(j))
		}
	}
	for c := range d {
		squares.SetSym(c, c, squares.At(c, c)+lambda*m.mean)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(squares); err != nil {
		panic(err)
	}
	inner := func(a, b *mat.VecDense) float64 { return mat.Inner(a, &inverse, b) }
	return inner(centred(i), sum) / math.Sqrt(inner(centred(i), centred(i))*inner(sum, sum))
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
			t.Fatalf("image %d: its nearest is %d, by loops %d", i, twin, at)
		}
	}
	for _, lambda := range []float64{0.3, 10} {
		for _, twins := range []bool{true, false} {
			spoiled := 0.0
			m.each(t.Context(), lambda, twins, 29, func(i, y int, row []float64) {
				for k, v := range row {
					if !twins && k == y && m.s.Parts(i)[0].Column == k && len(rowsWith(m.s, k)) < 3 {
						continue // nothing is left
					}
					if want := slowly(m, lambda, i, k, twins, false); math.Abs(v-want) > 1e-4 {
						t.Errorf("λ %v, twins %v, image %d, class %d (own %d): %v, by loops %v", lambda, twins, i, k,
							y, v, want)
					}
				}
				spoiled = math.Max(spoiled, math.Abs(row[y]-slowly(m, lambda, i, y, twins, true)))
			})
			if spoiled < 0.05 {
				t.Errorf("an image that judges itself differs by %v only: the check would not see it", spoiled)
			}
		}
	}
}

func rowsWith(s *leaveout.Set, column int) (rows []int) {
	for i, y := range s.Z.Labels {
		if s.Column[y] == column {
			rows = append(rows, i)
		}
	}
	return rows
}

// Without whitening it is the cosine to the class centre, both relative to the mean.
func TestMetricOfCentres(t *testing.T) {
	z, _ := fine(4, 0.2)
	m := metricOf(t, z, 32)
	m.each(t.Context(), 1e7, true, 41, func(i, y int, row []float64) {
		rest := m.s.Z
		for k, v := range row {
			var of []int
			for _, j := range rowsWith(m.s, k) {
				if j != i {
					of = append(of, j)
				}
			}
			mean, centre := meanBut(rest, i, nil), meanBut(rest, i, of)
			var along, own, norm float64
			for j, x := range rest.Row(i) {
				a, b := float64(x)-mean[j], centre[j]-mean[j]
				along, own, norm = along+a*b, own+a*a, norm+b*b
			}
			if want := along / math.Sqrt(own*norm); math.Abs(v-want) > 1e-4 {
				t.Fatalf("image %d, class %d: %v, by loops %v", i, k, v, want)
			}
		}
	})
}

// meanBut returns the mean of the named rows, or for nil of all but row i.
func meanBut(z features.Set, i int, rows []int) []float64 {
	if rows == nil {
		for j := range z.Len() {
			if j != i {
				rows = append(rows, j)
			}
		}
	}
	mean := make([]float64, z.Dim())
	for _, row := range rows {
		for j, v := range z.Row(row) {
			mean[j] += float64(v) / float64(len(rows))
		}
	}
	return mean
}

func dotOf(a, b []float32) float64 {
	var sum float32
	for j, v := range a {
		sum += v * b[j]
	}
	return float64(sum)
}

// Copies change nothing for other images, a copy is compared as the image that counts for it, and a mute image as one
// that is in no sum.
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
		t.Fatal("other classes are compared")
	}
	for _, twins := range []bool{true, false} {
		want, seen := map[int][]float64{}, 0
		alone.each(t.Context(), 1, twins, 1, func(i, _ int, row []float64) {
			want[heard[alone.s.Rows[i]]] = slices.Clone(row)
		})
		m.each(t.Context(), 1, twins, 1, func(i, y int, row []float64) {
			at := s.Rows[i]
			switch {
			case at >= n && at < n+2:
				at = 3
			case at == 7 || at == n+2:
				for k, v := range row { // a mute image in a set of the others, left in: no sum has it
					if expected := silent(alone, s.Z.Row(i), k); math.Abs(v-expected) > 1e-4 {
						t.Errorf("mute image %d, class %d: %v, expected %v", at, k, v, expected)
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
			t.Errorf("%d images are compared", seen)
		}
	}
}

// silent compares a vector that is in no sum with a class, by loops.
func silent(m *metric, x []float32, k int) float64 {
	z := m.s.Z
	n, d := z.Len(), z.Dim()
	squares, mean := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	vector := func(x []float32) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		for c := range x {
			v.SetVec(c, float64(x[c]))
		}
		return v
	}
	for j := range n {
		squares.SymRankOne(squares, 1, vector(z.Row(j)))
		mean.AddScaledVec(mean, 1/float64(n), vector(z.Row(j)))
	}
	for c := range d {
		squares.SetSym(c, c, squares.At(c, c)+m.mean)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(squares); err != nil {
		panic(err)
	}
	a, sum := vector(x), mat.NewVecDense(d, nil)
	a.SubVec(a, mean)
	for j := range n {
		if m.s.Column[z.Labels[j]] == k {
			sum.AddVec(sum, vector(z.Row(j)))
			sum.SubVec(sum, mean)
		}
	}
	inner := func(a, b *mat.VecDense) float64 { return mat.Inner(a, &inverse, b) }
	return inner(a, sum) / math.Sqrt(inner(a, a)*inner(sum, sum))
}
