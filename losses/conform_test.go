package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// The checks that every loss of the catalog must pass, as functions that return an error, so that
// spoiled_test.go can see each of them fail. A subject is a loss as it is built, and what is known of it.
type subject struct {
	entry Entry
	build func() Loss              // fresh, always with the same seeds; may be spoiled
	exact func() Loss              // the same loss from the catalog itself
	spoil func(fn simLoss) simLoss // what was done to its function of similarities, or nil
}

const (
	conformDim     = 24
	conformClasses = 9
)

// conformInput is an ordinary batch of PK shape, drawn around class centres, with n·n above blockSize.
func conformInput(seed uint64, n int) exactInput {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := exactInput{normalize: true}
	centres := make([][]float64, conformClasses)
	for c := range centres {
		centres[c] = gauss(rng, conformDim)
	}
	for i := range n {
		c := rng.IntN(conformClasses)
		row := gauss(rng, conformDim)
		for k := range row {
			row[k] = 0.8*row[k] + centres[c][k]
		}
		in.z, in.labels, in.ids = append(in.z, row), append(in.labels, c), append(in.ids, i)
	}
	in.z, _ = unit64(in.z)
	return in
}

func gauss(rng *rand.Rand, d int) []float64 {
	row := make([]float64, d)
	for k := range row {
		row[k] = rng.NormFloat64()
	}
	return row
}

// settingVariants are the defaults, then every other choice and flag, one at a time.
func settingVariants(e Entry) []map[string]any {
	out := []map[string]any{nil}
	for _, s := range e.Settings {
		for _, word := range s.Choices {
			if word != s.Default {
				out = append(out, map[string]any{s.Name: word})
			}
		}
		if on, ok := s.Default.(bool); ok {
			out = append(out, map[string]any{s.Name: !on})
		}
	}
	return out
}

func catalogSubject(t testing.TB, e Entry, settings map[string]any) subject {
	build := func() Loss { return mustNew(t, e.Name, settings, testEnv(conformDim, conformClasses, 3)) }
	return subject{entry: e, build: build, exact: build}
}

func TestConformance(t *testing.T) {
	for _, e := range Catalog {
		variants := settingVariants(e)
		if e.Name == "soft_triple" {
			variants = append(variants, map[string]any{"tau": 0.2, "centers": 3}, map[string]any{"centers": 1, "tau": 0.2})
		}
		for _, settings := range variants {
			t.Run(fmt.Sprint(e.Name, settings), func(t *testing.T) {
				for _, check := range conformChecks {
					if err := check.run(catalogSubject(t, e, settings)); err != nil {
						t.Errorf("%s: %v", check.name, err)
					}
				}
			})
		}
	}
}

var conformChecks = []struct {
	name string
	run  func(subject) error
}{
	{"entry", checkEntry},
	{"value", checkValue},
	{"gradient is overwritten", checkOverwritten},
	{"float32 against float64", checkPrecision},
	{"central differences of similarities", checkSimilarities},
	{"directional difference", checkDirection},
	{"permutation", checkPermutation},
	{"renaming and rotation", checkRotation},
	{"degenerate batches", checkDegenerate},
	{"same image twice", checkSameImage},
	{"repetition", checkRepetition},
}

// inputs are the comparisons the entry allows: against itself, and against a bank.
func (s subject) inputs(seed uint64, n int) []exactInput {
	in := conformInput(seed, n)
	if s.entry.Against != Both {
		return []exactInput{in}
	}
	bank := conformInput(seed+100, n+50)
	with := in
	with.ref, with.refIDs = bank.z, bank.labels
	return []exactInput{in, with}
}

func checkEntry(s subject) error {
	l := s.build()
	e := s.entry
	owner, trainable := l.(Trainable)
	if trainable != e.Params {
		return fmt.Errorf("has parameters: %v, the entry says %v", trainable, e.Params)
	}
	if trainable {
		for _, p := range owner.Params() {
			if p.Name == "" || len(p.Data) != p.Rows*p.Cols || len(p.Grad) != len(p.Data) {
				return fmt.Errorf("parameter %q: %d weights and %d gradients for %d×%d", p.Name, len(p.Data), len(p.Grad), p.Rows, p.Cols)
			}
		}
	}
	if e.Name == "" || e.Title == "" || e.Paper == "" || e.Equation == "" || e.Formula == "" {
		return fmt.Errorf("the entry is incomplete: %+v", e)
	}
	for _, setting := range e.Settings {
		if setting.Doc == "" {
			return fmt.Errorf("setting %s has no explanation", setting.Name)
		}
		if _, err := setting.check(setting.Default); err != nil {
			return fmt.Errorf("the default of setting %s: %w", setting.Name, err)
		}
	}
	return nil
}

func checkValue(s subject) error {
	for _, in := range s.inputs(1, 120) {
		with, _ := public(s.build(), in)
		z, ref := in.sets()
		if without := s.build().Eval(nil, z, ref); without != with {
			return fmt.Errorf("%v without gradient, %v with", without, with)
		}
	}
	return nil
}

func (in exactInput) sets() (z features.Set, ref *features.Set) {
	z = matrix32(in.z)
	z.Labels, z.IDs = in.labels, in.ids
	if in.ref != nil {
		r := matrix32(in.ref)
		r.Labels = in.refIDs
		ref = &r
	}
	return z, ref
}

// checkOverwritten fills the gradients with numbers first, and then looks at the padding of a view too.
func checkOverwritten(s subject) error {
	for _, in := range s.inputs(2, 40) {
		z, ref := in.sets()
		want, wantParams := evalFilled(s.build(), z, ref, 0, z.Dim())
		for _, stride := range []int{z.Dim(), z.Dim() + 3} {
			got, gotParams := evalFilled(s.build(), z, ref, 5, stride)
			if !slices.Equal(got, want) || !slices.Equal(gotParams, wantParams) {
				return fmt.Errorf("stride %d: another gradient over old numbers", stride)
			}
		}
		if !slices.ContainsFunc(want, func(v float32) bool { return v != 0 }) {
			return fmt.Errorf("the gradient of an ordinary batch is zero")
		}
	}
	return nil
}

func evalFilled(l Loss, z features.Set, ref *features.Set, fill float32, stride int) (grad, params []float32) {
	g := blas32.General{Rows: z.Len(), Cols: z.Dim(), Stride: stride, Data: make([]float32, z.Len()*stride)}
	for i := range g.Data {
		g.Data[i] = fill
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			for i := range p.Grad {
				p.Grad[i] = fill
			}
		}
	}
	l.Eval(&g, z, ref)
	for i := range g.Rows {
		grad = append(grad, features.Row(g, i)...)
		for _, v := range g.Data[i*stride+z.Dim() : (i+1)*stride] {
			if v != fill {
				grad = append(grad, v) // wrote beyond the view: another length
			}
		}
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			params = append(params, p.Grad...)
		}
	}
	return grad, params
}

// exactEval is the float64 twin of public for whatever the loss is built on.
func exactEval(l Loss, in exactInput) (loss float64, grad, params [][]float64) {
	switch l := l.(type) {
	case *similarity:
		loss, grad = exactPairs(l, in)
		return loss, grad, nil
	case *proxied:
		return exactProxies(l, in, widen64(l.p.Data, l.p.Cols))
	}
	panic(fmt.Sprintf("no float64 path for %T: add one here", l))
}

func checkPrecision(s subject) error {
	for _, in := range s.inputs(3, 120) {
		want, wantGrad, wantParams := exactEval(s.exact(), in)
		l := s.build()
		got, grad := public(l, in)
		if !near(got, want, loss32, 1e-6) {
			return fmt.Errorf("value %v, in float64 %v", got, want)
		}
		if rel, _ := worst(grad, wantGrad); rel > grad32 {
			return fmt.Errorf("gradient is off by %.3g of its largest entry", rel)
		}
		if wantParams != nil {
			p := l.(Trainable).Params()[0]
			if rel, _ := worst(widen64(p.Grad, p.Cols), wantParams); rel > grad32 {
				return fmt.Errorf("gradient of %s is off by %.3g of its largest entry", p.Name, rel)
			}
		}
	}
	return nil
}

// checkSimilarities compares dS with central differences of sum at random entries of S.
func checkSimilarities(s subject) error {
	for _, in := range s.inputs(4, 30) {
		fn, draw, p, S := kernel(s.exact(), in)
		if s.spoil != nil {
			fn = s.spoil(fn)
		}
		value := func(dS []float64) float64 {
			p.draw = draw
			if draw != nil {
				p.draw = rand.New(third{})
			}
			sum, _ := fn.eval(dS, S, p)
			return sum
		}
		dS := make([]float64, len(S))
		for i := range dS {
			dS[i] = math.NaN()
		}
		value(dS)
		var top float64
		for _, d := range dS {
			top = max(top, math.Abs(d))
		}
		rng := rand.New(rand.NewPCG(9, 9))
		const h = 1e-6
		for range 300 {
			k := rng.IntN(len(S))
			old := S[k]
			S[k] = old + h
			up := value(nil)
			S[k] = old - h
			down := value(nil)
			S[k] = old
			if d := (up - down) / (2 * h); !(math.Abs(d-dS[k]) <= 1e-6*top+1e-7) {
				return fmt.Errorf("∂sum/∂S at row %d, column %d: %.9g, by differences %.9g", k/len(p.cols), k%len(p.cols), dS[k], d)
			}
		}
	}
	return nil
}

// kernel takes a loss apart for one input.
func kernel(l Loss, in exactInput) (fn simLoss, draw *rand.Rand, p *pairs, S []float64) {
	switch l := l.(type) {
	case *similarity:
		p = &pairs{rows: in.labels, cols: in.labels, self: true, ids: in.ids, total: len(in.z)}
		other := in.z
		if in.ref != nil {
			p, other = &pairs{rows: in.labels, cols: in.refIDs, total: len(in.z)}, in.ref
		}
		if l.draw != nil {
			draw = l.draw()
		}
		return l.fn, draw, p, cosines(in.z, other, l.exact)
	case *proxied:
		q, _ := unit64(widen64(l.p.Data, l.p.Cols))
		return l.fn, nil, &pairs{rows: in.labels, cols: l.cols, total: len(in.z)}, cosines(in.z, q, l.exact)
	}
	panic(fmt.Sprintf("no function of similarities for %T: add one here", l))
}

// checkDirection walks a little way along the sphere and compares the public value with the public gradient.
// Where negatives are drawn anew at every value there is no such slope: the choice carries no gradient.
func checkDirection(s subject) error {
	const h = 1e-3
	if l, ok := s.exact().(*similarity); ok && l.draw != nil {
		return nil
	}
	for _, in := range s.inputs(5, 120) {
		_, grad := public(s.build(), in) // through the normalisation, as in.normalize is set
		rng := rand.New(rand.NewPCG(11, 2))
		step := zeros64(len(in.z), conformDim)
		var want float64
		for i := range step {
			for k := range step[i] {
				step[i][k] = grad[i][k]
				if i%2 == 0 {
					step[i][k] += 0.1 * rng.NormFloat64() * math.Abs(grad[i][0])
				}
			}
		}
		var length float64
		for i := range step {
			length += dot64(step[i], step[i])
		}
		length = math.Sqrt(length)
		for i := range step {
			want += dot64(grad[i], step[i]) / length
		}
		at := func(h float64) float64 {
			moved := in
			moved.z = zeros64(len(in.z), conformDim)
			for i := range moved.z {
				for k := range moved.z[i] {
					moved.z[i][k] = in.z[i][k] + h*step[i][k]/length
				}
			}
			v, _ := public(s.build(), moved)
			return v
		}
		if got := (at(h) - at(-h)) / (2 * h); !near(got, want, 0.02, 1e-4) {
			return fmt.Errorf("slope %v, the gradient says %v", got, want)
		}
	}
	return nil
}

func checkPermutation(s subject) error {
	for _, in := range s.inputs(6, 120) {
		want, wantGrad := public(s.build(), in)
		order := rand.New(rand.NewPCG(13, 5)).Perm(len(in.z))
		mixed := in
		mixed.z, mixed.labels, mixed.ids = nil, nil, nil
		var expected [][]float64
		for _, i := range order {
			mixed.z = append(mixed.z, in.z[i])
			mixed.labels = append(mixed.labels, in.labels[i])
			mixed.ids = append(mixed.ids, in.ids[i])
			expected = append(expected, wantGrad[i])
		}
		got, grad := public(s.build(), mixed)
		if !near(got, want, 1e-5, 1e-6) {
			return fmt.Errorf("value %v, rows in another order %v", want, got)
		}
		if rel, _ := worst(grad, expected); rel > 1e-4 {
			return fmt.Errorf("gradient of permuted rows is off by %.3g of its largest entry", rel)
		}
	}
	return nil
}

// checkRotation renames the classes and turns everything by one orthogonal map (two reflections).
func checkRotation(s subject) error {
	rng := rand.New(rand.NewPCG(17, 5))
	names := make([]int, conformClasses)
	for c := range names {
		names[c] = (c + 4) % conformClasses // every class gets another name
	}
	a, _ := unit64([][]float64{gauss(rng, conformDim), gauss(rng, conformDim)})
	turn := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, row := range rows {
			out[i] = slices.Clone(row)
			for _, u := range a {
				along := dot64(out[i], u)
				for k := range u {
					out[i][k] -= 2 * along * u[k]
				}
			}
		}
		return out
	}
	rename := func(labels []int) []int {
		out := make([]int, len(labels))
		for i, y := range labels {
			out[i] = names[y]
		}
		return out
	}
	for _, in := range s.inputs(7, 120) {
		l, turned := s.build(), s.build()
		want, wantGrad := public(l, in)
		other := in
		other.z, other.labels = turn(in.z), rename(in.labels)
		if in.ref != nil {
			other.ref, other.refIDs = turn(in.ref), rename(in.refIDs)
		}
		if owner, ok := turned.(Proxied); ok {
			p, perClass := owner.Proxies()
			rows := turn(widen64(p.Data, p.Cols))
			for j, row := range rows {
				to := names[j/perClass]*perClass + j%perClass
				copy(p.Data[to*p.Cols:(to+1)*p.Cols], matrix32([][]float64{row}).X.Data)
			}
		}
		got, grad := public(turned, other)
		if !near(got, want, 1e-5, 1e-5) {
			return fmt.Errorf("value %v, turned and renamed %v", want, got)
		}
		if rel, _ := worst(grad, turn(wantGrad)); rel > 1e-3 {
			return fmt.Errorf("gradient of turned rows is off by %.3g of its largest entry", rel)
		}
	}
	return nil
}

// checkDegenerate looks for numbers that are none, and for gradients out of nothing.
func checkDegenerate(s subject) error {
	whole := conformInput(8, 40)
	oneClass := whole
	oneClass.labels = make([]int, 40)
	distinct := conformInput(9, conformClasses)
	for i := range distinct.labels {
		distinct.labels[i] = i
	}
	twins := conformInput(10, 12)
	for i := range 6 {
		twins.z[i+6], twins.labels[i+6] = twins.z[i], twins.labels[i]
	}
	opposite := conformInput(11, 2)
	opposite.z[1] = slices.Clone(opposite.z[0])
	for k := range opposite.z[1] {
		opposite.z[1][k] *= -1
	}
	one := conformInput(12, 1)
	for name, in := range map[string]exactInput{"one class": oneClass, "distinct labels": distinct, "equal rows": twins, "opposite rows": opposite, "one row": one} {
		for _, in := range withBank(s, in) {
			l := s.build()
			loss, grad := public(l, in)
			if bad := notFinite(loss, grad, l); bad != "" {
				return fmt.Errorf("%s: %s", name, bad)
			}
		}
	}
	return checkNothing(s, one)
}

func withBank(s subject, in exactInput) []exactInput {
	if s.entry.Against != Both {
		return []exactInput{in}
	}
	bank := in
	bank.ref, bank.refIDs = in.z, in.labels // equal rows everywhere
	return []exactInput{in, bank}
}

func notFinite(loss float64, grad [][]float64, l Loss) string {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Sprintf("value %v", loss)
	}
	for i := range grad {
		for _, v := range grad[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Sprintf("gradient of row %d is %v", i, v)
			}
		}
	}
	if owner, ok := l.(Trainable); ok {
		for _, p := range owner.Params() {
			if bad := notFinite(0, widen64(p.Grad, p.Cols), nil); bad != "" {
				return p.Name + ": " + bad
			}
		}
	}
	return ""
}

// checkNothing: no rows, no reference, or no pair at all give 0 and zeros.
func checkNothing(s subject, one exactInput) error {
	empty := features.Set{X: features.NewMatrix(0, conformDim), Labels: []int{}, IDs: []int{}}
	z, _ := one.sets()
	tries := []struct {
		name string
		z    features.Set
		ref  *features.Set
	}{{"an empty batch", empty, nil}}
	if s.entry.Against == Both {
		tries = append(tries, tries[0], tries[0], tries[0])
		tries[1].name, tries[1].z = "a row alone", z
		tries[2].name, tries[2].z, tries[2].ref = "an empty bank", z, &empty
		tries[3].name, tries[3].ref = "an empty batch and a bank", &z
	}
	for _, try := range tries {
		l := s.build()
		g := features.NewMatrix(try.z.Len(), conformDim)
		for i := range g.Data {
			g.Data[i] = 7
		}
		value := l.Eval(&g, try.z, try.ref)
		sum := math.Abs(value)
		for _, v := range g.Data {
			sum += math.Abs(float64(v))
		}
		if owner, ok := l.(Trainable); ok {
			for _, p := range owner.Params() {
				for _, v := range p.Grad {
					sum += math.Abs(float64(v))
				}
			}
		}
		if sum != 0 {
			return fmt.Errorf("%s: value %v and gradient %v, expected zeros", try.name, value, g.Data)
		}
	}
	return nil
}

// checkSameImage: rows of one image (equal IDs) are no pair, in a batch against itself.
func checkSameImage(s subject) error {
	if s.entry.Against != Both {
		return nil
	}
	in := conformInput(14, 3)
	in.labels, in.ids = []int{2, 2, 2}, []int{5, 5, 5}
	loss, grad := public(s.build(), in)
	if rel, abs := worst(grad, zeros64(3, conformDim)); loss != 0 || abs != 0 {
		return fmt.Errorf("three views of one image: value %v, gradient %v, expected zeros", loss, rel)
	}
	in.ids = []int{5, 6, 7}
	with, _ := public(s.build(), in)
	in.ids = nil
	if without, _ := public(s.build(), in); with != without {
		return fmt.Errorf("distinct ids change the value from %v to %v", without, with)
	}
	return nil
}

// checkRepetition: scratch memory of other sizes leaves no trace, and equal seeds give equal bits.
func checkRepetition(s subject) error {
	for _, in := range s.inputs(15, 100) {
		z, ref := in.sets()
		want, wantParams := evalFilled(s.build(), z, ref, 0, z.Dim())
		l := s.build()
		for _, n := range []int{130, 3, 100} {
			other := s.inputs(16, n)[0]
			o, oref := other.sets()
			evalFilled(l, o, oref, 0, o.Dim())
		}
		got, gotParams := evalFilled(l, z, ref, 0, z.Dim())
		if !slices.Equal(got, want) || !slices.Equal(gotParams, wantParams) {
			return fmt.Errorf("another gradient after other batches")
		}
	}
	return nil
}
