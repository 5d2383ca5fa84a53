package noiserate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters/leaveout"
)

// likelihood is the share ρ of wrong labels under which the given labels are likeliest, if mistakes go to all classes alike
// ([Calibrate]); an image's amount is its probability of being one of them. A hard image is no wrong label: it fits its
// class as badly as β allows.
//
// On labels flipped at random it is the nearest; its interval is the profile of the likelihood, widened on both
// sides by how far off [Ranks] is, which assumes other things: chance is not all that can be wrong. Where mistakes go to
// similar classes it finds too few of them.
func likelihood(ctx context.Context, s *leaveout.Set) (f found, err error) {
	c, err := Calibrate(ctx, s)
	if err != nil {
		return found{}, err
	}
	said, err := c.Ask(ctx, s)
	if err != nil {
		return found{}, err
	}
	return said.likelihood(len(s.Classes)), nil
}

// Said is what rows say of the share of wrong labels, an entry for each: how probable the given label is by the similarities, and
// what [Ranks] makes of them.
type Said struct{ Given, Ranked []float64 }

// Ask asks the rows of s.
func (c Calibration) Ask(ctx context.Context, s *leaveout.Set) (Said, error) {
	said := Said{make([]float64, s.Z.Len()), make([]float64, s.Z.Len())}
	err := s.Each(ctx, func(i, y int, row []float64) { said.Given[i], said.Ranked[i] = c.Say(y, row) })
	return said, err
}

// Say returns what a row with the given column y says by its similarities.
func (c Calibration) Say(y int, row []float64) (given, ranked float64) {
	var rivals float64
	for k, t := range row {
		if k != y {
			rivals += math.Exp(math.Min(c.Beta*(t-row[y]), 700))
		}
	}
	return 1 / (1 + rivals), rankAmount(y, row)
}

// likelihood finds ρ by what all rows say of so many classes. It turns Given into amounts.
func (s Said) likelihood(classes int) found {
	p, above := s.Given, 0.0
	for _, v := range s.Ranked {
		above += v
	}
	rho, _ := mixed(p, classes)
	low, high := profile(rho, p, classes)
	apart := math.Abs(above/float64(len(p)) - rho)
	low, high = math.Max(low-apart, 0), math.Min(high+apart, Most)
	for i, v := range p {
		wrong := rho * (1 - v) / float64(classes-1)
		p[i] = wrong / (wrong + (1-rho)*v)
	}
	if rho <= leastRho {
		rho = 0
	}
	return found{amounts: p, rate: rho, low: low, high: high}
}

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
	v := make([]float64, s.Z.Len())
	err := s.Each(ctx, func(i, y int, row []float64) { v[i] = rankAmount(y, row) })
	return v, err
}

// rankAmount returns (C-1)/(C-h) where column y ranks in the lower half of the row, else 0.
func rankAmount(y int, row []float64) float64 {
	c := len(row)
	half, above := (c+1)/2, 0
	for _, t := range row {
		if t > row[y] {
			above++
		}
	}
	if above+1 > half {
		return float64(c-1) / float64(c-half)
	}
	return 0
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
