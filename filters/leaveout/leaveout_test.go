package leaveout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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

// slow returns the similarity of image i to class k by loops; self includes the image.
func slow(s *leaveout.Set, i, k int, self bool) float64 {
	d := s.Z.Dim()
	sum := make([]float64, d)
	for j := range s.Z.Len() {
		for _, p := range s.Parts(j) {
			if p.Column == k && (j != i || self) {
				for c, v := range s.Z.Row(j) {
					sum[c] += p.Weight * float64(v)
				}
			}
		}
	}
	var norm, along float64
	for c, v := range sum {
		norm += v * v
		along += v * float64(s.Z.Row(i)[c])
	}
	return along / math.Sqrt(norm)
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
				for k, v := range row {
					if want := slow(s, i, k, false); math.Abs(v-want) > 2e-6 {
						t.Errorf("image %d, class %d: %v, by loops %v", i, k, v, want)
					}
					spoiled = math.Max(spoiled, math.Abs(v-slow(s, i, k, true)))
				}
			})
			if spoiled < 0.05 {
				t.Errorf("an image that judges itself differs by %v only: the check would not see it", spoiled)
			}
		}
	}
}

// What an image is compared with does not depend on the image: negated, it has the opposite similarity to every
// class, including its own.
func TestOwnVectorDoesNotCount(t *testing.T) {
	z := drawn(1, 4, 6, 8)
	rows := func(z features.Set) (first []float64) {
		s, err := leaveout.New(z, 4)
		if err != nil {
			t.Fatal(err)
		}
		s.Among(t.Context(), 0, 1, 1, func(_, _ int, row []float64) { first = append(first, row...) })
		return first
	}
	before := rows(z)
	for j := range z.Dim() {
		z.Row(0)[j] *= -1
	}
	for k, v := range rows(z) {
		if math.Abs(v+before[k]) > 1e-6 {
			t.Errorf("class %d: %v, of the opposite vector %v", k, before[k], v)
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
		"1 classes have two images or more": {[]int{0, 1, 2, 3}, 3},
		"row 2: label 2, expected one of 2": {[]int{0, 1, 2}, 2},
	} {
		if _, err := leaveout.New(z.Rows(c.rows), c.n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// A set with copies is compared as the set without them: what a copy is compared with leaves out the image that counts
// for it, and nothing counts a mute image, in whatever classes it has a share.
func TestHeard(t *testing.T) {
	z := drawn(4, 4, 8, 9)
	n := z.Len()
	rows := append(features.AllRows(n), 0, 0, 5, 6) // two copies of row 0; 5 and 6 have contradicting copies
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
					sum := make([]float64, 9)
					for at := range alone.Z.Len() {
						for _, p := range alone.Parts(at) {
							for j, x := range alone.Z.Row(at) {
								if p.Column == k {
									sum[j] += p.Weight * float64(x)
								}
							}
						}
					}
					along, norm := 0.0, 0.0
					for j, x := range sum {
						along += x * float64(s.Z.Row(i)[j])
						norm += x * x
					}
					expected = make([]float64, 4)
					expected[k] = along / math.Sqrt(norm)
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
