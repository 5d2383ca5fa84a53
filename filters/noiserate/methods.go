package noiserate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters/leaveout"
)

// likelihoodRate returns the share ρ of wrong labels that maximises the likelihood of the given labels, if mistakes
// go to all classes alike ([Calibrate]). An image's amount is its probability of having a wrong label. A hard
// image does not count as a wrong label: it fits its class as badly as β allows.
//
// It is the most accurate method for labels flipped at random. Its interval is the profile of the likelihood,
// widened on both sides by the difference from [Ranks], which makes other assumptions: chance is not the only
// possible error. If mistakes go to similar classes it finds too few of them: it takes them for classes that look
// alike. The doubt, the mean of 1 - P(y|x) by similarities alone, counts all of them: it is the share of wrong labels
// if a given label and the true one are independent given the image.
func likelihoodRate(ctx context.Context, s *leaveout.Set) (f found, err error) {
	c, err := Calibrate(ctx, s)
	if err != nil {
		return found{}, err
	}
	said, err := c.Ask(ctx, s)
	if err != nil {
		return found{}, err
	}
	return said.estimateLikelihood(len(s.Classes)), nil
}

// Said holds what rows contribute to the estimate, one entry per row: the probability of the given label by the
// similarities, and the amount by [Ranks].
type Said struct{ Given, Ranked []float64 }

// Ask returns the contributions of the rows of s.
func (c Calibration) Ask(ctx context.Context, s *leaveout.Set) (Said, error) {
	said := Said{make([]float64, s.Z.Len()), make([]float64, s.Z.Len())}
	err := s.Each(ctx, func(i, y int, row []float64) { said.Given[i], said.Ranked[i] = c.Say(y, row) })
	return said, err
}

// Say returns the contributions of a row with these similarities, whose given label has column y.
func (c Calibration) Say(y int, row []float64) (given, ranked float64) {
	var rivals float64
	for k, t := range row {
		if k != y {
			rivals += math.Exp(math.Min(c.Beta*(t-row[y]), 700))
		}
	}
	return 1 / (1 + rivals), rankAmount(y, row)
}

// estimateLikelihood estimates ρ from the contributions of all rows, for the given number of classes. It turns Given
// into amounts.
func (s Said) estimateLikelihood(classes int) found {
	p, above := s.Given, 0.0
	for _, v := range s.Ranked {
		above += v
	}
	rho, _ := maximizeRho(p, classes)
	low, high := profileBounds(rho, p, classes)
	apart := math.Abs(above/float64(len(p)) - rho)
	low, high = math.Max(low-apart, 0), math.Min(high+apart, Most)
	doubt := 1 - meanAmount(p)
	for i, v := range p {
		wrong := rho * (1 - v) / float64(classes-1)
		p[i] = wrong / (wrong + (1-rho)*v)
	}
	if rho <= leastRho {
		rho = 0
	}
	return found{amounts: p, rate: rho, low: low, high: high, doubt: doubt}
}

// compareRanks compares the ranks of the given classes with those expected by chance. Sort the C classes by falling
// similarity: a right label ranks in the upper half even for a hard image, while a label drawn at random from
// the wrong ones has every rank but the right label's with equal probability. So twice the share of labels in
// the lower half is the share of wrong ones:
//
//	R = P(r_i > h)·(C - 1)/(C - h),   h = ⌈C/2⌉,   r_i = 1 + #{k: s_ik > s_iy}
//
// It is a mixture of two distributions, one of which is known while the other vanishes in the lower half
// (Storey's estimate of true null hypotheses). It does not depend on the scale of the similarities and has
// nothing to tune. For two classes it is the share of labels that the centres contradict. If mistakes go to
// similar classes, which rank high, it finds too few of them; if so many labels are wrong that the centres
// blur, too many.
// Source: ours; Storey, "A direct approach to false discovery rates", JRSS B 2002, section 3, for the estimate.
func compareRanks(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	v := make([]float64, s.Z.Len())
	err := s.Each(ctx, func(i, y int, row []float64) { v[i] = rankAmount(y, row) })
	return v, err
}

// rankAmount returns (C-1)/(C-h) if column y ranks in the lower half of the row, else 0.
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

// temperature divides the similarities in the probabilities of confident.
const temperature = 0.05

// confidentJoint is the confident joint of confident learning. p_i is the softmax of s_i/0.05. An image is placed in
// the likeliest class k with p_ik ≥ t_k, the mean p_jk of the images given k, if there is one. The rate of a
// given class is the share of its placed images that are in another class.
// Source: Northcutt, Jiang & Chuang, "Confident learning", JAIR 2021, section 3.
func confidentJoint(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	c := len(s.Classes)
	bar, count := make([]float64, c), make([]float64, c)
	err := s.Each(ctx, func(i, y int, row []float64) {
		softmaxRow(row)
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
		softmaxRow(row)
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

// softmaxRow turns similarities into probabilities, in place.
func softmaxRow(row []float64) {
	floats.Scale(1/temperature, row)
	features.Softmax(row, row)
}
