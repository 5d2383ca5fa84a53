package leaveout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/leaveout"
)

// unitRows draws rows of unit length; every seventh has no label, and one is alone in its class.
func unitRows(n, d, classes int) features.Set {
	rng := rand.New(rand.NewPCG(3, 4))
	s := features.NewSet(n, d)
	for i := range n {
		for j := range d {
			s.Row(i)[j] = float32(0.3 + rng.NormFloat64())
		}
		features.UnitRow(s.Row(i), s.Row(i))
		if s.Labels[i] = rng.IntN(classes - 1); i%7 == 0 {
			s.Labels[i] = features.Unlabelled
		}
	}
	s.Labels[1] = classes - 1
	return s
}

// The order in which blocks are added changes no bit of the sums.
func TestSums(t *testing.T) {
	s := unitRows(96, 5, 4)
	add := func(order ...int) *leaveout.Sums {
		sums := leaveout.NewSums(5, 4)
		for _, b := range order {
			if err := sums.Add(features.Part(s.X, b*16, 16), s.Labels[b*16:][:16]); err != nil {
				t.Fatal(err)
			}
		}
		return sums
	}
	sums := add(0, 1, 2, 3, 4, 5)
	if diff := cmp.Diff(sums, add(4, 0, 5, 2, 1, 3)); diff != "" {
		t.Error(diff)
	}
	mean, covariance := sums.Moments()
	for i := range 5 {
		for j := range 5 {
			var a, b, ab float64
			for r := range 96 {
				x, y := float64(s.Row(r)[i]), float64(s.Row(r)[j])
				a, b, ab = a+x/96, b+y/96, ab+x*y/96
			}
			if math.Abs(mean[i]-a) > 1e-9 || math.Abs(covariance.At(i, j)-(ab-a*b)) > 1e-6 {
				t.Errorf("%d, %d: found %v, %v, expected %v, %v", i, j, mean[i], covariance.At(i, j), a, ab-a*b)
			}
		}
	}
	if err := sums.Add(s.X, make([]int, 3)); err == nil {
		t.Error("rows without labels were added")
	}
}

// Rows are compared with the sums of the whole without themselves: checked by loops.
func TestWholeCompare(t *testing.T) {
	s := unitRows(80, 5, 4)
	sums := leaveout.NewSums(5, 4)
	if err := sums.Add(s.X, s.Labels); err != nil {
		t.Fatal(err)
	}
	weight, bias := blas32.General{Rows: 5, Cols: 3, Stride: 3,
		Data: []float32{1, 0, 0.5, 0, 2, 0, -1, 0, 1, 0.25, 1, 0, 0, 0, 3}}, []float32{0.1, -0.2, 0.3}
	w, err := sums.Turned(weight, bias)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Classes, []int{0, 1, 2}) || w.Column[3] != -1 {
		t.Fatalf("classes %v, columns %v", w.Classes, w.Column)
	}
	const from, n = 20, 30
	got := w.Compare(features.Part(s.X, from, n), s.Labels[from:][:n])
	seen := 0
	err = got.Each(t.Context(), func(at, y int, row []float64) {
		i := from + got.Rows[at]
		if s.Labels[i] != w.Classes[y] {
			t.Errorf("row %d: column %d, label %d", i, y, s.Labels[i])
		}
		var spread, square float64
		x, of, without, products := make([]float64, 3), make([]float64, 3), make([]float64, 9), make([]float64, 3)
		for r, label := range s.Labels {
			for j := range 3 {
				v := float64(bias[j])
				for k, f := range s.Row(r) {
					v += float64(f) * float64(weight.Data[k*3+j])
				}
				if r == i {
					x[j] = v
					square += v * v
				}
				if label != features.Unlabelled && w.Column[label] >= 0 && r != i {
					without[label*3+j] += v
				}
			}
			if label != features.Unlabelled && w.Column[label] >= 0 && r != i {
				of[label]++
			}
		}
		for k := range products {
			for j, v := range x {
				products[k] += v * without[k*3+j] / of[k]
			}
		}
		spread = w.Total - square
		m := leaveout.NewMeans(without, nil, of, of, spread, false)
		m.Usual = got.Usual()
		m.Compare(products, leaveout.Left{Square: square, Spread: spread}, leaveout.NewWork(3))
		for c, k := range w.Classes {
			if math.Abs(row[c]-products[c]) > 1e-5 {
				t.Errorf("row %d, class %d: found %v, expected %v", i, k, row[c], products[c])
			}
		}
		seen++
	})
	if err != nil || seen != len(got.Rows) || seen < 20 || seen == n {
		t.Errorf("%d of %d rows, %v", seen, n, err)
	}
}
