package peers

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// softmax64 follows the definition; the logits here are small.
func softmax64(row []float64) []float64 {
	p, sum := make([]float64, len(row)), 0.0
	for c, v := range row {
		p[c] = math.Exp(v)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// slowChoice is the small-loss selection by counting: a row is chosen if fewer than k rows come before it.
func slowChoice(losses []float64, among []int, rate float64) (chosen []int) {
	k := int((1 - rate) * float64(len(among)))
	if k == 0 {
		k = len(among)
	}
	for at, i := range among {
		before := 0
		for other, j := range among {
			if losses[j] < losses[i] || losses[j] == losses[i] && other < at {
				before++
			}
		}
		if before < k {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// slowTeach is Co-teaching's step by its definition.
func slowTeach(l1, l2 [][]float64, labels []int, rate float64, disagreeing bool) (values [2]float64, chosen [2][]int) {
	var losses [2][]float64
	var among []int
	for i, y := range labels {
		losses[0] = append(losses[0], -math.Log(softmax64(l1[i])[y]))
		losses[1] = append(losses[1], -math.Log(softmax64(l2[i])[y]))
		if !disagreeing || slices.Index(l1[i], slices.Max(l1[i])) != slices.Index(l2[i], slices.Max(l2[i])) {
			among = append(among, i)
		}
	}
	if len(among) == 0 {
		rate = 0
		for i := range labels {
			among = append(among, i)
		}
	}
	for n := range 2 {
		chosen[n] = slowChoice(losses[n], among, rate)
	}
	for n := range 2 {
		for _, i := range chosen[1-n] {
			values[n] += losses[n][i] / float64(len(chosen[1-n]))
		}
	}
	return values, chosen
}

type problem struct {
	l1, l2 [][]float64
	labels []int
	rate   float64
	plus   bool
}

func (p problem) String() string {
	return fmt.Sprintf("%d rows, rate %v, plus %v", len(p.labels), p.rate, p.plus)
}

// drawProblem draws logits; some rows are equal in both networks, some occur twice. The logits are thousandths,
// and the logit of each row's label is shifted by a small amount of its own. Losses are thus either equal bit
// for bit or farther apart than rounding errors, which would otherwise decide whether (1, 1) or (0, 0) has the
// smaller one.
func drawProblem(t *rapid.T) problem {
	n, classes := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(2, 5).Draw(t, "classes")
	thousandth := rapid.Map(rapid.IntRange(-4096, 4096), func(n int) float64 { return float64(n) / 1024 })
	row := rapid.SliceOfN(thousandth, classes, classes)
	p := problem{rate: rapid.Float64Range(0, 0.99).Draw(t, "rate"), plus: rapid.Bool().Draw(t, "plus")}
	for i := range n {
		a, b, label := row.Draw(t, "l1"), row.Draw(t, "l2"), rapid.IntRange(0, classes-1).Draw(t, "label")
		a[label] += 1e-6 * float64(i+1)
		b[label] += 1e-6 * float64(i+1)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			b = slices.Clone(a)
		case 1:
			if len(p.l1) > 0 {
				a = slices.Clone(p.l1[0])
			}
		}
		p.l1, p.l2 = append(p.l1, a), append(p.l2, b)
		p.labels = append(p.labels, label)
	}
	return p
}

// teacher is what checkTeach checks.
type teacher func(e *exchange, d1, d2, l1, l2 Matrix[float64], labels []int, forget float64,
	disagreeing bool) (float64, float64)

// checkTeach compares a step with the slow one, and its gradient with central differences of the slow values
// with fixed selections.
func checkTeach(p problem, do teacher) error {
	l := [2]Matrix[float64]{pack(p.l1), pack(p.l2)}
	d := [2]Matrix[float64]{like(l[0]), like(l[1])}
	var e exchange
	v1, v2 := do(&e, d[0], d[1], l[0], l[1], p.labels, p.rate, p.plus)
	values, chosen := slowTeach(p.l1, p.l2, p.labels, p.rate, p.plus)
	for n, got := range []float64{v1, v2} {
		if !(math.Abs(got-values[n]) <= 1e-9*(1+values[n])) {
			return fmt.Errorf("loss of network %d: %v, expected %v", n+1, got, values[n])
		}
		if !slices.Equal(e.chosen[n], chosen[n]) {
			return fmt.Errorf("network %d chose %v, expected %v", n+1, e.chosen[n], chosen[n])
		}
	}
	for n, rows := range [][][]float64{p.l1, p.l2} {
		for i := range rows {
			for c := range rows[i] {
				if want := differ(rows[i], c,
					func() float64 {
						return meanOf(rows, p.labels,
							chosen[1-n])
					}); !(math.Abs(d[n].matrixRow(i)[c]-want) <= 1e-7) {
					return fmt.Errorf("gradient of logit %d of row %d of network %d: %v, expected %v", c, i, n+1,
						d[n].matrixRow(i)[c], want)
				}
			}
		}
	}
	return nil
}

// meanOf is the mean cross entropy of the chosen rows.
func meanOf(rows [][]float64, labels, chosen []int) (sum float64) {
	for _, i := range chosen {
		sum -= math.Log(softmax64(rows[i])[labels[i]])
	}
	return sum / float64(len(chosen))
}

// differ is a central difference.
func differ(row []float64, c int, value func() float64) float64 {
	const h = 1e-5
	v := row[c]
	row[c] = v + h
	up := value()
	row[c] = v - h
	down := value()
	row[c] = v
	return (up - down) / (2 * h)
}

func TestTeachAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if err := checkTeach(p, teachEachOther[float64]); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
	})
}

// checkCorrected compares the corrected loss of a matrix with its definition, and its gradient with differences.
func checkCorrected(rows [][]float64, labels []int, tr *transition, do func(d, l Matrix[float64]) float64) error {
	value := func() (sum float64) {
		for i, y := range labels {
			var q float64
			for c, p := range softmax64(rows[i]) {
				q += p * tr.at(c, y)
			}
			sum -= math.Log(q) / float64(len(labels))
		}
		return sum
	}
	l := pack(rows)
	d := like(l)
	if got, want := do(d, l), value(); !(math.Abs(got-want) <= 1e-9*(1+want)) {
		return fmt.Errorf("loss %v, expected %v", got, want)
	}
	for i := range rows {
		for c := range rows[i] {
			if want := differ(rows[i], c, value); !(math.Abs(d.matrixRow(i)[c]-want) <= 1e-7) {
				return fmt.Errorf("gradient of logit %d of row %d: %v, expected %v", c, i, d.matrixRow(i)[c], want)
			}
		}
	}
	return nil
}

func TestCorrectedAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		kind := rapid.SampledFrom([]string{Symmetric, Inclusive, Pair, Estimated}).Draw(t, "kind")
		classes := len(p.l1[0])
		tr, err := newTransition(kind, classes, p.rate)
		if err != nil {
			t.Fatal(err)
		}
		if kind == Estimated {
			for c := range classes {
				tr.setRow(c, softmax64(rapid.SliceOfN(rapid.Float64Range(-2, 2), classes, classes).Draw(t, "row")))
			}
		}
		var scratch []float64
		if err := checkCorrected(p.l1, p.labels, tr,
			func(d, l Matrix[float64]) float64 { return correctedLoss(d, l, p.labels, tr, &scratch) }); err != nil {
			t.Fatalf("%s: %v: %v", kind, p, err)
		}
	})
}

// Logits far apart neither overflow nor underflow, and impossible labels cost +Inf, not NaN.
func TestExtremes(t *testing.T) {
	far := pack([][]float64{{1e5, -1e5, 0}, {-1e5, 1e5, 0}})
	var e exchange
	d1, d2 := like(far), like(far)
	v1, _ := teachEachOther(&e, d1, d2, far, far, []int{0, 0}, 0, false)
	if v1 != 1e5 || d1.matrixRow(1)[0] != -0.5 || d1.matrixRow(1)[1] != 0.5 || d1.matrixRow(0)[0] != 0 {
		t.Errorf("loss %v, gradient %v", v1, d1.Data)
	}
	var scratch []float64
	tr, _ := newTransition(Pair, 3, 0.3)
	if v := correctedLoss(d1, far, []int{0, 0}, tr, &scratch); !(v > 4e4 && v < 1e5) || math.IsNaN(d1.matrixRow(1)[2]) {
		t.Errorf("corrected loss %v, gradient %v", v, d1.Data)
	}
	none, _ := newTransition(Estimated, 3, 0)
	if v := correctedLoss(d1, far, []int{0, 0}, none, &scratch); !math.IsInf(v, 1) {
		t.Errorf("a label that the matrix never gives has loss %v", v)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		bad := pack([][]float64{{1, v, 0}, {0, 1, 0}})
		if v1, _ := teachEachOther(&e, d1, d2, bad, far, []int{0, 0}, 0.5, false); !math.IsNaN(v1) &&
			!math.IsInf(v1, 0) {
			// The second network may have chosen the other row: then the first one's own selection shows it.
			if len(e.chosen[1]) != 1 || e.chosen[1][0] != 1 {
				t.Errorf("a logit of %v gives the loss %v", v, v1)
			}
		}
	}
}

// slowClassifier is a classifier in float64 loops.
func slowClassifier(c *classifier, w, b []float64, y [][]float64) [][]float64 {
	d := c.Weight.Cols
	norm := func(v []float64) float64 {
		var s float64
		for _, x := range v {
			s += x * x
		}
		return math.Sqrt(s)
	}
	out := make([][]float64, len(y))
	for i := range y {
		for k := range c.Weight.Rows {
			row := w[k*d : (k+1)*d]
			var s float64
			for j, v := range row {
				s += v * y[i][j]
			}
			if c.cosine {
				s *= float64(c.Scale) / norm(row) / norm(y[i])
			} else {
				s += b[k]
			}
			out[i] = append(out[i], s)
		}
	}
	return out
}

// Logits, and the gradients of ⟨logits, G⟩, against loops and their central differences.
func TestClassifierAgainstLoops(t *testing.T) {
	const n, dim, classes = 5, 6, 4
	for _, kind := range []string{Linear, Cosine} {
		rng := train.Rand(1, kind, 0)
		c := newClassifier(Config{Classifier: kind, Temperature: 0.5}, "", classes, dim, rng)
		y, g, logits := features.NewMatrix(n, dim), features.NewMatrix(n, 2*classes), features.NewMatrix(n, 2*classes)
		rows := make([][]float64, n)
		for i := range n {
			for j := range dim {
				features.Row(y, i)[j] = float32(rng.NormFloat64())
				rows[i] = append(rows[i], float64(features.Row(y, i)[j]))
			}
		}
		for i := range g.Data {
			g.Data[i] = float32(rng.NormFloat64())
		}
		half := columnView(g, classes, classes) // the second network's part
		c.forwardLogits(columnView(logits, classes, classes), y)
		dy := c.backwardLogits(half)
		var params [][]float64
		for _, p := range append(c.Params(), features.NewParam("no bias", 1, classes))[:2] {
			var list []float64
			for _, v := range p.Data {
				list = append(list, float64(v))
			}
			params = append(params, list)
		}
		want := slowClassifier(c, params[0], params[1], rows)
		for i := range n {
			for k, w := range want[i] {
				if got := float64(features.Row(logits, i)[classes+k]); math.Abs(got-w) > 1e-5 {
					t.Errorf("%s: logit %d of row %d: %v, expected %v", kind, k, i, got, w)
				}
				if features.Row(logits, i)[k] != 0 {
					t.Errorf("%s: wrote into the other network's logits", kind)
				}
			}
		}
		value := func() (sum float64) {
			for i, row := range slowClassifier(c, params[0], params[1], rows) {
				for k, v := range row {
					sum += v * float64(features.Row(half, i)[k])
				}
			}
			return sum
		}
		near := func(what string, got float32, list []float64, at int) {
			if w := differ(list, at, value); math.Abs(float64(got)-w) > 2e-4 {
				t.Errorf("%s: %s %d: %v, expected %v", kind, what, at, got, w)
			}
		}
		for p, param := range c.Params() {
			for i := range param.Grad {
				near(param.Name, param.Grad[i], params[p], i)
			}
		}
		for i := range n {
			for j := range dim {
				near(fmt.Sprint("row ", i), features.Row(dy, i)[j], rows[i], j)
			}
		}
	}
}

// A row of length 0 has no direction: logits 0 and no gradient, with the cosine classifier.
func TestCosineOfNothing(t *testing.T) {
	c := newClassifier(Config{Classifier: Cosine, Temperature: 0.05}, "", 3, 4, train.Rand(1, "zero", 0))
	clear(c.Weight.Data[:4])
	y, logits := features.NewMatrix(2, 4), features.NewMatrix(2, 3)
	y.Data[4] = 1
	c.forwardLogits(logits, y)
	dl := features.NewMatrix(2, 3)
	for i := range dl.Data {
		dl.Data[i] = 1
	}
	dy := c.backwardLogits(dl)
	for j := range 4 {
		if dy.Data[j] != 0 || c.Weight.Grad[j] != 0 {
			t.Errorf("gradients %v, %v", dy.Data[:4], c.Weight.Grad[:4])
		}
	}
	if !slices.Equal(features.Row(logits, 0), []float32{0, 0, 0}) || logits.Data[3] != 0 {
		t.Errorf("logits %v", logits.Data)
	}
}

// The estimate, made in blocks, against all probabilities at once.
func TestEstimateAgainstLoops(t *testing.T) {
	const n, dim, classes = 2*estimateRows + 37, 5, estimateClasses + 9
	set := features.NewSet(n, dim)
	rng := train.Rand(4, "estimate", 0)
	for i := range set.X.Data {
		set.X.Data[i] = float32(rng.NormFloat64())
	}
	for _, cfg := range []Config{{Classifier: Linear}, {Classifier: Cosine, Percentile: 90}} {
		full := Default(FCorrection)
		full.Transition, full.Classifier, full.Percentile = Estimated, cfg.Classifier, cfg.Percentile
		h, err := head.New(t.Context(), head.Config{In: dim, Out: 4, Bias: true, Init: head.Random}, set.X, rng)
		if err != nil {
			t.Fatal(err)
		}
		networks, err := New(t.Context(), full,
			Input{Head: h, Train: set, Classes: classes, Batch: 30, Clock: new(train.Clock), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer networks.Close()
		for i := range networks.list[1].classifier.Weight.Data {
			networks.list[1].classifier.Weight.Data[i] *= 4 // more confident
		}
		if err := networks.estimateMatrix(); err != nil {
			t.Fatal(err)
		}
		p := slowProbabilities(networks.list[1], set)
		column := make([]float64, n)
		for c := range classes {
			for i := range p {
				column[i] = p[i][c]
			}
			best := p[slowAnchor(column, cfg.Percentile)]
			for j, w := range best {
				if got := networks.loss.transition.at(c, j); math.Abs(got-w) > 1e-5 {
					t.Fatalf("%s: T[%d][%d] is %v, expected %v", cfg.Classifier, c, j, got, w)
				}
			}
		}
	}
}

func slowProbabilities(net *network, set features.Set) [][]float64 {
	l := net.head.Layers()[0]
	var params [2][]float64
	for i, p := range net.classifier.Params() {
		for _, v := range p.Data {
			params[i] = append(params[i], float64(v))
		}
	}
	y := make([][]float64, set.Len())
	for i := range y {
		for k := range l.Weight.Cols {
			s := float64(l.Bias[k])
			for j, v := range set.Row(i) {
				s += float64(v) * float64(l.Weight.Data[j*l.Weight.Stride+k])
			}
			y[i] = append(y[i], s)
		}
	}
	logits := slowClassifier(net.classifier, params[0], params[1], y)
	for i := range logits {
		logits[i] = softmax64(logits[i])
	}
	return logits
}

// slowAnchor leaves out values with too few smaller ones.
func slowAnchor(p []float64, percentile float64) int {
	best, at := -1.0, 0
	sorted := slices.Clone(p)
	slices.Sort(sorted)
	threshold := math.Inf(1)
	if percentile > 0 {
		threshold = sorted[int(math.Ceil(float64(len(p)-1)*percentile/100))]
	}
	for i, v := range p {
		if v < threshold && v > best {
			best, at = v, i
		}
	}
	return at
}

// A whole training of two linear networks by plain gradient descent, in float64 loops from the definitions: the
// weights of the run agree to float32's accuracy, step after step.
func TestTrainingAgainstLoops(t *testing.T) {
	const classes, dim, out, batch = 4, 6, 3, 16
	rng := train.Rand(8, "replay", 0)
	set := features.NewSet(80, dim)
	for i := range set.Len() {
		set.Labels[i], set.IDs[i] = rng.IntN(classes), i
		for j := range dim {
			set.Row(i)[j] = float32(rng.NormFloat64())
		}
		set.Row(i)[set.Labels[i]] += 1
	}
	for _, method := range []string{CoTeaching, CoTeachingPlus} {
		cfg := Default(method)
		cfg.Rate, cfg.Gradual, cfg.WarmUp, cfg.Epoch = 0.3, 2, 1, 5
		h, err := head.New(t.Context(), head.Config{In: dim, Out: out, Init: head.Random}, set.X,
			train.Rand(1, "head", 0))
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := train.NewSampler(train.Shuffle{Rows: batch}, set.Labels, 1)
		if err != nil {
			t.Fatal(err)
		}
		clock := new(train.Clock)
		networks, err := New(t.Context(), cfg, Input{Head: h, Train: set, Classes: classes, Batch: batch,
			Clock: clock, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer networks.Close()
		const lr, epochs = 0.1, 4
		tc := train.Config{Encoder: networks, Sampler: sampler, Terms: []train.Term{networks.Term()}, Steps: epochs * 5,
			Clock: clock}
		tc.Groups, err = networks.Groups(tc.Steps, 0, func(_ string, n int) (train.Solver, train.Schedule, error) {
			c := train.DefaultSolver("sgd")
			c.LR = train.GivenLR(lr)
			solver, err := train.NewSolver(c)
			if err != nil {
				return nil, train.Schedule{}, err
			}
			schedule, err := train.NewSchedule(train.ScheduleConfig{}, lr, n, 5)
			return solver, schedule, err
		})
		if err != nil {
			t.Fatal(err)
		}
		slow := [2]slowNet{copyNet(networks.list[0]), copyNet(networks.list[1])}
		var batches [][]int
		for e := range epochs {
			batches = append(batches, sampler.Epoch(e)...)
		}
		tc.Observe = train.Together(tc.Observe, train.On(func(s train.Step) {
			rows := batches[s.Number-1]
			var logits [2][][]float64
			for n := range slow {
				for _, r := range rows {
					logits[n] = append(logits[n], slow[n].logits(set.Row(r)))
				}
			}
			var labels []int
			for _, r := range rows {
				labels = append(labels, set.Labels[r])
			}
			epoch := (s.Number - 1) / 5
			values, chosen := slowTeach(logits[0], logits[1], labels, []float64{0, 0.3, 0.3, 0.3}[epoch],
				method == CoTeachingPlus && epoch >= 1)
			for n := range slow {
				slow[n].descend(set, rows, logits[n], labels, chosen[1-n], lr)
			}
			if math.Abs(s.Loss-values[0]-values[1]) > 1e-4 || !slices.Equal(s.Kept, chosen[1]) {
				t.Errorf("%s: step %d: loss %v, kept %v, expected %v, %v", method, s.Number, s.Loss, s.Kept,
					values[0]+values[1], chosen[1])
			}
		}))
		bedOf(tc).run(t)
		for n, net := range networks.list {
			now := copyNet(net)
			for i, list := range [][2][]float64{{now.v, slow[n].v}, {now.w, slow[n].w}, {now.b, slow[n].b}} {
				for j := range list[0] {
					if math.Abs(list[0][j]-list[1][j]) > 1e-4 {
						t.Fatalf("%s: network %d: array %d, number %d: %v, expected %v", method, n+1, i, j,
							list[0][j], list[1][j])
					}
				}
			}
		}
	}
}

func bedOf(c train.Config) *bed { return &bed{cfg: c} }

// slowNet is a linear head v (in×out) without bias and a linear classifier w (classes×out), b.
type slowNet struct {
	in, out, classes int
	v, w, b          []float64
}

func copyNet(n *network) slowNet {
	wide := func(m blas32.General) (list []float64) {
		for _, v := range m.Data {
			list = append(list, float64(v))
		}
		return list
	}
	c := n.head.Config()
	return slowNet{in: c.In, out: c.Out, classes: n.classifier.Weight.Rows,
		v: wide(n.head.Layers()[0].Weight), w: wide(n.classifier.Weight.Matrix()), b: wide(n.classifier.Bias.Matrix())}
}

func (s *slowNet) hidden(x []float32) []float64 {
	y := make([]float64, s.out)
	for k := range y {
		for j, v := range x {
			y[k] += float64(v) * s.v[j*s.out+k]
		}
	}
	return y
}

func (s *slowNet) logits(x []float32) []float64 {
	l := slices.Clone(s.b)
	y := s.hidden(x)
	for c := range l {
		for k, v := range y {
			l[c] += v * s.w[c*s.out+k]
		}
	}
	return l
}

func (s *slowNet) descend(set features.Set, rows []int, logits [][]float64, labels, chosen []int, lr float64) {
	dv, dw, db := make([]float64, len(s.v)), make([]float64, len(s.w)), make([]float64, len(s.b))
	for _, i := range chosen {
		x := set.Row(rows[i])
		y, d := s.hidden(x), softmax64(logits[i])
		d[labels[i]]--
		for c := range d {
			d[c] /= float64(len(chosen))
			db[c] += d[c]
			for k := range y {
				dw[c*s.out+k] += d[c] * y[k]
				for j, v := range x {
					dv[j*s.out+k] += d[c] * s.w[c*s.out+k] * float64(v)
				}
			}
		}
	}
	for _, part := range [][2][]float64{{s.v, dv}, {s.w, dw}, {s.b, db}} {
		for i := range part[0] {
			part[0][i] -= lr * part[1][i]
		}
	}
}
