package losses

import (
	"fmt"
	"math"
	"testing"

	"winnow/features"
)

// unmatched returns the loss without the added term.
func unmatched(l Loss) Loss {
	switch l := l.(type) {
	case *matched:
		return l.Loss
	case *matchedTrainable:
		return l.Loss
	}
	return l
}

// kernelOf returns a loss's function of similarities, counted or not.
func kernelOf(l *similarity) simLoss {
	if s, ok := l.fn.(*selected); ok {
		return s.simLoss
	}
	return l.fn
}

// exactMatched returns the float64 twin: the loss by its own twin, the means by the loss's functions on float64
// rows.
func exactMatched(l *matched, name string, in exactInput) (loss float64, grad [][]float64, params [][][]float64) {
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	plain := in
	plain.z, plain.normalize = z, false
	loss, grad, params = exactEval(l.Loss, name, plain)
	rows, out := flatRows(z), flatRows(grad)
	loss += matchAmong(l, rows, out, in.labels)
	for i := range grad {
		copy(grad[i], out.rowAt(i))
	}
	if in.normalize {
		through(grad, z, norms)
	}
	return loss, grad, params
}

// heldChoice is a loss with its constants held, whose selection is that of the loss at the point where these
// come from.
type heldChoice struct {
	held
	chooser simLoss
}

func (l heldChoice) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	sum, terms = l.held.evalPairs(nil, S, p)
	l.chooser.evalPairs(dS, l.at, p)
	return sum, terms
}

// countsJump reports whether the counts of the term, constants in the gradient, depend on where the loss is
// evaluated.
func countsJump(s subject) bool {
	_, isMatched := s.given["match"]
	_, isHeld := heldTwins[s.entry.Name]
	return isMatched && !isHeld
}

// slowMatch computes the term from counts, by its formula, and its gradient.
func slowMatch(in exactInput, count []float64, lambda float64) (sum float64, grad [][]float64) {
	grad = zeros64(len(in.z), conformDim)
	for y := range conformClasses {
		total, n := 0.0, 0.0
		for i, label := range in.labels {
			if label == y {
				total += count[i]
				n++
			}
		}
		for k := range conformDim {
			shift := 0.0
			for i, label := range in.labels {
				if label == y && total > 0 {
					shift += (count[i]/total - 1/n) * in.z[i][k]
				}
			}
			sum += shift * shift
			for i, label := range in.labels {
				if label == y && total > 0 {
					grad[i][k] = 2 * lambda * (count[i]/total - 1/n) * shift
				}
			}
		}
	}
	return lambda * sum, grad
}

// slowCounts lists all terms and counts the rows of those above 0.
func slowCounts(in exactInput, name string) []float64 {
	n := len(in.z)
	count := make([]float64, n)
	d := func(i, j int) float64 { return math.Sqrt(max(0, 2-2*dot64(in.z[i], in.z[j]))) }
	for i := range n {
		low, high := math.Inf(1), math.Inf(-1)
		for j := range n {
			if s := dot64(in.z[i], in.z[j]); j != i && in.labels[j] == in.labels[i] {
				low = min(low, s)
			} else if j != i {
				high = max(high, s)
			}
		}
		for j := range n {
			if j == i {
				continue
			}
			same, chosen := in.labels[i] == in.labels[j], false
			s := dot64(in.z[i], in.z[j])
			switch name {
			case "marginal":
				chosen = same && d(i, j)-1.4+0.2 > 0 || !same && 1.4-d(i, j)+0.2 > 0
			case "multi_similarity":
				chosen = same && s < high+0.1 || !same && s > low-0.1
			case "triplet": // all, squared distances, margin 0.2
				for k := range n {
					if same && in.labels[k] != in.labels[i] && d(i, j)*d(i, j)-d(i, k)*d(i, k)+0.2 > 0 {
						count[i]++
						count[j]++
						count[k]++
					}
				}
			}
			if chosen {
				count[i]++
				count[j]++
			}
		}
	}
	return count
}

func TestMatchedAgainstLists(t *testing.T) {
	for name, settings := range map[string]map[string]any{"marginal": {}, "multi_similarity": {},
		"triplet": {"select": "all"}} {
		for seed := range uint64(3) {
			in := conformInput(seed, 40)
			in.normalize = false
			env := testEnv(conformDim, conformClasses, 1)
			plain, plainGrad := public(mustNew(t, name, settings, env), in)
			settings["match"] = 0.7
			l := mustNew(t, name, settings, env).(*matched)
			got, grad := public(l, in)
			delete(settings, "match")
			want := slowCounts(in, name)
			for i, n := range l.selected.count {
				if math.Abs(n-want[i]) > 1e-6*(1+want[i]) {
					t.Fatalf("%s, seed %d: row %d is chosen %v times, expected %v", name, seed, i, n, want[i])
				}
			}
			term, termGrad := slowMatch(in, want, 0.7)
			for i := range grad {
				for k := range grad[i] {
					grad[i][k] -= plainGrad[i][k]
				}
			}
			if rel, _ := worst(grad, termGrad); rel > 1e-4 {
				t.Errorf("%s, seed %d: the term's gradient is off by %.3g of its largest entry", name, seed, rel)
			}
			if term == 0 || math.Abs(got-plain-term) > 1e-5 {
				t.Errorf("%s, seed %d: the term adds %v, expected %v", name, seed, got-plain, term)
			}
		}
	}
}

// TestMatchedTripletIsAdapted: with semi-hard triplets it equals the loss of 003, bit for bit.
func TestMatchedTripletIsAdapted(t *testing.T) {
	for seed := range uint64(5) {
		in := conformInput(seed, 120)
		env := func() Env { return testEnv(conformDim, conformClasses, seed) }
		a, gradA := public(mustNew(t, "adapted_triplet", map[string]any{"lambda": 0.5}, env()), in)
		b, gradB := public(mustNew(t, "triplet", map[string]any{"match": 0.5}, env()), in)
		if rel, _ := worst(gradB, gradA); a != b || rel != 0 {
			t.Errorf("seed %d: %v, adapted_triplet has %v; gradients differ by %v", seed, b, a, rel)
		}
	}
}

func TestMatchedRefusesBank(t *testing.T) {
	z := matrix32(conformInput(1, 8).z)
	z.Labels, z.IDs = make([]int, 8), make([]int, 8)
	l := mustNew(t, "multi_similarity", map[string]any{"match": 1.0}, testEnv(conformDim, conformClasses, 1))
	defer func() {
		if why := fmt.Sprint(recover()); why != "losses: match compares a batch with itself, found another reference" {
			t.Error(why)
		}
	}()
	l.Eval(nil, z, &features.Set{X: z.X, Labels: z.Labels, IDs: z.IDs})
}
