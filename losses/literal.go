package losses

import (
	"maps"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Contrastive is the catalog's contrastive loss. A setting of 0 takes the catalog's default.
type Contrastive struct {
	Margin float64 // similarity λ below which a negative is left alone; 0: 0.5

	literal
}

// Eval implements [Loss].
func (l *Contrastive) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral("contrastive", func() Values { return Values{"margin": l.Margin} }, grad, z, ref)
}

// MultiSimilarity is the catalog's multi_similarity loss. A setting of 0 takes the catalog's default.
type MultiSimilarity struct {
	Alpha   float64 // how sharply the least similar positive is taken; 0: 2
	Beta    float64 // how sharply the most similar negative is taken; 0: 50
	Base    float64 // similarity λ around which pairs count; 0: 0.5
	Epsilon float64 // of the miner: how much less informative than the bound a pair may be; 0: 0.1

	literal
}

// Eval implements [Loss].
func (l *MultiSimilarity) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral("multi_similarity", func() Values {
		return Values{"alpha": l.Alpha, "beta": l.Beta, "base": l.Base, "epsilon": l.Epsilon}
	}, grad, z, ref)
}

// Circle is the catalog's circle loss. A setting of 0 takes the catalog's default.
type Circle struct {
	Margin float64 // positives are wanted above 1 - Margin, negatives below Margin; 0: 0.4
	Gamma  float64 // scale of the similarities; 0: 80

	literal
}

// Eval implements [Loss].
func (l *Circle) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral("circle", func() Values { return Values{"margin": l.Margin, "gamma": l.Gamma} }, grad, z, ref)
}

// NTXent is the catalog's ntxent loss (InfoNCE).
type NTXent struct {
	Temperature float64 // divides the similarities; 0: the catalog's default, 0.07

	literal
}

// Eval implements [Loss].
func (l *NTXent) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral("ntxent", func() Values { return Values{"temperature": l.Temperature} }, grad, z, ref)
}

// SupCon is the catalog's supcon loss, with the mean over the positives outside the logarithm.
type SupCon struct {
	Temperature float64 // divides the similarities; 0: the catalog's default, 0.1

	literal
}

// Eval implements [Loss].
func (l *SupCon) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral("supcon", func() Values { return Values{"temperature": l.Temperature} }, grad, z, ref)
}

// BatchHard is the catalog's triplet loss with the farthest positive and the nearest negative of every anchor.
type BatchHard struct {
	Margin float64 // by how much the negative must be farther, squared distances; 0: the catalog's default, 0.2

	literal
}

// Eval implements [Loss].
func (l *BatchHard) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.evalLiteral(
		"triplet",
		func() Values { return Values{"select": "batch_hard", "margin": l.Margin} },
		grad,
		z,
		ref,
	)
}

// literal is a loss of the catalog that the first Eval builds.
type literal struct{ loss Loss }

// evalLiteral builds the loss from settings, where 0 takes the default, and evaluates it. It panics if one is out of
// range.
func (l *literal) evalLiteral(name string, settings func() Values, grad *blas32.General, z features.Set,
	ref *features.Set) float64 {
	if l.loss == nil {
		v := settings()
		maps.DeleteFunc(v, func(_ string, value any) bool { return value == 0.0 })
		undrawn := func() *rand.Rand { return nil } // no literal draws
		var err error
		if l.loss, err = New(name, v, Env{Dim: 1, Classes: 1, Step: undrawn}); err != nil {
			panic(err)
		}
	}
	return l.loss.Eval(grad, z, ref)
}
