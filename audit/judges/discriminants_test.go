package judges

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters/leaveout"
)

// drawGaussians returns classes of the given sizes around means that differ in one of d directions, by two standard
// deviations; the other directions vary ten times as much.
func drawGaussians(sizes []int, d int, rng *rand.Rand) features.Set {
	n := 0
	for _, size := range sizes {
		n += size
	}
	z := features.NewSet(n, d)
	i := 0
	for class, size := range sizes {
		for range size {
			z.Labels[i] = class
			for j, row := 0, z.Row(i); j < d; j++ {
				row[j] = float32(10 * rng.NormFloat64())
			}
			z.Row(i)[0] = float32(float64(2*class) + rng.NormFloat64())
			i++
		}
	}
	return z
}

// newDiscriminantBench returns a bench whose stored vectors are stored, compared by the same vectors as unit rows.
func newDiscriminantBench(t *testing.T, stored features.Set, classes int) *bench {
	t.Helper()
	all := make([]int, stored.Len())
	for i := range all {
		all[i] = i
	}
	z := stored.Rows(all)
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{ctx: context.Background(), s: s, v: Verdict{Opinion: Undecided(z.Labels)},
		opts: Options{Folds: 5, Rand: rand.New(rand.NewPCG(3, 4)), Stored: z}}
}

// Probabilities out of fold must be those of Gaussians with a common covariance and class priors, to the precision with
// which 3,200 images determine them.
func TestDiscriminantsEstimateClassProbabilities(t *testing.T) {
	stored := drawGaussians([]int{2000, 1000, 200}, 4, rand.New(rand.NewPCG(1, 2)))
	for i := range stored.Len() { // a large common component, so that unit rows are nearly a linear map of the vectors
		stored.Row(i)[3] = 1e4
	}
	seen, off := 0, 0.0
	b := newDiscriminantBench(t, stored, 3)
	err := b.visitDiscriminants(func(row int, p []float64) {
		want, x := make([]float64, 3), float64(stored.Row(row)[0])
		for k, n := range []float64{2000, 1000, 200} {
			want[k] = math.Log(n) - (x-float64(2*k))*(x-float64(2*k))/2
		}
		features.Softmax(want, want)
		off += floats.Distance(p, want, 1) / float64(stored.Len())
		seen++
	})
	if err != nil || seen != stored.Len() {
		t.Fatalf("visited %d rows: %v", seen, err)
	}
	if off > 0.05 {
		t.Errorf("the probabilities of an image are off by %.3f on average", off)
	}
}

// The labels of a class less than a third as large as the largest stay as they are; others are pooled.
func TestDiscriminantsLeaveSmallClasses(t *testing.T) {
	b := newDiscriminantBench(t, drawGaussians([]int{60, 40, 8}, 6, rand.New(rand.NewPCG(5, 6))), 3)
	f, _, err := b.newWhitenedField(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, gain := range []float64{0, believed} {
		all, changed := f.newPool(), make([]int, 3)
		if err := b.addDiscriminants(f, all, gain); err != nil {
			t.Fatal(err)
		}
		for i := range f.n {
			if floats.Norm([]float64{float64(all.candidates[i*f.m]), float64(all.candidates[i*f.m+1])}, 1) > 0 {
				changed[b.s.Z.Labels[i]]++
			}
		}
		want := []int{60, 40, 0}
		if gain > 0 { // where classes are confused, discriminants have no weight
			want = []int{0, 0, 0}
		}
		for k := range want {
			if changed[k] != want[k] {
				t.Errorf("gain %v: class %d: %d labels changed, expected %d", gain, k, changed[k], want[k])
			}
		}
	}
}

// Classes of identical images, and fewer images than dimensions, leave no covariance within the classes.
func TestDiscriminantsOfIdenticalImages(t *testing.T) {
	stored := drawGaussians([]int{12, 12}, 64, rand.New(rand.NewPCG(7, 8)))
	for i := range stored.Len() {
		copy(stored.Row(i), stored.Row(i/12*12))
	}
	err := newDiscriminantBench(t, stored, 2).visitDiscriminants(func(row int, p []float64) {
		if p[row/12] < 0.9 || p[0]+p[1] > 1+1e-9 {
			t.Errorf("image %d: probabilities %v", row, p)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
