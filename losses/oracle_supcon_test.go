package losses

import (
	"fmt"
	"math"
	"testing"
)

// The losses of exponentials and the N-pair loss again, by loops over the printed definitions.

// around splits the logits s/t of anchor i into positives and negatives.
func (in exactInput) around(i int, temperature float64) (pos, neg []float64) {
	for j := range in.columns() {
		switch v := in.similarity(i, j) / temperature; in.kind(i, j) {
		case 1:
			pos = append(pos, v)
		case -1:
			neg = append(neg, v)
		}
	}
	return pos, neg
}

func sumExp(logits []float64, times float64) float64 {
	var sum float64
	for _, v := range logits {
		sum += math.Exp(times * v)
	}
	return sum
}

func slowNTXent(in exactInput, temperature float64) float64 {
	var sum, n float64
	for i := range in.z {
		pos, neg := in.around(i, temperature)
		for _, v := range pos {
			sum -= math.Log(math.Exp(v) / (math.Exp(v) + sumExp(neg, 1)))
			n++
		}
	}
	return sum / math.Max(n, 1)
}

func slowSupCon(in exactInput, kind, reduce string, temperature, base float64) float64 {
	var sum, valid, active float64
	for i := range in.z {
		pos, neg := in.around(i, temperature)
		if len(pos) == 0 {
			continue
		}
		all, k, l := sumExp(pos, 1)+sumExp(neg, 1), float64(len(pos)), 0.0
		for _, v := range pos {
			l -= math.Log(math.Exp(v)/all) / k
		}
		if kind == "in" {
			l = -math.Log(sumExp(pos, 1) / k / all)
		}
		sum += l
		valid++
		if l > 1e-12 {
			active++
		}
	}
	switch reduce {
	case "mean_all":
		return sum / float64(len(in.z)) * temperature / base
	case "avg_nonzero":
		return sum / math.Max(active, 1)
	}
	return sum / math.Max(valid, 1)
}

// rhe are the settings of scl_rhe in the symbols of METHODS 10.
type rhe struct{ t, beta, betaNeg, tauP, tauN, sign float64 }

func slowSCLRHE(in exactInput, r rhe, invK, clamp bool) float64 {
	iw := func(v []float64, b float64) float64 { return sumExp(v, 1+b) / sumExp(v, b) }
	var sum, n float64
	for i := range in.z {
		pos, neg := in.around(i, r.t)
		if len(pos) == 0 || len(neg) == 0 {
			continue
		}
		q, w := float64(len(pos)), float64(len(neg))
		a := q / (1 - r.tauP) * (iw(pos, r.sign*r.beta) - r.tauP*iw(neg, r.sign*r.beta))
		b := w / (1 - r.tauN) * (iw(neg, r.betaNeg) - r.tauN*iw(pos, r.betaNeg))
		if clamp {
			a, b = math.Max(a, q*math.Exp(-1/r.t)), math.Max(b, w*math.Exp(-1/r.t))
		} else if a <= 0 || a+b <= 0 {
			continue
		}
		l := -math.Log(a / (a + b))
		if invK {
			l /= q
		}
		sum += l
		n++
	}
	return sum / math.Max(n, 1)
}

func slowNPair(in exactInput, l2 float64) float64 {
	var anchors, positives []int
	seen := map[int]bool{}
	for i, y := range in.labels {
		if seen[y] {
			continue
		}
		seen[y] = true
		for j := range in.columns() {
			if in.kind(i, j) > 0 {
				anchors, positives = append(anchors, i), append(positives, j)
				break
			}
		}
	}
	var sum float64
	for k, i := range anchors {
		var all float64
		for _, j := range positives {
			all += math.Exp(in.similarity(i, j))
		}
		sum -= math.Log(math.Exp(in.similarity(i, positives[k])) / all)
		if in.ref == nil {
			sum += 2 * l2 // of unit rows
		}
	}
	return sum / math.Max(float64(len(anchors)), 1)
}

func TestNTXentByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, temperature := range []float64{0.07, 0.5} {
			l := mustNew(t, "ntxent", map[string]any{"temperature": temperature},
				testEnv(conformDim, conformClasses, 1))
			checkOracle(t, fmt.Sprint(name, temperature), l.(*similarity), in, func() float64 {
				return slowNTXent(in, temperature)
			})
		}
	}
}

func TestSupConByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, kind := range []string{"out", "in"} {
			for _, reduce := range []string{"mean_valid", "mean_all", "avg_nonzero"} {
				l := mustNew(t, "supcon", map[string]any{"kind": kind, "reduction": reduce, "temperature": 0.2,
					"base_temperature": 0.1}, testEnv(conformDim, conformClasses, 1))
				checkOracle(t, fmt.Sprint(name, kind, reduce), l.(*similarity), in, func() float64 {
					return slowSupCon(in, kind, reduce, 0.2, 0.1)
				})
			}
		}
	}
}

func TestNPairByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, l2 := range []float64{0, 0.02} {
			l := mustNew(t, "n_pair", map[string]any{"l2": l2}, testEnv(conformDim, conformClasses, 1))
			checkOracle(t, fmt.Sprint(name, l2), l.(*similarity), in, func() float64 { return slowNPair(in, l2) })
		}
	}
}

func TestSCLRHEByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, r := range []rhe{
			{t: 0.1, beta: 0.5, betaNeg: 0.5, tauP: 0.065, tauN: 0.01, sign: -1},
			{t: 0.2, beta: 0.5, betaNeg: 0.5, tauP: 0.065, tauN: 0.01, sign: 1},
			{t: 0.5, beta: 1, betaNeg: 0.25, tauP: 0.4, tauN: 0.2, sign: -1},
			{t: 0.3, beta: 0.3, betaNeg: 1, sign: 1},
			{t: 0.3, beta: 0, betaNeg: 0, sign: -1},
		} {
			for _, clamp := range []bool{true, false} {
				invK := r.beta == 0.5
				settings := map[string]any{
					"temperature": r.t, "beta": r.beta, "beta_neg": r.betaNeg, "tau_p": r.tauP, "tau_n": r.tauN,
					"clamp": clamp,
					"sign":  "derived", "scale": "one",
				}
				if r.sign > 0 {
					settings["sign"] = "printed"
				}
				if invK {
					settings["scale"] = "inv_k"
				}
				l := mustNew(t, "scl_rhe", settings, testEnv(conformDim, conformClasses, 1))
				checkOracle(t, fmt.Sprint(name, r, clamp), l.(*similarity), in, func() float64 {
					return slowSCLRHE(in, r, invK, clamp)
				})
			}
		}
	}
}

// Both sides of SCL-RHE are clamped where what is subtracted outweighs the rest: for false shares close to 1.
func TestSCLRHEClamps(t *testing.T) {
	in := oracleInputs()["plain"]
	for _, r := range []rhe{{t: 0.5, tauP: 0.99, tauN: 0.01}, {t: 0.5, tauP: 0.01, tauN: 0.99},
		{t: 0.5, tauP: 0.99, tauN: 0.99}} {
		settings := map[string]any{"temperature": r.t, "beta": 0.0, "beta_neg": 0.0, "tau_p": r.tauP, "tau_n": r.tauN}
		l := mustNew(t, "scl_rhe", settings, testEnv(conformDim, conformClasses, 1))
		checkOracle(t, fmt.Sprint(r), l.(*similarity), in, func() float64 { return slowSCLRHE(in, r, false, true) })
		if free := slowSCLRHE(in, r, false, false); near(free, slowSCLRHE(in, r, false, true), 1e-6, 0) {
			t.Errorf("%v: no anchor is clamped", r)
		}
	}
}

// The rates of false pairs by counting: every pair of labels, each wrong with probability τ, all wrong labels
// equally likely.
func TestFalseRates(t *testing.T) {
	for _, classes := range []int{2, 3, 10} {
		for _, tau := range []float64{0, 0.05, 0.5, 1} {
			given := func(label, truth int) float64 {
				if label == truth {
					return 1 - tau
				}
				return tau / float64(classes-1)
			}
			var positive, negative float64 // of given labels 0, 0 and 0, 1; every true class is equally likely
			for a := range classes {
				for b := range classes {
					if a != b {
						positive += given(0, a) * given(0, b)
					} else {
						negative += given(0, a) * given(1, b)
					}
				}
			}
			p, n := falseRates(tau, classes)
			if !near(p, positive, 1e-12, 1e-15) || !near(n, negative, 1e-12, 1e-15) {
				t.Errorf("τ %v, %d classes: %v and %v, counted %v and %v", tau, classes, p, n, positive, negative)
			}
		}
	}
	if p, n := falseRates(0.3, 1); p != 0 || n != 0 {
		t.Errorf("one class: %v and %v", p, n)
	}
}

func TestSCLRHERatesComeFromTauAndClasses(t *testing.T) {
	in := oracleInputs()["plain"]
	p, n := falseRates(0.1, 7)
	for _, c := range []struct{ settings, same map[string]any }{
		{map[string]any{"tau": 0.1}, map[string]any{"tau_p": p, "tau_n": n}},
		{map[string]any{"tau": 0.1, "tau_p": 0.2}, map[string]any{"tau_p": 0.2, "tau_n": n}},
		{map[string]any{"tau": 0.1, "tau_n": 0}, map[string]any{"tau_p": p, "tau_n": 0}},
	} {
		got, _ := public(mustNew(t, "scl_rhe", c.settings, testEnv(conformDim, 7, 1)), in)
		if want, _ := public(mustNew(t, "scl_rhe", c.same, testEnv(conformDim, 7, 1)), in); got != want {
			t.Errorf("%v: %v, expected %v as with %v", c.settings, got, want, c.same)
		}
	}
	want := "losses: scl_rhe: tau_n: found -0.5, expected a number from 0 to 0.999, or -1"
	if _, err := New("scl_rhe", map[string]any{"tau_n": -0.5}, testEnv(8, 4, 1)); err == nil || err.Error() != want {
		t.Errorf("found %v\nexpected %s", err, want)
	}
}

// At the limits of the allowed settings nothing overflows: rows that are equal and opposite, the sharpest
// tilts.
func TestSharpestSettingsStayFinite(t *testing.T) {
	in := conformInput(31, 24)
	for i := range 8 {
		copy(in.z[i], in.z[8])
		for k := range in.z[i+16] {
			in.z[i+16][k] = -in.z[8][k]
		}
	}
	for _, c := range []struct {
		name     string
		settings map[string]any
	}{
		{"ntxent", map[string]any{"temperature": 1e-3}},
		{"supcon", map[string]any{"temperature": 1e-3}},
		{"supcon", map[string]any{"temperature": 1e-3, "kind": "in", "reduction": "mean_all"}},
		{"scl_rhe", map[string]any{"temperature": 0.01, "beta": 5, "beta_neg": 5}},
		{"scl_rhe", map[string]any{"temperature": 0.01, "beta": 5, "beta_neg": 5, "sign": "printed", "tau": 1}},
		{"scl_rhe", map[string]any{"temperature": 0.01, "beta": 4.5, "beta_neg": 5, "clamp": false, "tau_p": 0.999,
			"tau_n": 0.999}},
		{"snr_contrastive", map[string]any{"pos_margin": 100, "neg_margin": 100, "reg": 100}},
		{"n_pair", map[string]any{"l2": 10}},
	} {
		l := mustNew(t, c.name, c.settings, testEnv(conformDim, conformClasses, 1))
		loss, grad := public(l, in)
		if bad := notFinite(loss, grad, l); bad != "" {
			t.Errorf("%s %v: %s", c.name, c.settings, bad)
		}
	}
}
