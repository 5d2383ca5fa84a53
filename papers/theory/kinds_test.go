package theory

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/losses"
)

// example returns n unit rows of dimension d, each near a direction of its class, with some wrong labels.
func example(t *testing.T, n, d, classes int) (blas32.General, Labels) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x, l := features.NewMatrix(n, d), Labels{}
	for i := range n {
		class := rng.IntN(classes)
		for k := range d {
			x.Data[i*d+k] = float32(rng.NormFloat64())
		}
		x.Data[i*d+class] += 2
		l.True, l.Given = append(l.True, class), append(l.Given, class)
		if rng.Float64() < 0.3 {
			l.Given[i] = rng.IntN(classes)
		}
	}
	if err := features.Normalize(x); err != nil {
		t.Fatal(err)
	}
	return x, l
}

// listed returns the cosines of each kind of pairs, computed by two loops in float64.
func listed(x blas32.General, l Labels) map[string][]float64 {
	all := map[string][]float64{}
	for i := range x.Rows {
		for j := range i {
			kind := "negatives"
			if l.Given[i] == l.Given[j] {
				kind = "positives"
			}
			if (l.Given[i] == l.Given[j]) == (l.True[i] == l.True[j]) {
				kind = "true " + kind
			} else {
				kind = "false " + kind
			}
			sum := 0.0
			for k := range x.Cols {
				sum += float64(x.Data[i*x.Stride+k]) * float64(x.Data[j*x.Stride+k])
			}
			all[kind] = append(all[kind], sum)
		}
	}
	return all
}

// differs returns the largest difference between measured and listed values, as a multiple of its tolerance. It returns
// 0 if all differences are within their tolerances.
func differs(c Cosines, all map[string][]float64) (worst float64) {
	off := func(a, b, within float64) {
		if d := math.Abs(a-b) / within; d > 1 || d != d {
			worst = max(worst, d)
		}
	}
	for _, d := range c.Kinds {
		list := slices.Sorted(slices.Values(all[d.Kind.String()]))
		off(float64(d.Pairs), float64(len(list)), 0.5)
		if len(list) == 0 || len(list) != d.Pairs {
			continue
		}
		sum, bins := 0.0, make([]int, Bins)
		for _, v := range list {
			sum += v
			bins[findBin(v)]++
		}
		off(d.Mean, sum/float64(len(list)), 1e-6)
		moved := 0
		for b := range bins {
			moved += max(bins[b]-d.Counts[b], 0)
		}
		off(float64(moved), 0, 2.5) // rounding to float32 may move a cosine to the next bin
	}
	return worst
}

// TestMeasureCosines tests that every number agrees with two plain loops for any block size, and that true labels
// shifted by a row are detected.
func TestMeasureCosines(t *testing.T) {
	x, l := example(t, 157, 12, 5)
	all := listed(x, l)
	spoiled := Labels{Given: l.Given, True: append(slices.Clone(l.True[1:]), l.True[0])}
	for _, high := range []int{1, 7, 156, 157} {
		found, err := measureBlocks(t.Context(), x, high, []Labels{l, spoiled})
		if err != nil {
			t.Fatal(err)
		}
		if d := differs(found[0], all); d != 0 {
			t.Errorf("blocks of %d rows: differs by %.3g times the tolerance", high, d)
		}
		if d := differs(found[1], all); d == 0 {
			t.Error("true labels of other rows made no difference")
		}
	}
	whole, err := measureCosines(t.Context(), x, l)
	if err != nil || differs(whole[0], all) != 0 {
		t.Errorf("error %v, difference %v, expected neither", err, differs(whole[0], all))
	}
	if _, err := measureCosines(t.Context(), features.Part(x, 0, 1), l); err == nil {
		t.Error("expected an error for a single image, which has no pairs")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := measureCosines(ctx, x, l); err == nil {
		t.Error("expected the error of a cancelled context")
	}
}

// TestOverlap tests the overlap of a distribution with itself and with half-overlapping, disjoint and empty ones.
func TestOverlap(t *testing.T) {
	of := func(at ...float64) Distribution {
		var t tally
		for _, v := range at {
			t.of[0][findBin(v)]++
		}
		return t.newDistribution(0)
	}
	a, half, far, none := of(-1, -0.5, 0.5, 1), of(-0.7, 0.7, 0.5, 1), of(-0.9, -0.8), of()
	for _, c := range []struct{ found, want float64 }{
		{computeOverlap(a, a), 1}, {computeOverlap(a, half), 0.5}, {computeOverlap(a, far), 0},
		{computeOverlap(a, none), 0}, {computeOverlap(none, a), 0},
	} {
		if math.Abs(c.found-c.want) > 1e-12 {
			t.Errorf("found %v, expected %v", c.found, c.want)
		}
	}
}

// TestMeter compares the counts and |∂L/∂s| of two batches with plain loops and with the formula of SupCon's slopes.
func TestMeter(t *testing.T) {
	const temperature = 0.2
	supcon := judge(t, "supcon", map[string]any{"temperature": temperature})
	m, err := newMeter([]Judge{supcon})
	if err != nil {
		t.Fatal(err)
	}
	count, weight := map[Kind]int{}, map[Kind]float64{}
	for n := range 2 {
		x, l := example(t, 40+n, 8, 4)
		z := features.Set{X: x, Labels: l.Given, IDs: make([]int, x.Rows)}
		for i := range z.IDs {
			z.IDs[i] = i
		}
		z.IDs[3] = z.IDs[2] // one image twice
		l.Given[3], l.True[3] = l.Given[2], l.True[2]
		m.Add(z, l)
		supconSlopes(z, l, temperature, count, weight)
	}
	s := m.sumSignals()
	total := 0.0
	for _, w := range weight {
		total += w
	}
	for _, kind := range Kinds() {
		if s.Pairs[kind] != count[kind] || math.Abs(s.Losses[0].Shares[kind]-weight[kind]/total) > 1e-5 {
			t.Errorf("%v: found %d and %v, expected %d and %v", kind, s.Pairs[kind], s.Losses[0].Shares[kind],
				count[kind], weight[kind]/total)
		}
	}
	fp, fn := float64(count[FalsePositive]), float64(count[FalseNegative])
	pfp, pfn := fp/(fp+float64(count[TruePositive])), fn/(fn+float64(count[TrueNegative]))
	mean := func(k Kind) float64 { return weight[k] / float64(count[k]) }
	for _, c := range []struct{ found, want float64 }{
		{s.PFP, pfp}, {s.PFN, pfn}, {s.OfRates, pfp / (pfp + pfn)}, {s.OfPairs, fp / (fp + fn)},
		{s.Losses[0].OfWrong, weight[FalsePositive] / (weight[FalsePositive] + weight[FalseNegative])},
		{s.Losses[0].Weight, mean(FalsePositive) / mean(TruePositive)},
	} {
		if math.Abs(c.found-c.want) > 1e-5 {
			t.Errorf("found %v, expected %v", c.found, c.want)
		}
	}
	if s.Batches != 2 || s.Rows != 81 {
		t.Errorf("%d batches of %d rows", s.Batches, s.Rows)
	}
	if _, err := newMeter([]Judge{judge(t, "proxy_nca", nil)}); err == nil {
		t.Error("expected an error for a loss of proxies, which has no pairs")
	}
	if empty, _ := newMeter(nil); empty.sumSignals().OfRates != 0 {
		t.Error("expected a share of 0 without pairs")
	}
}

func judge(t *testing.T, name string, settings map[string]any) Judge {
	t.Helper()
	loss, err := losses.New(name, settings, losses.Env{Dim: 8, Classes: 4, Init: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	return Judge{name, loss}
}

// supconSlopes adds up |softmax_A - 1_P/|P||/t over the anchors with a positive, divided by their number.
func supconSlopes(z features.Set, l Labels, temperature float64, count map[Kind]int, weight map[Kind]float64) {
	n, anchors := z.Len(), 0.0
	own := map[Kind]float64{}
	for i := range n {
		e, sum, positives := make([]float64, n), 0.0, 0.0
		for j := range n {
			if z.IDs[i] == z.IDs[j] {
				continue
			}
			dot := 0.0
			for k, v := range z.Row(i) {
				dot += float64(v) * float64(z.Row(j)[k])
			}
			e[j] = math.Exp(dot / temperature)
			sum += e[j]
			if l.Given[i] == l.Given[j] {
				positives++
			}
			count[l.Kind(i, j)]++
		}
		if positives == 0 {
			continue
		}
		anchors++
		for j := range n {
			if z.IDs[i] == z.IDs[j] {
				continue
			}
			slope := e[j] / sum
			if l.Given[i] == l.Given[j] {
				slope -= 1 / positives
			}
			own[l.Kind(i, j)] += math.Abs(slope) / temperature
		}
	}
	for kind, v := range own {
		weight[kind] += v / anchors
	}
}

// TestBalance tests that FP - FN is the number of positive pairs minus the number of pairs of the same true class, so
// that FP = FN if labels are only exchanged.
func TestBalance(t *testing.T) {
	x, l := example(t, 60, 8, 4)
	l.Given = slices.Clone(l.True)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		i, j := rng.IntN(60), rng.IntN(60)
		l.Given[i], l.Given[j] = l.Given[j], l.Given[i]
	}
	m, err := newMeter(nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Add(features.Set{X: x, Labels: l.Given}, l)
	s := m.sumSignals()
	if s.OfPairs != 0.5 || s.PFP <= s.PFN || l.computeWrongShare() == 0 {
		t.Errorf("found %+v, expected as many false positives as false negatives", s)
	}
}
