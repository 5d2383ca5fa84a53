package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// exactTwins maps the catalog names of the losses that are functions neither of similarities nor of proxies to
// float64 implementations (twins). A twin returns the loss, the gradient with respect to the raw rows in.z, and the
// gradient of every parameter.
var exactTwins = map[string]func(l Loss, in exactInput) (loss float64, grad [][]float64, params [][][]float64){
	"adapted_triplet": func(l Loss, in exactInput) (float64, [][]float64, [][][]float64) {
		loss, grad := exactAdapted(l.(*adaptedTriplet), in)
		return loss, grad, nil
	},
	"snr_contrastive": exactSNR,
	"cross_entropy":   exactCrossEntropy,
}

// exactEval evaluates any kind of loss in float64, as public does in float32.
func exactEval(l Loss, name string, in exactInput) (loss float64, grad [][]float64, params [][][]float64) {
	if twin, ok := exactTwins[name]; ok {
		return twin(l, in)
	}
	switch l := l.(type) {
	case *similarity:
		loss, grad = exactPairs(l, in)
		return loss, grad, nil
	case *parametric:
		return exactParametric(l, in)
	case *weightedSimilarity:
		loss, grad = exactPairs(&l.similarity, in)
		return loss, grad, nil
	case *proxied:
		var own [][]float64
		loss, grad, own = exactProxies(l, in, widen64(l.p.Data, l.p.Cols))
		return loss, grad, [][][]float64{own}
	}
	panic(fmt.Sprintf("no float64 path for %T: add one to exactTwins", l))
}

func checkPrecision(s subject) error {
	for _, in := range s.inputs(3, 120) {
		want, wantGrad, wantParams := exactEval(s.exact(), s.entry.Name, in)
		l := s.build()
		got, grad := public(l, in)
		if !near(got, want, loss32, 1e-6) {
			return fmt.Errorf("value %v, in float64 %v", got, want)
		}
		if rel, _ := worst(grad, wantGrad); rel > grad32 {
			return fmt.Errorf("gradient differs by %.3g of its largest entry", rel)
		}
		if !s.entry.Params {
			continue
		}
		params := l.(Trainable).Params()
		if len(params) != len(wantParams) {
			return fmt.Errorf("%d parameters, the float64 twin has %d", len(params), len(wantParams))
		}
		for i, p := range params {
			if rel, _ := worst(widen64(p.Grad, p.Cols), wantParams[i]); rel > grad32 {
				return fmt.Errorf("gradient of %s differs by %.3g of its largest entry", p.Name, rel)
			}
		}
	}
	return nil
}

// holdsConstants lists the losses that treat parts of their formula as constants in the gradient: factors, a miner's
// selection, the number of active terms. Golden values cover their gradients.
var holdsConstants = map[string]bool{"contrastive_margin": true, "multi_similarity": true,
	"weighted_multi_similarity": true, "circle": true}

// checkSimilarities compares dS with central differences of sum at every entry of S.
func checkSimilarities(s subject) error {
	for _, in := range s.inputs(4, 18) {
		fn, draw, p, S := kernel(s.exact(), in)
		if fn == nil || holdsConstants[s.entry.Name] {
			return nil
		}
		value := func(dS []float64) float64 {
			p.draw = draw
			if draw != nil {
				p.draw = rand.New(third{})
			}
			survey(fn, S, p)
			sum, _ := fn.evalPairs(dS, S, p)
			return sum
		}
		dS := make([]float64, len(S))
		for i := range dS {
			dS[i] = math.NaN()
		}
		if with, without := value(dS), value(nil); !near(with, without, 1e-9, 1e-12) {
			return fmt.Errorf("sum %v with gradient, %v without", with, without)
		}
		var top float64
		for _, d := range dS {
			top = max(top, math.Abs(d))
		}
		const h = 1e-6
		for k := range S {
			old := S[k]
			S[k] = old + h
			up := value(nil)
			S[k] = old - h
			down := value(nil)
			S[k] = old
			if d := (up - down) / (2 * h); !(math.Abs(d-dS[k]) <= 1e-6*top+1e-7) {
				return fmt.Errorf("∂sum/∂S at row %d, column %d: %.9g, by differences %.9g", k/len(p.cols),
					k%len(p.cols), dS[k], d)
			}
		}
	}
	return nil
}

// kernel returns the parts of a loss for one input. fn is nil if the loss is not a function of similarities; then
// the float64 twin needs its own test.
func kernel(l Loss, in exactInput) (fn simLoss, draw *rand.Rand, p *pairs, S []float64) {
	switch l := l.(type) {
	case *weightedSimilarity:
		return kernel(&l.similarity, in)
	case *similarity:
		other := in.z
		if in.ref != nil {
			other = in.ref
		}
		if l.draw != nil {
			draw = l.draw()
		}
		return l.fn, draw, in.pairs(), cosines(in.z, other, l.exact)
	case *parametric:
		l.own.loadOwn(l.p, in.labels)
		return kernel(&l.similarity, in)
	case *proxied:
		q, _ := unit64(widen64(l.p.Data, l.p.Cols))
		return l.fn, nil, &pairs{rows: in.labels, cols: l.cols}, cosines(in.z, q, l.exact)
	case *crossEntropy:
		return l.fn, nil, &pairs{rows: in.labels, cols: l.cols}, cosines(in.z, widen64(l.w.Data, l.w.Cols), false)
	}
	return nil, nil, nil, nil
}

// countsActive reports whether a loss divides by the number of positive terms. That number is a constant in the
// gradient, and the loss's value jumps when the number changes.
func countsActive(l Loss) bool {
	switch l := l.(type) {
	case *parametric:
		return true
	case *similarity:
		fn, ok := l.fn.(*distancePairs)
		return ok && fn.reduce == meanOfActive
	}
	return false
}

// shortSteps gives smaller step sizes for losses with a large curvature: scl_rhe takes the logarithm of a difference
// that may be almost 0.
var shortSteps = map[string]float64{"scl_rhe": 1e-4}

// checkDirection moves the rows a little along the sphere and compares the change of the float32 value with the
// float32 gradient. It skips losses that draw new negatives at every evaluation, because a selection has no gradient.
func checkDirection(s subject) error {
	h := 1e-3
	if shorter, ok := shortSteps[s.entry.Name]; ok {
		h = shorter
	}
	if holdsConstants[s.entry.Name] || s.drawn() || tripletJumps(s.exact()) || countsActive(s.exact()) {
		return nil
	}
	for _, in := range s.inputs(5, 120) {
		_, grad := public(s.build(), in) // includes the normalisation, because in.normalize is set
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
			return fmt.Errorf("slope %v, expected %v by the gradient", got, want)
		}
	}
	return nil
}
