package leaveout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters/leaveout"
)

func drawn(seed uint64, classes, each, dim int) features.Set {
	rng := rand.New(rand.NewPCG(seed, 3))
	z := features.NewSet(classes*each, dim)
	for i := range z.Len() {
		z.Labels[i] = i % classes
		for j := range dim {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
		z.Row(i)[i%classes] += 2
	}
	return z
}

func mixedParts(s *leaveout.Set, rng *rand.Rand) [][]leaveout.Part {
	parts := make([][]leaveout.Part, s.Z.Len())
	for i := range parts {
		k := rng.IntN(len(s.Classes))
		parts[i] = []leaveout.Part{{k, rng.Float64()}, {(k + 1) % len(s.Classes), rng.Float64()}}
	}
	return parts
}

// slow returns the similarities of x, of unit length, by plain loops from sums without image i; -1: from all images.
// For a duplicate, i is the image that represents it.
func slow(s *leaveout.Set, x []float32, i int, usual []float64) []float64 {
	c, d := len(s.Classes), s.Z.Dim()
	sums, weight, squares := make([]float64, c*d), make([]float64, c), make([]float64, c)
	var spread float64
	for j := range s.Z.Len() {
		for _, p := range s.Parts(j) {
			if j == i || s.Voice(j) != j {
				continue
			}
			for at, v := range s.Z.Row(j) {
				sums[p.Column*d+at] += p.Weight * float64(v)
			}
			weight[p.Column] += p.Weight
			squares[p.Column] += p.Weight * p.Weight
			spread += p.Weight
		}
	}
	row := make([]float64, c)
	if !leaveout.Uneven(weight) {
		for k := range row {
			row[k] = floats.Dot(unit(x), sums[k*d:][:d]) / floats.Norm(sums[k*d:][:d], 2)
		}
		return row
	}
	m := leaveout.NewMeans(sums, nil, weight, squares, spread, false)
	m.Usual = usual
	for k := range row {
		for at, v := range x {
			row[k] += float64(v) * sums[k*d+at] / weight[k]
		}
	}
	m.Compare(row, leaveout.Left{Square: 1, Spread: spread}, leaveout.NewWork(c))
	return row
}

func unit(x []float32) []float64 {
	v := make([]float64, len(x))
	for j := range x {
		v[j] = float64(x[j])
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

func TestAgainstLoops(t *testing.T) {
	for seed := range uint64(3) {
		s, err := leaveout.New(drawn(seed, 5, 7, 9), 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, mixed := range []bool{false, true} {
			if mixed {
				s.Share(mixedParts(s, rand.New(rand.NewPCG(seed, 1))))
			}
			spoiled := 0.0
			s.Each(t.Context(), func(i, y int, row []float64) {
				want, with := slow(s, s.Z.Row(i), i, s.Usual()), slow(s, s.Z.Row(i), -1, s.Usual())
				for k, v := range row {
					if math.Abs(v-want[k]) > 5e-6 {
						t.Errorf("image %d, class %d: %v, by loops %v", i, k, v, want[k])
					}
					spoiled = math.Max(spoiled, math.Abs(v-with[k]))
				}
			})
			if spoiled < 0.05 {
				t.Errorf("including the image changes similarities by only %v, so this test cannot fail", spoiled)
			}
		}
	}
}

// The means that an image is compared with do not depend on the image: its negative has the opposite similarity to
// every class, including its own.
func TestOwnVectorDoesNotCount(t *testing.T) {
	z := drawn(1, 4, 6, 8)
	rows := func() (first []float64) {
		s, err := leaveout.New(z, 4)
		if err != nil {
			t.Fatal(err)
		}
		s.Among(t.Context(), 0, 1, 1, func(_, _ int, row []float64) { first = append(first, row...) })
		return first
	}
	before := rows()
	for j := range z.Dim() {
		z.Row(0)[j] *= -1
	}
	for k, v := range rows() {
		if math.Abs(v+before[k]) > 1e-6 {
			t.Errorf("class %d: %v, for the opposite vector %v", k, before[k], v)
		}
	}
}

func TestUneven(t *testing.T) {
	for _, c := range []struct {
		images []float64
		want   bool
	}{{[]float64{30, 30}, false}, {[]float64{28, 12, 20}, false}, {[]float64{200, 100}, true},
		{[]float64{6, 2}, true}, {[]float64{290, 200}, false}, {[]float64{299, 6}, true}} {
		if got := leaveout.Uneven(c.images); got != c.want {
			t.Errorf("%v images: %v", c.images, got)
		}
	}
}

// A class with nearly all images and a small class far away are separated, although the mean of all images is within
// the large class. Uninformative labels are not favoured by class size.
func TestSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, sizes := range [][]int{{40, 40}, {300, 3}, {300, 6, 30}, {50, 2}, {2000, 6}, {200, 40}} {
		for _, far := range []float64{0, 3} {
			var z features.Set
			n := 0
			for _, of := range sizes {
				n += of
			}
			z = features.NewSet(n, 60)
			at := 0
			for k, of := range sizes {
				for range of {
					for j := range z.Dim() {
						z.Row(at)[j] = float32(rng.NormFloat64() / 3)
					}
					z.Row(at)[k] += float32(far)
					z.Labels[at] = k
					at++
				}
			}
			for i := range n {
				for k, of := range sizes { // the mean of all images is the origin, as for whitened vectors
					z.Row(i)[k] -= float32(far * float64(of) / float64(n))
				}
			}
			s, err := leaveout.New(z, len(sizes))
			if err != nil {
				t.Fatal(err)
			}
			right := make([]float64, len(sizes))
			s.Each(t.Context(), func(i, y int, row []float64) {
				best := 0
				for k, v := range row {
					if v > row[best] {
						best = k
					}
				}
				if best == y {
					right[y] += 1 / float64(sizes[y])
				}
			})
			mean := 0.0
			for _, share := range right {
				mean += share / float64(len(sizes))
			}
			if chance := 1 / float64(len(sizes)); far > 0 && slices.Min(right) < 0.9 ||
				far == 0 && slices.Min(sizes) > 5 && math.Abs(mean-chance) > 0.25 {
				t.Errorf("%v images, distance %v: share nearest to their own class: %.3f", sizes, far, right)
			}
		}
	}
}

func TestAmongSkips(t *testing.T) {
	s, err := leaveout.New(drawn(2, 3, 10, 6), 3)
	if err != nil {
		t.Fatal(err)
	}
	whole := map[int]float64{}
	s.Each(t.Context(), func(i, y int, row []float64) { whole[i] = row[0] })
	seen := 0
	s.Among(t.Context(), 1, 29, 4, func(i, y int, row []float64) {
		if want := 1 + 4*seen; i != want || math.Abs(row[0]-whole[i]) > 1e-6 || y != s.Z.Labels[i] {
			t.Errorf("image %d of class %d: %v, expected image %d: %v", i, y, row[0], want, whole[i])
		}
		seen++
	})
	if seen != 7 {
		t.Errorf("%d images, expected 7", seen)
	}
}

func TestSpread(t *testing.T) {
	s, err := leaveout.New(drawn(3, 4, 40, 16), 4)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	s.Share(mixedParts(s, rng))
	for k := range 4 {
		sum, weight, squares, length := make([]float64, 16), 0.0, 0.0, 0.0
		for i := range s.Z.Len() {
			for _, p := range s.Parts(i) {
				if p.Column == k {
					weight += p.Weight
					squares += p.Weight * p.Weight
					for j, v := range s.Z.Row(i) {
						sum[j] += p.Weight * float64(v)
					}
				}
			}
		}
		for _, v := range sum {
			length += v * v
		}
		got, want := s.Spread(k), leaveout.Spread{math.Sqrt(length) / weight, weight * weight / squares}
		if math.Abs(got.Length-want.Length) > 1e-6 || math.Abs(got.Count-want.Count) > 1e-6 {
			t.Errorf("class %d: %+v, by loops %+v", k, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	z := drawn(1, 3, 4, 5)
	for want, c := range map[string]struct {
		rows []int
		n    int
	}{
		"1 classes have two images or more":    {[]int{0, 1, 2, 3}, 3},
		"row 2: label 2, expected less than 2": {[]int{0, 1, 2}, 2},
	} {
		if _, err := leaveout.New(z.Rows(c.rows), c.n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// A set with duplicates gives the same similarities as the set without them. The comparison of a duplicate leaves out
// the image that represents it, and a mute image is in no sum, whatever its shares.
func TestHeard(t *testing.T) {
	z := drawn(4, 4, 8, 9)
	n := z.Len()
	rows := append(features.AllRows(n), 0, 0, 5, 6) // two duplicates of row 0; contradicting duplicates of 5 and 6
	whole := z.Rows(rows)
	whole.Labels[n+2] = (z.Labels[5] + 1) % 4
	whole.Labels[n+3] = (z.Labels[6] + 2) % 4
	voice := features.AllRows(whole.Len())
	voice[n], voice[n+1] = 0, 0
	for _, i := range []int{5, 6, n + 2, n + 3} {
		voice[i] = leaveout.Mute
	}
	s, err := leaveout.NewHeard(whole, 4, voice)
	if err != nil {
		t.Fatal(err)
	}
	var heard []int
	for i := range n {
		if voice[i] == i {
			heard = append(heard, i)
		}
	}
	alone, err := leaveout.New(z.Rows(heard), 4)
	if err != nil {
		t.Fatal(err)
	}
	parts := mixedParts(s, rand.New(rand.NewPCG(4, 4)))
	for range 2 {
		want := map[int][]float64{}
		alone.Each(t.Context(), func(i, _ int, row []float64) { want[heard[i]] = slices.Clone(row) })
		s.Each(t.Context(), func(i, _ int, row []float64) {
			for k, v := range row {
				expected := want[0]
				switch {
				case voice[i] == leaveout.Mute:
					expected = slow(alone, s.Z.Row(i), -1, alone.Usual())
				case voice[i] == i:
					expected = want[i]
				}
				if math.Abs(v-expected[k]) > 2e-6 {
					t.Errorf("image %d, class %d: %v, expected %v", i, k, v, expected[k])
				}
			}
		})
		var some [][]leaveout.Part
		for _, i := range heard {
			some = append(some, slices.Clone(parts[i]))
		}
		alone.Share(some)
		s.Share(parts)
	}
}
