package filters

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// The scorers as slow loops over the members in float64, directly from the formulas, sharing nothing with the
// package: similarities pair by pair, and the vMF normaliser as an integral.

// cosines returns z·v for every member v.
func cosines(z []float32, members features.Set) []float64 {
	out := make([]float64, members.Len())
	for m := range out {
		for j, v := range members.Row(m) {
			out[m] += float64(z[j]) * float64(v)
		}
	}
	return out
}

// slowMeans returns the mean similarity to, and the size of, every class.
func slowMeans(z []float32, w world) (means []float64, counts []int) {
	means, counts = make([]float64, w.classes), make([]int, w.classes)
	for m, s := range cosines(z, w.members) {
		means[w.members.Labels[m]] += s
		counts[w.members.Labels[m]]++
	}
	for k := range means {
		if counts[k] > 0 {
			means[k] /= float64(counts[k])
		}
	}
	return means, counts
}

// slowSoftmax returns e^{l_y}/Σ e^{l_k} over the classes for which counted is true.
func slowSoftmax(l []float64, y int, counted func(k int) bool) float64 {
	var sum float64
	for k := range l {
		if counted(k) {
			sum += math.Exp(l[k] - l[y])
		}
	}
	return 1 / sum
}

func slowAvgSim(w world, every bool) []float64 {
	out := make([]float64, w.z.Len())
	for i, y := range w.z.Labels[:w.z.Len()] {
		means, counts := slowMeans(w.z.Row(i), w)
		if out[i] = 1; counts[y] > 0 {
			out[i] = slowSoftmax(means, y, func(k int) bool { return every || counts[k] > 0 })
		}
	}
	return out
}

func slowProxySim(w world) []float64 {
	out := make([]float64, w.z.Len())
	for i, y := range w.z.Labels[:w.z.Len()] {
		_, counts := slowMeans(w.z.Row(i), w)
		if out[i] = 1; counts[y] == 0 {
			continue
		}
		best := make([]float64, w.classes)
		for k := range best {
			best[k] = -2
			for h := range w.perClass {
				var dot, norm float64
				for j, p := range features.Row(w.proxies.Matrix(), k*w.perClass+h) {
					dot += float64(p) * float64(w.z.Row(i)[j])
					norm += float64(p) * float64(p)
				}
				best[k] = math.Max(best[k], dot/math.Sqrt(norm))
			}
		}
		out[i] = slowSoftmax(best, y, func(int) bool { return true })
	}
	return out
}

func slowMemoryPositive(w world) []float64 {
	out := make([]float64, w.z.Len())
	for i, y := range w.z.Labels[:w.z.Len()] {
		means, counts := slowMeans(w.z.Row(i), w)
		if out[i] = 1; counts[y] > 0 {
			out[i] = means[y]
		}
	}
	return out
}

func slowBatchPositive(w world) []float64 {
	out := make([]float64, w.z.Len())
	for i := range out {
		var sum, n float64
		for j, s := range cosines(w.z.Row(i), w.z) {
			if j != i && w.z.Labels[j] == w.z.Labels[i] {
				sum += s
				n++
			}
		}
		if out[i] = 1; n > 0 {
			out[i] = sum / n
		}
	}
	return out
}

// slowVMF follows METHODS: mean lengths, kappa, pool for the singles, log densities, softmax.
func slowVMF(w world, method string, every bool) []float64 {
	d := w.z.Dim()
	sums, counts := make([][]float64, w.classes), make([]int, w.classes)
	for k := range sums {
		sums[k] = make([]float64, d)
	}
	for m, k := range w.members.Labels[:w.members.Len()] {
		counts[k]++
		for j, v := range w.members.Row(m) {
			sums[k][j] += float64(v)
		}
	}
	norms, kappas := make([]float64, w.classes), make([]float64, w.classes)
	var weight, size float64
	for k, sum := range sums {
		var n2 float64
		for _, x := range sum {
			n2 += x * x
		}
		norms[k] = math.Sqrt(n2)
		if n := float64(counts[k]); n >= 2 {
			r := norms[k] / n
			kappas[k] = slowKappa(float64(d), r, method)
			weight += n * r
			size += n
		}
	}
	if size == 0 {
		return slowAvgSim(w, every)
	}
	for k, n := range counts {
		if n < 2 {
			kappas[k] = slowKappa(float64(d), weight/size, method)
		}
	}
	logC := make([]float64, w.classes)
	for k := range logC {
		logC[k] = slowLogNormalizer(d, kappas[k])
	}
	out := make([]float64, w.z.Len())
	for i, y := range w.z.Labels[:w.z.Len()] {
		if out[i] = 1; counts[y] == 0 {
			continue
		}
		logs := make([]float64, w.classes)
		for k := range logs {
			logs[k] = logC[k]
			if norms[k] > 0 {
				for j, x := range w.z.Row(i) {
					logs[k] += kappas[k] * sums[k][j] / norms[k] * float64(x)
				}
			}
		}
		out[i] = slowSoftmax(logs, y, func(k int) bool { return every || counts[k] > 0 })
	}
	return out
}

func slowKappa(d, r float64, method string) float64 {
	r = math.Min(r, 1-1e-6)
	switch method {
	case "printed":
		return math.Min(1e5, r*(d-r)/(1-r*r))
	case "sra": // solve A(κ) = r by bisection: the exact estimate, which two steps approximate
		low, high := 0.0, 5000.0
		for range 40 {
			middle := (low + high) / 2
			if slowMeanLength(int(d), middle) < r {
				low = middle
			} else {
				high = middle
			}
		}
		return low
	}
	return math.Min(1e5, r*(d-r*r)/(1-r*r))
}

// slowLogNormalizer returns -log of the integral of e^{κ cos θ} over the unit sphere of R^d:
//
//	|S^{d-2}| ∫_0^π e^{κ cos θ} sin^{d-2} θ dθ,  |S^{d-2}| = 2 π^{(d-1)/2} / Γ((d-1)/2)
func slowLogNormalizer(d int, kappa float64) float64 {
	half := float64(d-1) / 2
	gamma, _ := math.Lgamma(half)
	area := math.Ln2 + half*math.Log(math.Pi) - gamma
	return -(area + math.Log(integral(d, kappa, func(float64) float64 { return 1 })) + kappa)
}

func slowMeanLength(d int, kappa float64) float64 {
	return integral(d, kappa, math.Cos) / integral(d, kappa, func(float64) float64 { return 1 })
}

// integral returns ∫_0^π f(θ) e^{κ(cos θ - 1)} sin^{d-2} θ dθ by the trapezoid rule. For this periodic
// integrand it converges faster than any power of the step (d even), or as its power d-1 (d odd).
func integral(d int, kappa float64, f func(float64) float64) float64 {
	const steps = 2000
	var sum float64
	for i := 0; i <= steps; i++ {
		theta := math.Pi * float64(i) / steps
		v := f(theta) * math.Exp(kappa*(math.Cos(theta)-1))
		if i == 0 || i == steps {
			v /= 2
		}
		if d > 2 {
			v *= math.Pow(math.Sin(theta), float64(d-2))
		}
		sum += v
	}
	return sum * math.Pi / steps
}

func TestScorersAgreeWithLoops(t *testing.T) {
	all := func(c *Config) { c.Denominator = DenominatorAll }
	for _, c := range []struct {
		scorer, name string
		option       func(*Config)
		slow         func(world) []float64
	}{
		{"avgsim", "members", nil, func(w world) []float64 { return slowAvgSim(w, false) }},
		{"avgsim", "all", all, func(w world) []float64 { return slowAvgSim(w, true) }},
		{"avgsim_direct", "members", nil, func(w world) []float64 { return slowAvgSim(w, false) }},
		{"avgsim_direct", "all", all, func(w world) []float64 { return slowAvgSim(w, true) }},
		{"proxysim", "", nil, slowProxySim},
		{"batch_positive", "", nil, slowBatchPositive},
		{"memory_positive", "", nil, slowMemoryPositive},
		{"vmf", "banerjee", nil, func(w world) []float64 { return slowVMF(w, "banerjee", false) }},
		{"vmf", "all", all, func(w world) []float64 { return slowVMF(w, "banerjee", true) }},
		{"vmf", "printed", func(c *Config) { c.Printed = true }, func(w world) []float64 {
			return slowVMF(w, "printed", false)
		}},
		{"vmf", "sra", func(c *Config) { c.Kappa = "sra" }, func(w world) []float64 {
			return slowVMF(w, "sra", false)
		}},
	} {
		t.Run(c.scorer+"/"+c.name, func(t *testing.T) {
			for seed, members := range []int{60, 9, 3, 40, 7} {
				w, _ := newWorld(rand.New(rand.NewPCG(6, uint64(seed))), 12, 6, 20, members, 0.6, 0.4)
				if seed == 3 { // a class that never occurs
					for i, k := range w.members.Labels {
						w.members.Labels[i] = min(k, 4)
					}
				}
				relative := 1e-5
				if c.name == "sra" {
					relative = 1e-3 // two steps, not the solution
				}
				nearAll(t, "score", w.build(t, c.scorer, c.option).Score(nil, w.z, w.bank(), false), c.slow(w),
					relative, 1e-7)
			}
		})
	}
}

func TestNormalizerAgreesWithTheIntegral(t *testing.T) {
	for _, d := range []int{2, 4, 6, 7, 8, 17, 64, 129} {
		for _, kappa := range []float64{0, 1e-9, 0.1, 1, 7.5, 59.999, 60, 60.001, 61, 100, 700, 3000} {
			want := slowLogNormalizer(d, kappa)
			near(t, "log C_D", logNormalizer(d, kappa), want, 1e-10, 1e-10)
			near(t, "A_D", meanLength(d, kappa), slowMeanLength(d, kappa), 1e-9, 1e-12)
			if isNear(logNormalizer(d, kappa)+1e-6*(1+math.Abs(want)), want, 1e-10, 1e-10) {
				t.Error("a wrong value passed")
			}
		}
	}
	for _, kappa := range []float64{0.1, 1, 59, 61, 700} { // D = 3 is elementary: 4π sinh κ/κ
		want := math.Log(kappa) - math.Log(2*math.Pi) - kappa - math.Log1p(-math.Exp(-2*kappa))
		near(t, "log C_3", logNormalizer(3, kappa), want, 1e-12, 1e-12)
		near(t, "A_3", meanLength(3, kappa), 1/math.Tanh(kappa)-1/kappa, 1e-11, 0)
	}
	if v := LogBesselI(0, 0); v != 0 {
		t.Errorf("log I_0(0) is %v", v)
	}
	if v := LogBesselI(3, 0); !math.IsInf(v, -1) {
		t.Errorf("log I_3(0) is %v", v)
	}
	near(t, "log I_0(1)", LogBesselI(0, 1), math.Log(1.2660658777520084), 1e-14, 0)
	for _, d := range []int{2, 512, 8192} {
		for _, kappa := range []float64{1e-300, 1e-5, 1e5, 1e7} {
			if v := logNormalizer(d, kappa); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("log C_%d(%g) is %v", d, kappa, v)
			}
		}
	}
}

func TestExpUnit(t *testing.T) {
	for x := -1.1; x <= 1.1; x += 1e-3 {
		near(t, "e^x", expUnit(x), math.Exp(x), 1e-13, 0)
	}
}

// AvgSim with and without centres is one formula (PRISM, eq. 7 = eq. 2), up to rounding.
func TestCentresChangeNothing(t *testing.T) {
	w, _ := newWorld(rand.New(rand.NewPCG(7, 7)), 64, 20, 64, 500, 0.3, 0.5)
	bank := w.bank()
	nearAll(t, "P", (&AvgSim{}).Score(nil, w.z, bank, false), (&AvgSimDirect{}).Score(nil, w.z, bank, false), 1e-6, 0)
	nearAll(t, "P", (&AvgSim{}).Score(nil, w.members, bank, true), (&AvgSimDirect{}).Score(nil, w.members, bank, true),
		1e-6, 0)
}

// A set larger than one block is scored like its rows one by one.
func TestBlocksAgreeWithRows(t *testing.T) {
	w, _ := newWorld(rand.New(rand.NewPCG(8, 8)), 3, 40, 3000, 600, 0.9, 0.2)
	s, bank := &AvgSimDirect{}, w.bank()
	got := s.Score(nil, w.z, bank, false)
	if w.z.Len() <= blockEntries/bank.Len() {
		t.Fatal("one block is enough: the test tests nothing")
	}
	for i := 0; i < w.z.Len(); i += 97 {
		near(t, "P", s.Score(nil, w.z.Rows([]int{i}), bank, false)[0], got[i], 1e-6, 0)
	}
}
