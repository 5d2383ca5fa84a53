package eval

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// ClassMeans predicts the class with the nearest mean:
//
//	ŷ(x) = argmin_y |Φ(x) - 1/n_y Σ_{i: y_i = y} Φ(x_i)|²
//
// Φ are the rows as given (winnow gives unit rows). The means are not normalised. For equal distances, the lower class
// ID is predicted. Time O((n + m·C)·d) for n rows to fit and m rows to predict. Source: adapted triplet (003), eq. 21.
type ClassMeans struct {
	Classes []int       // IDs, ascending
	Means   [][]float64 // one per class
}

// FitClassMeans computes the mean of every class of train, whose rows must all be labelled.
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

// Predict returns the predicted class of every row. It compares classes by float32 products, and if these are too
// close, again in float64.
func (m *ClassMeans) Predict(ctx context.Context, x blas32.General, maxMem Bytes) ([]int, error) {
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

// ClassifierOptions set how to treat classes without fitted rows, and the memory limit.
type ClassifierOptions struct {
	CountUnseen bool  // a row whose class is not in train counts as wrong
	MaxMem      Bytes // bytes of products in memory at once; default DefaultMaxMem
}

// NearestClassMean fits the means on train and measures how often they predict the class of test's rows. Rows
// without a label are ignored.
func NearestClassMean(ctx context.Context, train, test features.Set, opts ClassifierOptions) (Accuracy, error) {
	train, test, err := fittableRows("nearest class mean", train, test)
	if err != nil {
		return Accuracy{}, err
	}
	m := FitClassMeans(train)
	predicted, err := m.Predict(ctx, test.X, opts.MaxMem)
	if err != nil {
		return Accuracy{}, err
	}
	return scorePredicted(predicted, train, test, m.Classes, opts.CountUnseen), nil
}
