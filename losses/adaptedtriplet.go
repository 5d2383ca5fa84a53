package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/catalog"
)

// adaptedTriplet is a triplet loss on the selected triplets D_S. Its second term counteracts the selection's bias of
// the class means.
//
//	L = R_{(a,p,n) ∈ D_S} [D_ap - D_an + α]₊ + λ Σ_y ‖Φ_y^S - Φ_y‖² + λ_u ‖Σ_y θ_y Φ_y^S - u‖²
//
//	Φ_y^S = Σ_{i∈y} n_i z_i / Σ_{i∈y} n_i    n_i: number of occurrences of i in D_S, as a, p or n
//	Φ_y   = the mean of the class in the batch
//	u     = the mean of the unlabelled rows; θ minimises the third term under Σ_y θ_y = 1: see [matching]
//
// D is a squared distance, R is the mean or the sum. D_S is drawn as in [triplet] with semihard: one n for every p,
// uniformly from D_ap ≤ D_an < D_ap + α. A class without a row in D_S adds nothing to the second term. If D_S is empty,
// all terms are 0; without unlabelled rows the third term is 0. The selection, n_i and θ are constants in the gradient:
//
//	∂/∂z_i of the second term = 2 λ (n_i/Σn - 1/N_y) (Φ_y^S - Φ_y),  N_y rows of class y
//
// Rows of the batch may be unlabelled (features.Unlabelled); they contribute only to the third term. All rows are unit
// vectors; the means are not. Settings: α, λ ≥ 0; λ_u ≥ 0, or a negative number to use λ.
// Differences from the paper: R is the mean where Eq. 5 sums, because the effect of λ would otherwise depend on the
// number of triplets (R = sum gives Eq. 5 and 8; the second term has no R). Eq. 10 weights the three roles a, p and n
// equally, and so does n_i. Over all triplets Eq. 14 equals the plain class mean, because every member of a class
// occurs equally often.
// Time O(n²·d) for the triplets, O(n·d) for the second term, O(Y²·d + Y³) for θ of Y classes. Memory O(n²).
// Source: Yu et al., "Correcting the triplet selection bias for triplet loss", ECCV 2018 (003), Eq. 5, 7, 12-15,
// unlabelled rows 16-20; METHODS 9.
type adaptedTriplet struct {
	triplets        similarity
	selected        *selected // the function triplets.fn
	lambda, lambdaU float64   // λ and λ_u
	matching        matching

	known     features.Set // labelled rows and their gradient, if some rows have no label
	knownGrad blas32.General
	rows      []int // indices of the labelled rows of the batch
	others    []int // indices of the unlabelled rows
}

var adaptedTripletEntry = Entry{
	Name:       "adapted_triplet",
	Title:      "Adapted triplet loss",
	Paper:      "Adapted triplet (003)",
	Equation:   "Eq. 5, 12-15; unlabelled rows Eq. 18-20",
	Formula:    "R_{D_S} [D_ap - D_an + α]₊ + λ Σ_y ‖Φ_y^S - Φ_y‖² + λ_u ‖Σ_y θ_y Φ_y^S - u‖²",
	Against:    Batch,
	Draws:      true,
	Unlabelled: true,
	Settings: []Setting{
		{Name: "margin", Symbol: "α", Default: 0.2, Min: 0, Max: 4,
			Doc: "least difference between the squared distances to negative and positive"},
		{Name: "lambda", Symbol: "λ", Default: 0.01, Min: 0, Max: 1e4,
			Doc: "weight of the class means (the paper uses 0.001 to 0.5, on MNIST 2)"},
		{Name: "reduction", Symbol: "R", Default: "mean", Choices: []string{"mean", "sum"},
			Doc: "mean over the triplets, or their sum"},
		{Name: "lambda_u", Symbol: "λ_u", Default: -1.0, Min: -1, Max: 1e4,
			Doc: "weight of the mean of unlabelled rows; below 0: the same as λ"},
		{Name: "ridge", Default: 0.0, Min: 0, Max: 1e3,
			Doc: "added to the diagonal of the equations for θ; a singular system gets 1e-6 of its mean, too"},
	},
	Printed: "θ of unlabelled rows by Eq. 19, with u instead of u - Φ_0",
	New: func(v Values, env Env) (Loss, error) {
		settings, err := catalog.Resolve("losses: triplet", tripletEntry.Settings, map[string]any{
			"distance": "l2sq", "margin": v.Number("margin"), "select": "semihard", "reduction": v.Word("reduction"),
		})
		if err != nil {
			return nil, err
		}
		inner, err := tripletEntry.New(settings, env)
		if err != nil {
			return nil, err
		}
		l := &adaptedTriplet{triplets: *inner.(*similarity), lambda: v.Number("lambda"), lambdaU: v.Number("lambda_u")}
		if l.lambdaU < 0 {
			l.lambdaU = l.lambda
		}
		l.selected = &selected{simLoss: l.triplets.fn}
		l.triplets.fn = l.selected
		l.matching = matching{printed: env.Printed, ridge: v.Number("ridge")}
		return l, nil
	},
}

func (l *adaptedTriplet) showViews() { l.triplets.showViews() }

// Eval implements [Loss]. ref must be nil.
func (l *adaptedTriplet) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	if ref != nil {
		panic("losses: adapted_triplet compares a batch with itself: ref must be nil")
	}
	checkShape("the batch", z, z.Dim())
	checkGrad(grad, z)
	l.splitLabelled(z.Labels)
	if len(l.rows) == 0 {
		return zeroGradient(grad)
	}
	known, part := l.withoutUnlabelled(grad, z)
	value := l.triplets.Eval(part, known, nil)
	if math.IsNaN(value) || !finiteRows(z, l.others) {
		return notANumber(grad)
	}
	if grad != nil && part != grad {
		clearMatrix(*grad)
		for k, i := range l.rows {
			copy(features.Row(*grad, i), features.Row(*part, k))
		}
	}
	rows, out := rowsOf[float32]{z.X.Data, z.X.Stride, z.X.Cols}, rowsOf[float32]{}
	if grad != nil {
		out = rowsOf[float32]{grad.Data, grad.Stride, grad.Cols}
	}
	return value + matchAll(l, rows, out, z.Labels)
}

// matchAll returns the second and third terms and adds their gradient to grad, unless grad is empty. It uses l.rows,
// l.others and the counts of the triplets.
func matchAll[T float32 | float64](l *adaptedTriplet, z, grad rowsOf[T], labels []int) (value float64) {
	m := &l.matching
	m.groupRows(l.rows, labels, l.selected.count, z.cols)
	if l.lambda > 0 {
		value = matchClasses(m, z, grad, l.lambda)
	}
	if l.lambdaU > 0 {
		value += matchUnlabelled(m, z, grad, l.others, l.lambdaU)
	}
	return value
}

// splitLabelled lists the labelled and the unlabelled rows.
func (l *adaptedTriplet) splitLabelled(labels []int) {
	l.rows, l.others = l.rows[:0], l.others[:0]
	for i, y := range labels {
		switch {
		case y >= 0:
			l.rows = append(l.rows, i)
		case y == features.Unlabelled:
			l.others = append(l.others, i)
		default:
			panic(fmt.Sprintf("losses: adapted_triplet: row %d has label %d, expected %d or more", i, y,
				features.Unlabelled))
		}
	}
}

// withoutUnlabelled returns the batch without its unlabelled rows, and the matrix for its gradient.
func (l *adaptedTriplet) withoutUnlabelled(grad *blas32.General, z features.Set) (features.Set, *blas32.General) {
	if len(l.others) == 0 {
		return z, grad
	}
	n, d := len(l.rows), z.Dim()
	l.known.X = features.Resize(l.known.X, n, d)
	l.known.Labels = l.known.Labels[:0]
	ids := l.known.IDs[:0]
	for k, i := range l.rows {
		copy(l.known.Row(k), z.Row(i))
		l.known.Labels = append(l.known.Labels, z.Labels[i])
		if z.IDs != nil {
			ids = append(ids, z.IDs[i])
		}
	}
	l.known.IDs = ids
	known := l.known
	if z.IDs == nil {
		known.IDs = nil
	}
	if grad == nil {
		return known, nil
	}
	l.knownGrad = features.Resize(l.knownGrad, n, d)
	return known, &l.knownGrad
}

// finiteRows reports whether the given rows hold only finite numbers.
func finiteRows(z features.Set, rows []int) bool {
	for _, i := range rows {
		for _, v := range z.Row(i) {
			if v-v != 0 {
				return false
			}
		}
	}
	return true
}

// selected counts how often every row occurs in the selected triplets (n_i). It derives the counts from ∂sum/∂S, which
// is below 0 at a positive and above 0 at a negative if the term is above 0; for squared distances its absolute value
// is 2 per term. The anchor of a triplet is counted with the positive. All rows must be in one block.
type selected struct {
	simLoss
	count   []float64 // n_i
	scratch []float64
}

func (l *selected) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	if p.first == 0 {
		l.count = growSlice(l.count, r)
		clear(l.count)
	}
	if dS == nil {
		l.scratch = growSlice(l.scratch, len(S))
		dS = l.scratch
	}
	sum, terms = l.simLoss.evalPairs(dS, S, p)
	for i := range p.rows {
		for j, w := range dS[i*r : (i+1)*r] {
			times := math.Abs(w) / 2
			l.count[j] += times
			if w < 0 {
				l.count[p.first+i] += times
			}
		}
	}
	return sum, terms
}
