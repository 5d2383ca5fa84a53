package noiserate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/detectors"
	"winnow/filters/leaveout"
)

// ranks compares where the given classes rank among all with where chance would put them. Of C classes in falling
// similarity, a right label ranks in the upper half even of a hard image, while one drawn at random from the wrong
// ones is as likely at any rank but the right label's. So twice the share of labels in the lower half is the share
// of wrong ones:
//
//	R = P(r_i > h)·(C - 1)/(C - h),   h = ⌈C/2⌉,   r_i = 1 + #{k: s_ik > s_iy}
//
// It is a mixture of two distributions of which one is known and the other vanishes where it is looked at (Storey's
// estimate of true null hypotheses). Nothing is assumed of the similarities' scale and nothing is tuned. For two
// classes it is the share that the centres contradict.
// Where mistakes go to similar classes, which rank high, it finds too few of them; where so many labels are wrong
// that the centres blur, too many. Source: ours; Storey, "A direct approach to false discovery rates", JRSS B 2002,
// section 3, for the estimate.
func ranks(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	c := len(s.Classes)
	half := (c + 1) / 2
	weight := float64(c-1) / float64(c-half)
	v := make([]float64, s.Z.Len())
	err := s.Each(ctx, func(i, y int, row []float64) {
		above := 0
		for _, t := range row {
			if t > row[y] {
				above++
			}
		}
		if above+1 > half {
			v[i] = weight
		}
	})
	return v, err
}

// posterior is what vMF-Sim says: the mean of 1 - P_clean over the set, each image left out (PRISM, eq. 10-14).
// High-dimensional densities make P nearly 0 or 1, so that a hard image counts as a wrong label.
func posterior(_ context.Context, s *leaveout.Set) ([]float64, error) {
	bank := features.BankOf(s.Z, len(s.Column))
	p := (&filters.VMF{Kappa: filters.KappaBanerjee}).Score(nil, s.Z, bank, true)
	for i := range p {
		p[i] = 1 - p[i]
	}
	return p, nil
}

// mixture fits two normal distributions to the margins s_iy - max_{k≠y} s_ik; the weight of the lower is the rate.
// Without wrong labels there is no second distribution, and it halves what is one. Margins that are all the same
// fit none: 0.
func mixture(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	v := make([]float64, s.Z.Len())
	err := s.Each(ctx, func(i, y int, row []float64) {
		rival := math.Inf(-1)
		for k, t := range row {
			if k != y {
				rival = math.Max(rival, t)
			}
		}
		v[i] = row[y] - rival
	})
	if err != nil {
		return nil, err
	}
	fit, ok := detectors.FitMixture(v)
	for i := range v {
		if ok {
			v[i] = fit.Lower(v[i])
		} else {
			v[i] = 0
		}
	}
	return v, nil
}

// temperature of the similarities in confident's probabilities.
const temperature = 0.05

// confident is the confident joint of confident learning. p_i is the softmax of s_i/0.05; an image belongs with
// confidence to the likeliest class k with p_ik ≥ t_k, the mean p_jk of the images given k, if there is one; the rate
// of a given class is the share of its images so placed that lie in another.
// Source: Northcutt, Jiang & Chuang, "Confident learning", JAIR 2021, section 3.
func confident(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	c := len(s.Classes)
	bar, count := make([]float64, c), make([]float64, c)
	err := s.Each(ctx, func(i, y int, row []float64) {
		softmax(row)
		bar[y] += row[y]
		count[y]++
	})
	if err != nil {
		return nil, err
	}
	for k := range bar {
		bar[k] /= count[k]
	}
	v, column := make([]float64, s.Z.Len()), make([]int, s.Z.Len())
	placed := make([]float64, c)
	err = s.Each(ctx, func(i, y int, row []float64) {
		softmax(row)
		best := -1
		for k, p := range row {
			if p >= bar[k] && (best < 0 || p > row[best]) {
				best = k
			}
		}
		column[i] = y
		if best >= 0 {
			placed[y]++
			if best != y {
				v[i] = 1
			}
		}
	})
	for i := range v {
		if v[i] > 0 {
			v[i] = count[column[i]] / placed[column[i]]
		}
	}
	return v, err
}

// softmax turns similarities into probabilities, in place.
func softmax(row []float64) {
	floats.Scale(1/temperature, row)
	features.Softmax(row, row)
}
