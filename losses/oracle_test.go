package losses

import (
	"fmt"
	"math"
	"testing"
)

// Every loss again, by loops over the definition from the raw rows, sharing nothing with the code under test.
// Its gradient is the oracle's own central difference.

func (in exactInput) similarity(i, j int) float64 {
	other := in.z
	if in.ref != nil {
		other = in.ref
	}
	var xy, xx, yy float64
	for k := range in.z[i] {
		xy += in.z[i][k] * other[j][k]
		xx += in.z[i][k] * in.z[i][k]
		yy += other[j][k] * other[j][k]
	}
	return xy / math.Sqrt(xx*yy)
}

// kind returns +1 for a positive pair, -1 for a negative one, 0 for none.
func (in exactInput) kind(i, j int) int {
	switch {
	case in.ref != nil && in.labels[i] == in.refIDs[j]:
		return 1
	case in.ref != nil:
		return -1
	case i == j, in.labels[i] == in.labels[j] && in.ids != nil && in.ids[i] == in.ids[j]:
		return 0
	case in.labels[i] == in.labels[j]:
		return 1
	}
	return -1
}

func (in exactInput) columns() int {
	if in.ref != nil {
		return len(in.ref)
	}
	return len(in.z)
}

func slowContrastive(in exactInput, form string, lambda, eps float64) float64 {
	var pos, neg float64
	for i := range in.z {
		for j := range in.columns() {
			s := in.similarity(i, j)
			switch kind := in.kind(i, j); {
			case kind > 0 && form == "eq_sum":
				pos -= s
			case kind > 0 && form == "code" && s >= 1-eps:
			case kind > 0:
				pos += 1 - s
			case kind < 0 && s > lambda && form == "code":
				neg += s
			case kind < 0:
				neg += math.Max(s-lambda, 0)
			}
		}
	}
	if form == "eq_sum" {
		return pos + neg
	}
	return (pos + neg) / float64(len(in.z))
}

func slowSoftTriple(in exactInput, proxies [][]float64, perClass int, la, gamma, margin, tau float64) float64 {
	cosine := func(a, b []float64) float64 {
		return exactInput{z: [][]float64{a}, ref: [][]float64{b}}.similarity(0, 0)
	}
	classes := len(proxies) / perClass
	var loss float64
	for i, x := range in.z {
		logits := make([]float64, classes)
		var total float64
		for c := range logits {
			var top, bottom float64
			for k := range perClass {
				s := cosine(x, proxies[c*perClass+k])
				top += math.Exp(gamma*s) * s
				bottom += math.Exp(gamma * s)
			}
			logits[c] = la * top / bottom
			if c == in.labels[i] {
				logits[c] -= la * margin
			}
			total += math.Exp(logits[c])
		}
		loss -= math.Log(math.Exp(logits[in.labels[i]])/total) / float64(len(in.z))
	}
	for c := range classes {
		for j := range perClass {
			for k := range j {
				s := cosine(proxies[c*perClass+j], proxies[c*perClass+k])
				loss += tau / float64(classes*perClass*(perClass-1)) * math.Sqrt(2+1e-5-2*s)
			}
		}
	}
	return loss
}

// differences returns the gradient of f with respect to rows, at every eighth coordinate; to save time, the
// others are copied from grad.
func differences(rows, grad [][]float64, f func() float64) [][]float64 {
	const h = 1e-6
	out := zeros64(len(rows), len(rows[0]))
	for i := range rows {
		copy(out[i], grad[i])
		for k := i % 8; k < len(rows[i]); k += 8 {
			old := rows[i][k]
			rows[i][k] = old + h
			up := f()
			rows[i][k] = old - h
			out[i][k] = (up - f()) / (2 * h)
			rows[i][k] = old
		}
	}
	return out
}

// oracleInputs returns raw rows with several norms: ordinary ones, with an image that occurs twice, of one
// class, all distinct, and a bank.
func oracleInputs() map[string]exactInput {
	raw := func(seed uint64, n int) exactInput {
		in := conformInput(seed, n)
		for i := range in.z {
			for k := range in.z[i] {
				in.z[i][k] *= 0.5 + 0.25*float64(i%7)
			}
			in.labels[i] %= 4
		}
		return in
	}
	plain, twice, one, distinct, bank := raw(21, 14), raw(22, 12), raw(23, 6), raw(24, 9), raw(25, 10)
	twice.ids[3], twice.labels[3] = twice.ids[0], twice.labels[0]
	clear(one.labels)
	distinct.ids = nil
	for i := range distinct.labels {
		distinct.labels[i] = i
	}
	memory := conformInput(26, 17)
	bank.ref, bank.refIDs = memory.z, memory.labels
	return map[string]exactInput{"plain": plain, "one image twice": twice, "one class": one,
		"distinct labels": distinct, "bank": bank}
}

func checkOracle(t *testing.T, what string, l *similarity, in exactInput, slow func() float64) {
	t.Helper()
	loss, grad := exactPairs(l, in)
	want := slow()
	if !near(loss, want, 1e-10, 1e-12) {
		t.Errorf("%s: %.12g, by loops %.12g", what, loss, want)
	}
	if rel, abs := worst(grad, differences(in.z, grad, slow)); rel > 1e-6 && abs > 1e-8 {
		t.Errorf("%s: gradient is off by %.3g of its largest entry", what, rel)
	}
}

func TestContrastiveByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, form := range []string{"spec", "eq_sum", "code"} {
			for _, lambda := range []float64{0.5, 0.1, -1} {
				l := mustNew(t, "contrastive", map[string]any{"form": form, "margin": lambda},
					testEnv(conformDim, conformClasses, 1))
				checkOracle(t, fmt.Sprint(name, form, lambda), l.(*similarity), in, func() float64 {
					return slowContrastive(in, form, lambda, 1e-5)
				})
			}
		}
	}
}

func TestSoftTripleByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, k := range []int{1, 3} {
			for _, tau := range []float64{0, 0.2} {
				if in.ref != nil || name == "one image twice" {
					continue // makes no difference to a proxy loss
				}
				l := mustNew(t, "soft_triple", map[string]any{"centers": k, "margin": 0.1, "tau": tau},
					testEnv(conformDim, conformClasses, 1)).(*proxied)
				proxies := widen64(l.p.Data, l.p.Cols)
				slow := func() float64 {
					if k == 1 {
						return slowSoftTriple(in, proxies, k, 20, 10, 0.1, 0)
					}
					return slowSoftTriple(in, proxies, k, 20, 10, 0.1, tau)
				}
				loss, grad, gradProxies := exactProxies(l, in, proxies)
				what := fmt.Sprint(name, k, " ", tau)
				if want := slow(); !near(loss, want, 1e-10, 1e-12) {
					t.Errorf("%s: %.12g, by loops %.12g", what, loss, want)
				}
				if rel, _ := worst(grad, differences(in.z, grad, slow)); rel > 1e-6 {
					t.Errorf("%s: gradient is off by %.3g of its largest entry", what, rel)
				}
				if rel, _ := worst(gradProxies, differences(proxies, gradProxies, slow)); rel > 1e-6 {
					t.Errorf("%s: gradient of the proxies is off by %.3g of its largest entry", what, rel)
				}
			}
		}
	}
}
