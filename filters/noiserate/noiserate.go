// Package noiserate estimates the share of wrong labels in a set, using only its vectors and given labels.
//
// Every image is compared with the class means, each computed without that image: s_ik, as defined in package leaveout.
//
// Every label then gets a probability of being wrong ([Estimate.Wrong]); a class's noise rate is the mean over its
// images.
//
// The package uses given labels only and imports only features and filters/leaveout. Products are float32, results
// float64.
package noiserate

import (
	"context"
	"fmt"
	"math"

	"winnow/features"
	"winnow/filters/leaveout"
)

// Likelihood is the name of the method of an [Estimate]. The method misses most systematic mistakes, such as a class
// labelled as another.
const Likelihood = "likelihood"

// Most is the largest estimate. A filter that drops more has too few rows left to compare with.
const Most = 0.95

// Estimate is an estimated noise rate.
type Estimate struct {
	Method    string    // Likelihood, or the scorer of an audit that replaced it
	Rate      float64   // in [0, Most]
	Low, High float64   // a 95 % interval
	Judged    int       // number of images with a score: another image has the same label
	Classes   []float64 // noise rate by class ID, NaN without scored images; less reliable than Rate
	ClassLow  []float64 // 95 % intervals of Classes, NaN where Classes is NaN
	ClassHigh []float64
	Wrong     []float64 // probability that the label of each scored image is wrong
	Doubt     float64   // upper bound of the rate, explained at [FromSet]
}

// NewEstimate estimates the noise rate of z. Rows with a negative label are left out. Rows need not have unit length.
// Whitened features work best, because raw features have nearly the same direction. Time O(n·C·d).
func NewEstimate(ctx context.Context, z features.Set, classes int) (Estimate, error) {
	s, err := leaveout.New(z, classes)
	if err != nil {
		return Estimate{Method: Likelihood}, fmt.Errorf("noise rate: %w", err)
	}
	return FromSet(ctx, s)
}

// FromSet is [NewEstimate] for a set that is already compared with its classes; each image must have a share of 1 in
// its given class. It returns the share ρ of wrong labels that maximises the likelihood of the given labels under
// uniform noise ([Calibrate]). A hard image is not mistaken for a wrong label, as β allows for poor fits.
//
// The interval is the profile likelihood interval, widened on both sides by the difference from a second estimate by
// ranks (rankAmount) with other assumptions, because chance is not the only source of error. If images are mislabelled
// as similar classes, the rate is too low, because such labels look like similar classes. Doubt, the mean of 1 - P(y|x)
// by similarities only, includes them: it is the share of wrong labels if the given label and the true label are
// independent given the image.
func FromSet(ctx context.Context, s *leaveout.Set) (Estimate, error) {
	e := Estimate{Method: Likelihood, Judged: s.Z.Len()}
	c, err := Calibrate(ctx, s)
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	p, scratch, above := make([]float64, s.Z.Len()), make([]float64, len(s.Classes)), 0.0 // P(y|x)
	err = s.Each(ctx, func(i, y int, row []float64) {
		p[i] = c.givenProbability(y, row, scratch)
		for k, l := range c.Lean {
			row[k] += l / c.Beta
		}
		above += rankAmount(y, row)
	})
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	classes := len(s.Classes)
	e.Rate, _ = maximizeRho(p, classes)
	e.Low, e.High = profileBounds(e.Rate, p, classes)
	apart := math.Abs(above/float64(len(p)) - e.Rate)
	e.Low, e.High = math.Max(e.Low-apart, 0), math.Min(e.High+apart, Most)
	e.Doubt = 1 - meanAmount(p)
	for i, v := range p {
		wrong := e.Rate * (1 - v) / float64(classes-1)
		p[i] = wrong / (wrong + (1-e.Rate)*v)
	}
	if e.Rate <= leastRho {
		e.Rate = 0
	}
	e.Wrong = p
	e.Classes = meanByClass(p, s.Z.Labels, len(s.Column))
	e.ClassLow, e.ClassHigh = classIntervals(e.Classes, s.Z.Labels)
	return e, nil
}

// givenProbability returns the probability of the given label, column y, by the similarities in row.
func (c Calibration) givenProbability(y int, row, scratch []float64) float64 {
	top := math.Inf(-1)
	for k, t := range row {
		scratch[k] = c.Beta * t
		if c.Lean != nil {
			scratch[k] += c.Lean[k]
		}
		top = max(top, scratch[k])
	}
	sum := features.ExpSlice(scratch, scratch, 1, -top)
	return max(scratch[y]/sum, 1e-300)
}

// rankAmount compares the rank of the given class, column y, with the rank expected by chance. Classes are sorted by
// falling similarity. A right label ranks in the upper half even for a hard image. A wrong label drawn at random has
// every rank except the right label's with equal probability. So the share of wrong labels is twice the share of labels
// in the lower half:
//
//	R = P(r_i > h)·(C - 1)/(C - h),   h = ⌈C/2⌉,   r_i = 1 + #{k: s_ik > s_iy}
//
// rankAmount returns (C-1)/(C-h) if the column ranks in the lower half, else 0; the mean of these is R.
// Source: ours; Storey, "A direct approach to false discovery rates", JRSS B 2002, section 3, for the estimate.
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

func meanAmount(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// meanByClass returns the mean amount of each class.
func meanByClass(amounts []float64, labels []int, classes int) []float64 {
	rates, n := make([]float64, classes), make([]float64, classes)
	for i, y := range labels {
		rates[y] += amounts[i]
		n[y]++
	}
	for k := range rates {
		rates[k] /= n[k] // 0/0 is NaN
	}
	return rates
}

// classIntervals returns Wilson's 95 % intervals for the rates of classes: in a small class some labels may be
// wrong even if none looks wrong.
//
//	(p + z²/2n ± z √(p(1-p)/n + z²/4n²))/(1 + z²/n),   z = 1.96
//
// Source: Wilson, "Probable inference", JASA 1927.
func classIntervals(rates []float64, labels []int) (low, high []float64) {
	const z = 1.96
	count := make([]float64, len(rates))
	for _, y := range labels {
		count[y]++
	}
	low, high = make([]float64, len(rates)), make([]float64, len(rates))
	for k, p := range rates {
		n := count[k]
		middle := p + z*z/(2*n)
		half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
		low[k] = math.Max((middle-half)/(1+z*z/n), 0) // NaN stays NaN
		high[k] = math.Min((middle+half)/(1+z*z/n), 1)
	}
	return low, high
}
