package noiserate_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// clusters draws classes as directions and gives a share of the rows another label, drawn uniformly or the next
// class.
func clusters(seed uint64, classes, each, dim int, rate float64, next bool) (z features.Set, wrong float64) {
	rng := source(seed)
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	z = features.NewSet(classes*each, dim)
	for i := range z.Len() {
		k := i % classes
		z.Labels[i] = k
		if rng.Float64() < rate {
			wrong++
			z.Labels[i] = (k + 1) % classes
			if !next {
				z.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
			}
		}
		for j := range dim {
			z.Row(i)[j] = centres.Data[k*dim+j] + float32(1.5*rng.NormFloat64())
		}
	}
	return z, wrong / float64(z.Len())
}

func estimate(t testing.TB, z features.Set, classes int, method string) noiserate.Estimate {
	t.Helper()
	e, err := noiserate.NewEstimate(t.Context(), z, classes, method, source(1))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Ranks must find the rate of random flips, and recognise clean labels as clean.
func TestRanksFindTheRate(t *testing.T) {
	for _, rate := range []float64{0, 0.1, 0.3, 0.5, 0.7} {
		for seed := range uint64(4) {
			z, wrong := clusters(seed, 30, 40, 32, rate, false)
			e := estimate(t, z, 30, noiserate.Ranks)
			// three standard deviations of twice a share, and a little for hard rows
			off := 0.01 + 6*math.Sqrt(rate/2*(1-rate/2)/1200)
			if math.Abs(e.Rate-wrong) > off || e.Low > e.Rate || e.High < e.Rate || e.High-e.Low > 0.12 || rate > 0 &&
				e.High == e.Low {
				t.Errorf("rate %v, seed %d: found %.3f [%.3f, %.3f], %.3f are wrong", rate, seed, e.Rate, e.Low,
					e.High, wrong)
			}
			if e.Judged != 1200 || len(e.Classes) != 30 {
				t.Errorf("%d rows judged, %d classes", e.Judged, len(e.Classes))
			}
		}
	}
}

// Likelihood must find the rate to two points in fine-grained classes of few images, which are hard to tell apart. Its
// interval must contain the truth, even for a dozen images without a wrong label.
func TestLikelihoodFindsTheRate(t *testing.T) {
	worse, held, cases := 0, 0, 0
	for _, rate := range []float64{0, 0.1, 0.2, 0.5} {
		for seed := range uint64(5) {
			z, wrong := clusters(seed, 60, 25, 24, rate, false)
			e, ranks := estimate(t, z, 60, noiserate.Likelihood), estimate(t, z, 60, noiserate.Ranks)
			if math.Abs(e.Rate-wrong) > 0.02+1.5*math.Sqrt(wrong*(1-wrong)/1500) {
				t.Errorf("rate %v, seed %d: found %.3f [%.3f, %.3f], %.3f are wrong", rate, seed, e.Rate, e.Low,
					e.High, wrong)
			}
			if cases++; e.Low <= wrong && wrong <= e.High {
				held++
			}
			if math.Abs(ranks.Rate-wrong) > math.Abs(e.Rate-wrong) {
				worse++
			}
		}
	}
	if held*100 < 85*cases || worse < cases*2/3 {
		t.Errorf("the interval held the truth in %d of %d cases; ranks were farther in %d", held, cases, worse)
	}
	z, _ := clusters(1, 3, 4, 16, 0, false)
	if e := estimate(t, z, 3, noiserate.Likelihood); e.Rate != 0 || e.Low != 0 || e.High < 0.1 || e.High > 0.5 {
		t.Errorf("a dozen images: %+v", e)
	}
}

// Every method rises with the rate; how accurate they are is left to the experiments.
func TestMethodsRiseWithTheRate(t *testing.T) {
	for _, method := range noiserate.Methods() {
		before := -1.0
		for _, rate := range []float64{0.1, 0.3, 0.5} {
			z, _ := clusters(3, 20, 40, 24, rate, false)
			e := estimate(t, z, 20, method)
			if e.Rate <= before {
				t.Errorf("%s: %.3f at rate %v, %.3f before", method, e.Rate, rate, before)
			}
			before = e.Rate
		}
	}
}

// slowRows returns every row's similarity to every class, leaving the row out; or its cosine to every class by loops,
// the row left in.
func slowRows(z features.Set, classes int, leaveOut bool) [][]float64 {
	if leaveOut { // package leaveout checks these by loops
		var rows [][]float64
		s, err := leaveout.New(z, classes)
		if err != nil {
			panic(err)
		}
		_ = s.Each(context.Background(), func(_, _ int, row []float64) { rows = append(rows, slices.Clone(row)) })
		return rows
	}
	unit := make([][]float64, z.Len())
	for i := range unit {
		var norm float64
		for _, v := range z.Row(i) {
			norm += float64(v) * float64(v)
		}
		for _, v := range z.Row(i) {
			unit[i] = append(unit[i], float64(v)/math.Sqrt(norm))
		}
	}
	out := make([][]float64, z.Len())
	for i := range unit {
		for k := range classes {
			sum := make([]float64, z.Dim())
			for j, u := range unit {
				if z.Labels[j] == k {
					for d := range sum {
						sum[d] += u[d]
					}
				}
			}
			var norm, along float64
			for d, v := range sum {
				norm += v * v
				along += v * unit[i][d]
			}
			out[i] = append(out[i], along/math.Sqrt(norm))
		}
	}
	return out
}

func slowRanks(z features.Set, classes int, leaveOut bool) float64 {
	half, n := (classes+1)/2, 0.0
	for i, row := range slowRows(z, classes, leaveOut) {
		rank := 1
		for _, s := range row {
			if s > row[z.Labels[i]] {
				rank++
			}
		}
		if rank > half {
			n++
		}
	}
	return n / float64(z.Len()) * float64(classes-1) / float64(classes-half)
}

func slowConfident(z features.Set, classes int) float64 {
	p := slowRows(z, classes, true)
	for i := range p {
		var sum float64
		for k := range p[i] {
			p[i][k] = math.Exp(p[i][k] / 0.05)
			sum += p[i][k]
		}
		for k := range p[i] {
			p[i][k] /= sum
		}
	}
	bar, count := make([]float64, classes), make([]float64, classes)
	for i, y := range z.Labels {
		bar[y] += p[i][y]
		count[y]++
	}
	joint := make([][]float64, classes)
	for k := range joint {
		joint[k] = make([]float64, classes)
	}
	for i, y := range z.Labels {
		best := -1
		for k := range p[i] {
			if p[i][k] >= bar[k]/count[k] && (best < 0 || p[i][k] > p[i][best]) {
				best = k
			}
		}
		if best >= 0 {
			joint[y][best]++
		}
	}
	off := 0.0
	for y := range joint {
		var sum float64
		for _, v := range joint[y] {
			sum += v
		}
		if sum > 0 {
			off += count[y] * (sum - joint[y][y]) / sum
		}
	}
	return off / float64(z.Len())
}

func TestAgainstLoops(t *testing.T) {
	for seed := range uint64(4) {
		for _, classes := range []int{2, 5, 8} {
			z, _ := clusters(seed, classes, 12, 10, 0.3, false)
			if got, want := estimate(t, z, classes, noiserate.Ranks).Rate,
				min(max(slowRanks(z, classes, true), 0), noiserate.Most); math.Abs(got-want) > 1e-12 {
				t.Errorf("ranks, seed %d, %d classes: %v, by loops %v", seed, classes, got, want)
			}
			if got, want := estimate(t, z, classes, noiserate.Confident).Rate,
				min(max(slowConfident(z, classes), 0), noiserate.Most); math.Abs(got-want) > 1e-12 {
				t.Errorf("confident, seed %d, %d classes: %v, by loops %v", seed, classes, got, want)
			}
		}
	}
}

// A row that takes part in its own judgement looks better than it is; the check above would detect it.
func TestLeavingOutMatters(t *testing.T) {
	z, _ := clusters(1, 8, 4, 64, 0.5, false)
	if in, out := slowRanks(z, 8, false), slowRanks(z, 8, true); in >= out {
		t.Errorf("judging itself %.3f, left out %.3f", in, out)
	}
}

func TestWhoIsJudged(t *testing.T) {
	z, _ := clusters(2, 6, 10, 12, 0.2, false)
	whole := estimate(t, z, 6, noiserate.Ranks)
	more := features.NewSet(z.Len()+2, z.Dim())
	copy(more.X.Data, z.X.Data)
	copy(more.Labels, z.Labels)
	for i := range 2 {
		copy(more.Row(z.Len()+i), z.Row(i))
	}
	more.Labels[z.Len()], more.Labels[z.Len()+1] = features.Unlabelled, 6 // the only one of its class
	e := estimate(t, more, 8, noiserate.Ranks)                            // class 7 is empty
	if e.Rate != whole.Rate || e.Judged != z.Len() || !slices.Equal(e.Classes[:6], whole.Classes) ||
		!math.IsNaN(e.Classes[6]) || !math.IsNaN(e.Classes[7]) {
		t.Errorf("%+v, without the two rows %+v", e, whole)
	}
}

func TestOrderAndNamesDoNotMatter(t *testing.T) {
	z, _ := clusters(4, 7, 15, 16, 0.3, false)
	order := source(9).Perm(z.Len())
	moved := z.Rows(order)
	for i := range moved.Labels {
		moved.Labels[i] = 6 - moved.Labels[i]
	}
	for _, method := range noiserate.Methods() {
		a, b := estimate(t, z, 7, method), estimate(t, moved, 7, method)
		if math.Abs(a.Rate-b.Rate) > 1e-5 {
			t.Errorf("%s: %v, rows moved and classes renamed %v", method, a.Rate, b.Rate)
		}
	}
}

func TestSmall(t *testing.T) {
	same := features.NewSet(6, 3)
	for i := range 6 {
		same.Labels[i] = i % 2
		same.Row(i)[0] = 1
	}
	opposite := features.NewSet(4, 2)
	for i := range 4 {
		opposite.Labels[i] = i / 2
		opposite.Row(i)[i/2] = float32(1 - 2*(i%2)) // the sum of a class is 0
	}
	for name, z := range map[string]features.Set{"equal": same, "opposite": opposite} {
		for _, method := range noiserate.Methods() {
			e := estimate(t, z, 2, method)
			if !(e.Rate >= 0 && e.Rate <= noiserate.Most && e.Low >= 0 && e.High <= noiserate.Most) {
				t.Errorf("%s, %s: %+v", name, method, e)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	z, _ := clusters(1, 3, 4, 5, 0, false)
	alone := z.Rows([]int{0, 1, 2, 3})
	zero := z.Rows([]int{0, 1, 2, 3, 4, 5})
	clear(zero.Row(1))
	short := z
	short.Labels = short.Labels[:3]
	for want, c := range map[string]struct {
		z      features.Set
		method string
		n      int
	}{
		`noise rate: method "guess" is unknown: known are likelihood, ranks, confident`: {z, "guess", 3},
		"noise rate: 1 classes have two images or more, expected at least two": {alone, noiserate.Ranks,
			3},
		"noise rate: row 2: label 2, expected one of 2 classes": {z, noiserate.Ranks, 2},
		"noise rate: 3 labels, expected one for each of 12 vectors": {short, noiserate.Ranks,
			3},
		"noise rate: features: row 1: squared norm is 0, expected a positive finite number": {zero, noiserate.Ranks, 3},
	} {
		if _, err := noiserate.NewEstimate(t.Context(), c.z, c.n, c.method, source(1)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
