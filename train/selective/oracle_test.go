package selective

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/train"
)

// trained returns a bed after some epochs and one more Forward, so that the queues are full and the labels are scored.
func trained(t *testing.T, cfg Config, epochs int) *bed {
	t.Helper()
	set, truth := clusters(3, 5, 36, 0.3)
	for i := 4; i < set.Len(); i += 17 {
		set.Labels[i] = features.Unlabelled
	}
	b := newBed(t, cfg, set, truth, 5, epochs, 2)
	b.run(t)
	var rows []int
	for i := 0; len(rows) < 20; i += 3 {
		if set.Labels[i] >= 0 {
			rows = append(rows, i)
		}
	}
	if _, err := b.learner.Forward(rows); err != nil {
		t.Fatal(err)
	}
	return b
}

// wideRows converts n rows from float32 to float64.
func wideRows(n int, row func(i int) []float32) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for _, v := range row(i) {
			out[i] = append(out[i], float64(v))
		}
	}
	return out
}

func along(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func probabilities(l []float64) []float64 {
	var sum float64
	p := make([]float64, len(l))
	for i, v := range l {
		p[i] = math.Exp(v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func slowEntropy(target, l []float64) (v float64) {
	for k, p := range probabilities(l) {
		v -= target[k] * math.Log(p)
	}
	return v
}

// slowSupCon returns -mean over positives of log e^{s_p/t}/Σ_A e^{s/t}, or 0 without positives.
func slowSupCon(u []float64, candidates [][]float64, leave int, positive func(j int) bool, t float64) float64 {
	var all, sum float64
	n := 0
	for j, c := range candidates {
		if j != leave {
			all += math.Exp(along(u, c) / t)
		}
	}
	for j, c := range candidates {
		if j != leave && positive(j) {
			sum -= along(u, c)/t - math.Log(all)
			n++
		}
	}
	return sum / math.Max(float64(n), 1)
}

// slowSelCL computes Sel-CL's loss directly from its definition, with the error that spoiled names, if any.
func slowSelCL(m *selcl, u, l [][]float64, spoiled string) float64 {
	n, s, t := len(m.step.rows), &m.step, m.cfg.Temperature
	if spoiled == "temperature" {
		t *= 1.01
	}
	confident := func(a, b int) bool { return m.pairs.isConfident(a, b) }
	queue := wideRows(m.queue.len(), func(i int) []float32 { return features.Row(m.queue.queueVectors(), i) })
	keys := wideRows(n, func(i int) []float32 { return features.Row(m.keys, i) })
	var older [][]float64
	for at := range m.negatives.len() {
		fresh := false
		for i := range n {
			fresh = fresh || m.negatives.pushedAt(i) == at
		}
		if !fresh {
			older = append(older, wideRows(1,
				func(int) []float32 { return features.Row(m.negatives.queueVectors(), at) })[0])
		}
	}
	unsupervised := func(i int) float64 {
		list := append([][]float64{keys[i]}, older...)
		return slowSupCon(u[i], list, -1, func(j int) bool { return j == 0 }, t) / float64(n)
	}
	var value float64
	if s.warm {
		for i := range n {
			value += unsupervised(i)
		}
		return value
	}
	mixed := u[n : 3*n]
	for i := range n {
		inBatch, inQueue := false, false
		for j := range n {
			inBatch = inBatch || j != i && confident(s.rows[i], s.rows[j])
		}
		for at := range queue {
			inQueue = inQueue ||
				s.useQueue && m.queue.trainingRow(at) != s.rows[i] && confident(s.rows[i], m.queue.trainingRow(at))
		}
		if !inBatch && !inQueue {
			value += unsupervised(i)
		}
		for v := range 2 {
			r, mix := v*n+i, s.mixed[v]
			a, b := s.rows[i], s.rows[mix.partner[i]]
			share := mix.share
			if spoiled == "share" {
				share = 1
			}
			own := r
			if spoiled == "own" {
				own = -1
			}
			of := func(image int) func(int) bool {
				return func(j int) bool { return confident(image, s.rows[j%n]) }
			}
			inq := func(image int) func(int) bool {
				return func(at int) bool { return confident(image, m.queue.trainingRow(at)) }
			}
			if inBatch {
				value += (share*slowSupCon(mixed[r], mixed, own, of(a), t) + (1-share)*slowSupCon(mixed[r], mixed, own,
					of(b), t)) / float64(2*n)
			}
			if inQueue && spoiled != "queue" {
				own := m.queue.pushedAt(r)
				value += (share*slowSupCon(mixed[r], queue, own, inq(a), t) + (1-share)*slowSupCon(mixed[r], queue, own,
					inq(b), t)) / float64(2*n)
			}
		}
	}
	for r := range 2 * n {
		for q := range 2 * n {
			if r == q {
				continue
			}
			mix, same := s.mixed[r/n], 0.0
			if confident(s.rows[r%n], s.rows[q%n]) {
				same += mix.share
			}
			if confident(s.rows[mix.partner[r%n]], s.rows[q%n]) {
				same += 1 - mix.share
			}
			dot := along(probabilities(l[n+r]), probabilities(l[n+q]))
			value -= m.cfg.Similarity * (same*math.Log(dot+1e-7) + (1-same)*math.Log(1-dot+1e-7)) / float64(4*n*n)
		}
	}
	for v := range 2 {
		for i := range s.picked {
			target := make([]float64, m.classes)
			target[m.set.Labels[s.picked[i]]] += s.pickedBy[v].share
			target[m.set.Labels[s.picked[s.pickedBy[v].partner[i]]]] += 1 - s.pickedBy[v].share
			value += m.cfg.Classify * slowEntropy(target, l[(3+v)*n+i]) / float64(2*n)
		}
	}
	return value
}

// slowTCL computes TCL's loss directly from its definition. The logits fixed give the targets, which are constants.
func slowTCL(m *tcl, u, l, fixed [][]float64, spoiled string) float64 {
	n, t := len(m.rows), m.cfg.Temperature
	target := func(i int, p func(k int) float64) []float64 {
		out, w := make([]float64, m.classes), m.trust*m.clean[m.rows[i]]
		if m.warm || spoiled == "believes all" {
			w = 1
		}
		for k := range out {
			out[k] = (1 - w) * p(k)
		}
		out[m.set.Labels[m.rows[i]]] += w
		return out
	}
	var value float64
	for r := range 2 * n {
		other := (r + n) % (2 * n)
		value += slowSupCon(u[r], u[:2*n], r, func(j int) bool { return j == other }, t) / float64(2*n)
		from := probabilities(fixed[other])
		if spoiled == "own view" {
			from = probabilities(fixed[r])
		}
		value += m.cfg.Cross * slowEntropy(target(r%n, func(k int) float64 { return from[k] }), l[r]) / float64(n)
	}
	for r := range 3 * n {
		mixed := make([]float64, m.classes)
		for side, at := range []int{r % n, m.mixed.partner[r] % n} {
			p, q := probabilities(fixed[at]), probabilities(fixed[n+at])
			share := [2]float64{m.mixed.share, 1 - m.mixed.share}[side]
			for k, v := range target(at, func(k int) float64 { return (p[k] + q[k]) / 2 }) {
				mixed[k] += share * v
			}
		}
		aligned := make([]float64, m.classes)
		for k := range aligned {
			aligned[k] = along(u[2*n+r], wideRows(1, func(int) []float32 { return features.Row(m.centres, k) })[0]) / t
		}
		value += (m.cfg.Cross*slowEntropy(mixed, l[2*n+r]) + m.cfg.Align*slowEntropy(mixed, aligned)) / float64(3*n)
	}
	mean := make([]float64, m.classes)
	for r := range l {
		p := probabilities(l[r])
		value += m.cfg.Entropy * slowEntropy(p, l[r]) / float64(len(l))
		for k, v := range p {
			mean[k] += v / float64(len(l))
		}
	}
	for _, v := range mean {
		if spoiled != "balance" {
			value += m.cfg.Balance * v * math.Log(v)
		}
	}
	return value
}

// In every phase both losses and their gradients equal those of the plain definitions, and differ from those of a
// definition with an error.
func TestLossesAreTheOracles(t *testing.T) {
	for _, c := range []struct {
		name    string
		cfg     func() Config
		epochs  int
		spoiled []string
	}{
		{"sel-cl in its warm-up", func() Config { return Default(SelCL) }, 1, []string{"temperature"}},
		{"sel-cl without its queue", func() Config { return Default(SelCL) }, 3,
			[]string{"temperature", "share", "own"}},
		{"sel-cl", func() Config {
			c := Default(SelCL)
			c.QueueStart, c.Queue, c.Similarity, c.Classify, c.Beta = 1, 9, 0.7, 1.3, 0.8
			return c
		}, 3, []string{"temperature", "share", "own", "queue"}},
		{"tcl in its warm-up", func() Config { return Default(TCL) }, 1, []string{"balance"}},
		{"tcl", func() Config {
			c := Default(TCL)
			c.WarmUp, c.Cross, c.Align, c.Entropy, c.Balance = 1, 0.9, 1.2, 0.3, 0.6
			return c
		}, 3, []string{"believes all", "own view", "balance"}},
	} {
		b := trained(t, c.cfg(), c.epochs)
		n := b.learner
		u, l := wideRows(n.u.Rows, func(i int) []float32 { return features.Row(n.u, i) }),
			wideRows(n.l.Rows, func(i int) []float32 {
				return features.Row(n.l, i)
			})
		fixed := wideRows(n.l.Rows, func(i int) []float32 { return features.Row(n.l, i) })
		definition := func(spoiled string) float64 {
			if m, ok := n.method.(*selcl); ok {
				return slowSelCL(m, u, l, spoiled)
			}
			return slowTCL(n.method.(*tcl), u, l, fixed, spoiled)
		}
		grad := features.NewMatrix(n.z.Rows, n.z.Cols)
		set := features.Set{X: n.z}
		value := n.loss.Eval(&grad, set, nil)
		if bare := n.loss.Eval(nil, set, nil); bare != value {
			t.Errorf("%s: %v without gradient, %v with", c.name, bare, value)
		}
		close := func(spoiled string) bool { return math.Abs(value-definition(spoiled)) <= 1e-5*math.Abs(value) }
		if !close("") {
			t.Errorf("%s: %v, expected %v", c.name, value, definition(""))
		}
		for _, s := range c.spoiled {
			if close(s) {
				t.Errorf("%s: an error in the definition's %s goes unnoticed", c.name, s)
			}
		}
		checkGradient(t, c.name, b, u, l, func() float64 { return definition("") })
	}
}

// checkGradient compares the gradient of some numbers of every block with central differences of the definition.
func checkGradient(t *testing.T, name string, b *bed, u, l [][]float64, definition func() float64) {
	t.Helper()
	n := b.learner
	du, dl := features.NewMatrix(n.u.Rows, n.u.Cols), features.NewMatrix(n.l.Rows, n.l.Cols)
	n.method.evalMethod(du, dl, n.u, n.l)
	rng := rand.New(rand.NewPCG(4, 4))
	var far, spoiled, largest float64
	for block := range n.filled {
		for range 12 {
			r := block*n.n + rng.IntN(n.n)
			for side, x := range [][]float64{u[r], l[r]} {
				j := rng.IntN(len(x))
				want := slope(x, j, definition)
				got := float64(features.Row(du, r)[j%du.Cols])
				if side == 1 {
					got = float64(features.Row(dl, r)[j])
				}
				largest = math.Max(largest, math.Abs(want))
				far, spoiled = math.Max(far, math.Abs(got-want)), math.Max(spoiled, math.Abs(1.01*got-want))
			}
		}
	}
	if far > 1e-3*largest || largest == 0 {
		t.Errorf("%s: gradient differs by %v; its largest entry is %v", name, far, largest)
	}
	if spoiled <= 1e-3*largest {
		t.Errorf("%s: a gradient times 1.01 goes unnoticed", name)
	}
}

// For any G, Backward(G) gives the gradient of ⟨z, G⟩ with respect to the weights, where z is Forward's result.
func TestBackwardIsTheSlopeOfForward(t *testing.T) {
	for _, method := range Methods() {
		cfg := Default(method)
		cfg.WarmUp = 1
		n := trained(t, cfg, 2).learner
		rng := train.Rand(1, "weights", 0)
		g := features.NewMatrix(n.z.Rows, n.z.Cols)
		for i := range g.Data {
			g.Data[i] = float32(rng.NormFloat64())
		}
		if err := n.Backward(g); err != nil {
			t.Fatal(err)
		}
		value := func() (v float64) { // runs head and classifier again on the same input
			z, err := n.encoder.Forward(n.all[:n.filled*n.n])
			if err != nil {
				t.Fatal(err)
			}
			logits, wide := features.NewMatrix(z.Len(), n.classes), features.NewMatrix(n.z.Rows, n.z.Cols)
			n.classifier.Forward(logits, z.X)
			n.packBlocks(wide, z.X, logits)
			for i, x := range wide.Data {
				v += float64(x) * float64(g.Data[i])
			}
			return v
		}
		analytic := map[*features.Param][]float32{}
		for _, p := range n.Params() {
			analytic[p] = append([]float32(nil), p.Grad...)
		}
		seen := false // whether the check detected a gradient that is 2 % too large
		for _, p := range n.Params() {
			for range 6 {
				i := rng.IntN(len(p.Data))
				old, step := p.Data[i], float32(1e-2)
				p.Data[i] = old + step
				up := value()
				p.Data[i] = old - step
				down := value()
				p.Data[i] = old
				want, got := (up-down)/float64(2*step), float64(analytic[p][i])
				off := func(got float64) bool { return math.Abs(got-want) > 5e-3*math.Abs(want)+2e-2 }
				if off(got) {
					t.Errorf("%s: %s[%d]: gradient %v, slope %v", method, p.Name, i, got, want)
				}
				seen = seen || off(1.02*got)
			}
		}
		if !seen {
			t.Errorf("%s: a gradient times 1.02 goes unnoticed", method)
		}
	}
}
