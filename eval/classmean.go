package eval

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// ClassMeans names the class whose mean is nearest:
//
//	ŷ(x) = argmin_y |Φ(x) - 1/n_y Σ_{i: y_i = y} Φ(x_i)|²
//
// Φ are the rows as given (winnow gives unit rows); means are not normalised again. Equal distances go to the lower
// class id. Time O((n + m·C)·d) for n rows to fit and m to judge.
// Source: adapted triplet (003), eq. 21.
type ClassMeans struct {
	Classes []int       // ids, rising
	Means   [][]float64 // one a class
}

// FitClassMeans takes the mean of every class of train, whose rows are all labelled.
func FitClassMeans(train features.Set) *ClassMeans {
	classes, of := classesOf(train.Labels)
	m := &ClassMeans{Classes: classes, Means: make([][]float64, len(classes))}
	counts := make([]float64, len(classes))
	for k := range m.Means {
		m.Means[k] = make([]float64, train.Dim())
	}
	for i, k := range of {
		counts[k]++
		for j, v := range train.Row(i) {
			m.Means[k][j] += float64(v)
		}
	}
	for k, mean := range m.Means {
		for j := range mean {
			mean[j] /= counts[k]
		}
	}
	return m
}

// Predict names a class for every row. Classes are compared by float32 products; those too near each other to tell so
// are measured again in float64.
func (m *ClassMeans) Predict(ctx context.Context, x blas32.General, maxMem int64) ([]int, error) {
	means := features.NewMatrix(len(m.Means), x.Cols)
	half, longest := make([]float64, len(m.Means)), 0.0 // |μ|²/2: the nearest mean has the greatest x·μ - |μ|²/2
	for k, mean := range m.Means {
		for j, v := range mean {
			features.Row(means, k)[j] = float32(v)
			half[k] += v * v / 2
		}
		longest = max(longest, half[k])
	}
	out := make([]int, x.Rows)
	err := eachRow(ctx, x, means, maxMem, func(i int, dot []float32, _ *ranker) {
		row, most, square := features.Row(x, i), math.Inf(-1), 0.0
		for k, v := range dot {
			most = max(most, float64(v)-half[k])
		}
		for _, v := range row {
			square += float64(v) * float64(v)
		}
		near := most - 4*resolution*(square+2*longest)
		least := math.Inf(1)
		for k, v := range dot {
			if float64(v)-half[k] < near {
				continue
			}
			if d := squaredDistance(row, m.Means[k]); d < least {
				out[i], least = m.Classes[k], d
			}
		}
	})
	return out, err
}

func squaredDistance(x []float32, mean []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += (float64(v) - mean[j]) * (float64(v) - mean[j])
	}
	return sum
}

// ClassifierOptions say what to do about classes without fitted rows, and bound the memory.
type ClassifierOptions struct {
	CountUnseen bool  // a row of a class that train has not counts as wrong
	MaxMem      int64 // bytes of products held at once; default DefaultMaxMem
}

// NearestClassMean fits the means on train and measures how often they name the class of test's rows. Rows without a
// label take no part.
func NearestClassMean(ctx context.Context, train, test features.Set, opts ClassifierOptions) (Accuracy, error) {
	train, test, err := fittable("nearest class mean", train, test)
	if err != nil {
		return Accuracy{}, err
	}
	m := FitClassMeans(train)
	predicted, err := m.Predict(ctx, test.X, opts.MaxMem)
	if err != nil {
		return Accuracy{}, err
	}
	return score(predicted, train, test, m.Classes, opts.CountUnseen), nil
}
