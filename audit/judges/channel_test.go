package judges

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/filters/leaveout"
)

// fieldOf returns the field of class centres, and a random fold for each image.
func fieldOf(t *testing.T, z features.Set, classes int) (*field, []int) {
	t.Helper()
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	f, order := newField(s.Z.Len(), len(s.Classes)), make([]int32, classes)
	s.Each(t.Context(), func(i, y int, row []float64) { f.storeSimilarities(i, y, row, order) })
	rng, folds := rand.New(rand.NewPCG(4, 4)), make([]int, f.n)
	for i := range folds {
		folds[i] = rng.IntN(3)
	}
	return f, folds
}

// The channel equals the result of expectation maximisation with a full class×label matrix.
func TestChannelAgainstLoops(t *testing.T) {
	z, _ := fine(5, 0.3)
	f, folds := fieldOf(t, z, 32)
	l := newLearner(t.Context(), f, folds, 3)
	const prior, beta = 7, 11
	l.prepareFolds(setting{beta, prior})
	c := l.fitWithout(1, setting{beta, prior})
	p := make([][]float64, f.n)
	for i := range p {
		p[i] = make([]float64, 32)
		for k := range p[i] {
			p[i][k] = beta * float64(f.fit[i*f.m+k])
		}
		features.Softmax(p[i], p[i])
	}
	rho := 0.2
	var channel [32][32]float64
	for k := range channel {
		for y := range channel[k] {
			channel[k][y] = rho / 31
		}
		channel[k][k] = 1 - rho
	}
	for range turns {
		var n [32][32]float64
		right, images := 0.0, 0.0
		for i, y := range z.Labels {
			if folds[i] == 1 {
				continue
			}
			total := 0.0
			for k := range 32 {
				total += p[i][k] * channel[k][y]
			}
			for k := range 32 {
				n[k][y] += p[i][k] * channel[k][y] / total
			}
			right += p[i][y] * channel[y][y] / total
			images++
		}
		rho = 1 - right/images
		for k := range channel {
			all := 0.0
			for _, v := range n[k] {
				all += v
			}
			for y := range channel[k] {
				pi := rho / 31
				if y == k {
					pi = 1 - rho
				}
				channel[k][y] = (n[k][y] + prior*pi) / (all + prior)
			}
		}
	}
	r := make([]float64, f.m)
	for i, y := range z.Labels {
		if rest, _ := c.fillShares(l, i, r); rest != 0 {
			t.Fatalf("image %d: rest %v, expected 0 as all classes are candidates", i, rest)
		}
		for k, v := range r {
			if folds[i] == 1 {
				// pairs that occur only in this fold have no slot count
				if want := p[i][k] * channel[k][y]; math.Abs(v-want) > 1e-5 {
					t.Fatalf("image %d, class %d: %v, by loops %v", i, k, v, want)
				}
			}
		}
	}
}

// The channel for a fold does not depend on the labels in the fold.
func TestChannelLeavesFoldsOut(t *testing.T) {
	z, _ := fine(6, 0.3)
	f, folds := fieldOf(t, z, 32)
	set := setting{15, 5}
	without := func(l *learner) channel {
		l.prepareFolds(set)
		return l.fitWithout(2, set)
	}
	before := without(newLearner(t.Context(), f, folds, 3))
	for i := range f.n {
		if folds[i] == 2 {
			f.given[i] = (f.given[i] + 1) % 32
		}
	}
	l := newLearner(t.Context(), f, folds, 3)
	if after := without(l); after.rho != before.rho {
		t.Errorf("ρ was %v, with other labels in the fold %v", before.rho, after.rho)
	}
	for i := range f.n {
		if folds[i] == 1 {
			f.given[i] = (f.given[i] + 1) % 32
		}
	}
	if after := without(newLearner(t.Context(), f, folds, 3)); after.rho == before.rho {
		t.Error("labels of the other folds do not change ρ, so this test cannot fail")
	}
}

// fitted finds more repeated mistakes than centres.
func TestFittedFindsConfusions(t *testing.T) {
	var plain, fitted float64
	for seed := range uint64(3) {
		z, truth := fine(seed, 0)
		rng := rand.New(rand.NewPCG(seed, 9))
		for i, y := range truth {
			if rng.Float64() < 0.3 {
				z.Labels[i] = (y + 1) % 32
			}
		}
		plain += auroc(t, judged(t, z, "centres"), z, truth) / 3
		fitted += auroc(t, judged(t, z, "fitted"), z, truth) / 3
	}
	if fitted < plain+0.02 {
		t.Errorf("fitted %.4f, centres %.4f", fitted, plain)
	}
	t.Logf("fitted %.4f, centres %.4f", fitted, plain)
}

// With many classes, the candidates are the nearest classes and the given class. Their probabilities are within a tenth
// of the softmax over all classes.
func TestFieldOfManyClasses(t *testing.T) {
	const classes, each, dim = 300, 4, 24
	rng := rand.New(rand.NewPCG(2, 2))
	z := features.NewSet(classes*each, dim)
	for i := range z.Len() {
		z.Labels[i] = i % classes
		for j := range dim {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
	}
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	f, order, rows := newField(s.Z.Len(), len(s.Classes)), make([]int32, classes), [][]float64{}
	s.Each(t.Context(), func(i, y int, row []float64) {
		f.storeSimilarities(i, y, row, order)
		rows = append(rows, append([]float64{}, row...))
	})
	if f.m != mostOf {
		t.Fatalf("%d candidates", f.m)
	}
	p, rest := make([]float32, f.n*f.m), make([]float32, f.n)
	const beta = 8
	f.softenField(beta, nil, p, rest)
	for i, row := range rows {
		own := f.column[i*f.m+int(f.given[i])]
		if int(own) != z.Labels[i] {
			t.Fatalf("image %d: given %d, found %d", i, z.Labels[i], own)
		}
		least, exact := math.Inf(1), make([]float64, classes)
		for j, k := range f.column[i*f.m:][:f.m] {
			if k != own {
				least = math.Min(least, row[k])
			}
			if float32(row[k]) != f.fit[i*f.m+j] {
				t.Fatalf("image %d: class %d has the similarity %v, found %v", i, k, row[k], f.fit[i*f.m+j])
			}
		}
		above := 0
		for k, v := range row {
			exact[k] = beta * v
			if v > least && k != int(own) {
				above++
			}
		}
		if above != f.m-2 {
			t.Errorf("image %d: %d candidates are nearer than the last, expected %d", i, above, f.m-2)
		}
		features.Softmax(exact, exact)
		if got := float64(p[i*f.m]); math.Abs(got-exact[f.column[i*f.m]]) > 0.1*got {
			t.Errorf("image %d: probability %v, over all classes %v", i, got, exact[f.column[i*f.m]])
		}
	}
}

// If wrong labels go into some classes only, fitted learns which classes: with one rate for all classes it finds 54 of
// these 63 label errors.
func TestFittedLearnsRatesOfClasses(t *testing.T) {
	z, truth := fine(8, 0)
	rng := rand.New(rand.NewPCG(8, 8))
	all := 0
	for i, k := range truth {
		if k >= 10 && rng.Float64() < 0.2 {
			z.Labels[i] = rng.IntN(10)
			all++
		}
	}
	v := judged(t, z, Fitted)
	flagged, wrong, expected := 0, 0, 0.0
	for i, score := range v.Score {
		if score < 0.5 {
			flagged++
			expected += 1 - score
			if z.Labels[i] != truth[i] {
				wrong++
			}
		}
	}
	if wrong < 56 || wrong < flagged-4 || math.Abs(expected-float64(wrong)) > 4 {
		t.Errorf("%d flagged, %.1f expected to be wrong, %d of %d label errors among them", flagged, expected, wrong,
			all)
	}
}
