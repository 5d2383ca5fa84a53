package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// HumanLike changes labels as a person might: it moves samples close to a similar class into that class (METHODS 14.5,
// a construction of this project based on the observations of SCL-RHE).
//
// μ_c is the mean of the unit vectors of class c, scaled to length 1. The candidates of c are the Similar classes with
// the largest cosine; the new label of a sample of c is candidate k with probability softmax_k(cos(μ_c,
// μ_k)/Temperature). In every class, round(Rate·n) samples are drawn without replacement, with weights e^{a/Sharpness},
// where a is the ambiguity
//
//	a = max over the candidates k of z·μ_k - z·μ_c
//
// Classes of one sample keep their label: their mean is the sample itself. Time O(C²·d + N·m·d).
type HumanLike struct {
	Rate        float64        // share of labels to change in every class
	X           blas32.General // reference vectors, one row per sample
	Similar     int            // number m of candidates per class; 0 means 3
	Temperature float64        // of the softmax over classes; 0 means 0.1
	Sharpness   float64        // of the weights of samples; 0 means 0.05
	Nearest     bool           // use the sample's nearest candidate instead of a drawn one
}

// fillDefaults returns h with its zero fields set to the defaults.
func (h HumanLike) fillDefaults() HumanLike {
	h.Similar = cmp.Or(h.Similar, 3)
	h.Temperature = cmp.Or(h.Temperature, 0.1)
	h.Sharpness = cmp.Or(h.Sharpness, 0.05)
	return h
}

// Corrupt implements Noise.
func (h HumanLike) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	if err := checkVectors(h.X, len(labels)); err != nil {
		return nil, err
	}
	h = h.fillDefaults()
	z, err := unitRows(h.X)
	if err != nil {
		return nil, err
	}
	means, err := classMeans(z, labels, len(classes))
	if err != nil {
		return nil, err
	}
	out := slices.Clone(labels)
	cosines := make([]float64, len(classes))
	for class, members := range membersOf(labels, len(classes)) {
		if len(members) < 2 {
			continue
		}
		for k := range means {
			cosines[k] = multiplyMeans(means[class], means[k])
		}
		candidates, chances := h.findConfusion(class, cosines)
		keys, nearest := make([]float64, len(members)), make([]int, len(members))
		for m, i := range members {
			best := math.Inf(-1)
			for _, k := range candidates {
				if a := measureAmbiguity(z[i], means[class], means[k]); a > best {
					best, nearest[m] = a, k
				}
			}
			keys[m] = best/h.Sharpness + drawGumbel(rng)
		}
		for _, m := range findLargest(keys, halfUp(h.Rate*float64(len(members)))) {
			out[members[m]] = nearest[m]
			if !h.Nearest {
				out[members[m]] = candidates[drawPosition(chances, rng)]
			}
		}
	}
	return out, nil
}

// findConfusion returns the candidates of a class, nearest first, and their probabilities, which sum to 1.
func (h HumanLike) findConfusion(class int, cosines []float64) (candidates []int, chances []float64) {
	others := slices.Clone(cosines)
	others[class] = math.Inf(-1)
	candidates = findLargest(others, min(h.Similar, len(cosines)-1))
	chances = make([]float64, len(candidates))
	sum := 0.0
	for j, k := range candidates {
		chances[j] = math.Exp((cosines[k] - cosines[candidates[0]]) / h.Temperature)
		sum += chances[j]
	}
	for j := range chances {
		chances[j] /= sum
	}
	return candidates, chances
}

// measureAmbiguity returns how much larger the dot product of z with another mean is than with its own class's mean.
func measureAmbiguity(z, own, other []float64) float64 {
	return multiplyMeans(z, other) - multiplyMeans(z, own)
}

// drawGumbel draws from the standard Gumbel distribution. Taking the n largest values of log weight + gumbel draws n
// items without replacement with these weights.
func drawGumbel(rng *rand.Rand) float64 { return -math.Log(rng.ExpFloat64()) }

// findLargest returns the positions of the n largest values, largest first; ties keep their order.
func findLargest(values []float64, n int) []int {
	at := make([]int, len(values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return at[:n]
}

// drawPosition returns a position drawn with the given probabilities.
func drawPosition(chances []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for j, p := range chances {
		if u -= p; u < 0 {
			return j
		}
	}
	return len(chances) - 1
}

// unitRows returns the rows of x in float64, scaled to length 1.
func unitRows(x blas32.General) ([][]float64, error) {
	rows := make([][]float64, x.Rows)
	for i := range rows {
		rows[i] = make([]float64, x.Cols)
		for j := range rows[i] {
			rows[i][j] = float64(x.Data[i*x.Stride+j])
		}
		if !scaleToOne(rows[i]) {
			return nil, fmt.Errorf("datasets: vector %d has no direction: it is zero or not finite", i)
		}
	}
	return rows, nil
}

// classMeans returns the mean vector of every class, scaled to length 1.
func classMeans(z [][]float64, labels []int, classes int) ([][]float64, error) {
	means := make([][]float64, classes)
	for c := range means {
		means[c] = make([]float64, len(z[0]))
	}
	for i, label := range labels {
		for j, v := range z[i] {
			means[label][j] += v
		}
	}
	for c, mean := range means {
		if !scaleToOne(mean) {
			return nil, fmt.Errorf("datasets: the vectors of class %d cancel out: their mean has no direction", c)
		}
	}
	return means, nil
}

// scaleToOne divides v by its length. It reports false if the length is 0 or not finite.
func scaleToOne(v []float64) bool {
	norm := math.Sqrt(multiplyMeans(v, v))
	if !(norm > 0) || math.IsInf(norm, 0) {
		return false
	}
	for j := range v {
		v[j] /= norm
	}
	return true
}

func multiplyMeans(a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}
