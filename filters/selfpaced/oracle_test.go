package selfpaced

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"winnow/features"
)

// cloud returns n unit vectors in classes around random directions.
func cloud(n, dim, classes int, noise float64, rng *rand.Rand) features.Set {
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	z := features.NewSet(n, dim)
	for i := range n {
		z.Labels[i] = rng.IntN(classes)
		for j, c := range features.Row(centres, z.Labels[i]) {
			z.Row(i)[j] = c + float32(noise*rng.NormFloat64())
		}
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return z
}

// The functions below compute the formulas with slow loops in float64, without code of the package.

func slowLosses(c Config, z features.Set) Losses {
	n := z.Len()
	l := Losses{make([]float64, n), make([]float64, n)}
	for i := range n {
		var pos, neg float64
		for j := range n {
			s := 0.0
			for k, v := range z.Row(i) {
				s += float64(v) * float64(z.Row(j)[k])
			}
			switch {
			case i == j:
			case z.Labels[i] == z.Labels[j]:
				pos += math.Exp(-c.Alpha * (s - c.Base))
			default:
				neg += math.Exp(c.Beta * (s - c.Base))
			}
		}
		l.Pos[i], l.Neg[i] = math.Log(1+pos)/c.Alpha, math.Log(1+neg)/c.Beta
	}
	return l
}

// slowObjective returns eq. 6, computed pair by pair and class by class.
func slowObjective(labels []int, l Losses, lambda, mu float64, w []float64) float64 {
	size, mean := map[int]float64{}, map[int]float64{}
	for i, c := range labels {
		size[c]++
		mean[c] += w[i]
	}
	for c := range mean {
		mean[c] /= size[c]
	}
	total, others := 0.0, float64(len(size)-1)
	for i, c := range labels {
		for p, k := range labels {
			switch {
			case i == p:
			case k == c:
				total += w[i] * w[p] / size[c] / (size[c] - 1) * l.Pos[i]
			default:
				total += w[i] * w[p] / size[c] / size[k] / others * l.Neg[i]
			}
		}
	}
	for c := range size {
		total -= lambda * mean[c]
		for k := range size {
			if c < k {
				total += mu / others * (mean[c] - mean[k]) * (mean[c] - mean[k])
			}
		}
	}
	return total
}

// someProblem returns a random problem: 20 samples in at most 5 classes, some of which have a single sample.
func someProblem(rng *rand.Rand) (*problem, []int) {
	labels := make([]int, 20)
	for i := range labels {
		labels[i] = 7 * min(rng.IntN(5), rng.IntN(6))
	}
	labels[3] = 100
	l := Losses{make([]float64, len(labels)), make([]float64, len(labels))}
	w := make([]float64, len(labels))
	for i := range w {
		l.Pos[i], l.Neg[i], w[i] = rng.Float64(), rng.Float64(), rng.Float64()
	}
	return newProblem(newGrouping(labels), l, rng.Float64(), 3*rng.Float64(), w), labels
}

func TestObjectiveAndGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		p, labels := someProblem(rng)
		near(t, "objective", p.computeObjective(), slowObjective(labels, p.Losses, p.lambda, p.mu, p.w), 1e-12, 1e-12)
		if off := gradientError(p, labels, p.exactGradient); off > 1e-7 {
			t.Errorf("the gradient is off by %v", off)
		}
		for name, spoiled := range map[string]func(a int) parts{
			"no balance":    func(a int) parts { g := p.exactGradient(a); g.balance = 0; return g },
			"half balance":  func(a int) parts { g := p.exactGradient(a); g.balance /= 2; return g },
			"no own ξ⁺":     func(a int) parts { g := p.exactGradient(a); g.positive -= 0.01 * p.Pos[a]; return g },
			"signs changed": func(a int) parts { g := p.exactGradient(a); g.negative = -g.negative; return g },
		} {
			if off := gradientError(p, labels, spoiled); off < 1e-4 {
				t.Errorf("%s: off by only %v, so this test cannot fail", name, off)
			}
		}
	}
}

// gradientError returns the largest difference of the gradient from central differences of the slow objective.
func gradientError(p *problem, labels []int, gradient func(a int) parts) (off float64) {
	const h = 1e-4
	for a, w := range p.w {
		p.w[a] = w + h
		up := slowObjective(labels, p.Losses, p.lambda, p.mu, p.w)
		p.w[a] = w - h
		down := slowObjective(labels, p.Losses, p.lambda, p.mu, p.w)
		p.w[a] = w
		off = max(off, math.Abs(p.weightSlope(gradient(a))/p.classSize(a)-(up-down)/(2*h)))
	}
	return off
}

// TestDrawnGradientIsUnbiased: the mean of sampled gradients over many draws is the complete gradient.
func TestDrawnGradientIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	p, _ := someProblem(rng)
	d := descent{problem: p, classes: 2, perClass: 2}
	const draws = 20_000
	for a := range 6 {
		var sum, square [2]float64
		for range draws {
			d.drawStep(a, rng)
			g := d.gradientOf(a, d.same, d.others)
			for k, v := range []float64{g.positive, g.negative} {
				sum[k] += v / draws
				square[k] += v * v / draws
			}
		}
		want := p.exactGradient(a)
		for k, v := range []float64{want.positive, want.negative} {
			sd := math.Sqrt(max(0, square[k]-sum[k]*sum[k]) / draws)
			if math.Abs(sum[k]-v) > 5*sd+1e-9 {
				t.Errorf("coordinate %d, part %d: mean %v, expected %v ± %v", a, k, sum[k], v, sd)
			}
		}
	}
	// sampling is without replacement, so a large enough sample is complete
	d.classes, d.perClass = 100, 100
	for a := range p.w {
		d.drawStep(a, rng)
		got, want := d.gradientOf(a, d.same, d.others), p.exactGradient(a)
		near(t, "G_p", got.positive, want.positive, 1e-12, 1e-12)
		near(t, "G_n", got.negative, want.negative, 1e-12, 1e-12)
	}
}

func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(0, 300).Draw(t, "k")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		got := drawDistinct([]int{-7}, n, k, rng)
		if len(got) != 1+min(n, k) || got[0] != -7 {
			t.Fatalf("%d of %d: found %v", k, n, got)
		}
		for i, v := range got[1:] {
			if v < 0 || v >= n || i > 0 && v <= got[i] {
				t.Fatalf("%d of %d: found %v", k, n, got)
			}
		}
	})
	rng := rand.New(rand.NewPCG(1, 2))
	count := make([]float64, 10)
	for range 10_000 {
		for _, v := range drawDistinct(nil, 10, 3, rng) {
			count[v]++
		}
	}
	for v, c := range count { // binomial with a standard deviation of 46
		if math.Abs(c-3000) > 230 {
			t.Errorf("%d drawn %v times of 10000, expected about 3000", v, c)
		}
	}
}

// TestSumsFollow: the sums updated by setWeight equal recomputed sums.
func TestSumsFollow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	p, _ := someProblem(rng)
	for range 500 {
		p.setWeight(rng.IntN(len(p.w)), rng.Float64())
	}
	fresh := newProblem(p.grouping, p.Losses, p.lambda, p.mu, p.w)
	for a := range p.w {
		got, want := p.exactGradient(a), fresh.exactGradient(a)
		near(t, "slope", p.weightSlope(got), fresh.weightSlope(want), 1e-11, 1e-11)
	}
}

// TestStepScaled: a scaled step does not depend on the class size, but a printed step does.
func TestStepScaled(t *testing.T) {
	p, _ := someProblem(rand.New(rand.NewPCG(5, 5)))
	for a, w := range p.w {
		g := p.exactGradient(a)
		scaled := descent{problem: p, rate: 0.1}
		scaled.moveWeight(a, g)
		near(t, "scaled", p.w[a], min(1, max(0, w-0.1*p.weightSlope(g))), 1e-12, 1e-12)
		p.setWeight(a, w)
		printed := descent{problem: p, rate: 0.1, printed: true}
		printed.moveWeight(a, g)
		near(t, "printed", p.w[a], min(1, max(0, w-0.1*p.weightSlope(g)/p.classSize(a))), 1e-12, 1e-12)
		p.setWeight(a, w)
	}
}
