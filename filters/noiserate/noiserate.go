// Package noiserate estimates how many given labels of a set are wrong, using only its vectors and given
// labels.
//
// Every image is left out of its own judgement: it is compared with the means of the classes without it, s_ik, as
// package leaveout has it.
//
// Three methods turn these similarities into a rate ([Methods]). Each gives every image an amount v_i, and the
// estimate is the mean amount; the rate of a class is the mean over the class.
//
// The package sees given labels only and imports only features and filters/leaveout. Products are float32,
// decisions float64.
package noiserate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/catalog"
)

// The estimation methods. Likelihood is the most accurate for labels flipped at random, also on fine-grained
// photographs, where Ranks finds too many. Confident is useful only if mistakes go to similar classes and there
// are few classes.
const (
	Likelihood = "likelihood"
	Ranks      = "ranks"
	Confident  = "confident"
)

// Auto is the method used when none is named.
const Auto = Likelihood

// Methods lists the methods in display order.
func Methods() []string { return []string{Likelihood, Ranks, Confident} }

// Caution returns a remark on the reliability of a method, to be printed after its estimate, or "" for an
// unknown name.
func Caution(method string) string {
	switch method {
	case Likelihood:
		return "; it finds few or none of the systematic mistakes, such as one class taken for another"
	case Ranks:
		return "; too many where classes are hard to tell apart"
	case Confident:
		return "; far too many where classes are many or hard to tell apart"
	}
	return ""
}

// Most is the largest estimate: a filter that drops more has nothing left to compare with.
const Most = 0.95

// Estimate is an estimated rate of wrong labels.
type Estimate struct {
	Method    string
	Rate      float64   // in [0, Most]
	Low, High float64   // a 95 % interval: that of Likelihood, else the middle of resampled images
	Judged    int       // images with a label that another image shares
	Classes   []float64 // the rate of each class by its ID, NaN if none of its images is judged; much noisier
	ClassLow  []float64 // its 95 % interval, NaN likewise
	ClassHigh []float64
	Wrong     []float64 // by Likelihood: the probability that each judged image's label is wrong
	Doubt     float64   // by Likelihood: how many would be wrong if labels said nothing beyond the similarities
}

// resamples is the number of resampled image sets behind an interval.
const resamples = 400

// NewEstimate estimates the rate of wrong labels of z. Rows with a negative label have none and are left out.
// Rows need not have unit length. Whitened features work best, because the directions of raw ones are nearly
// all the same. rng draws the resampling. Time O(n·C·d).
func NewEstimate(ctx context.Context, z features.Set, classes int, method string, rng *rand.Rand) (Estimate, error) {
	s, err := leaveout.New(z, classes)
	if err != nil {
		return Estimate{Method: method}, fmt.Errorf("noise rate: %w", err)
	}
	return FromSet(ctx, s, method, rng)
}

// FromSet is [NewEstimate] for images that are already compared with classes; each image must have a share of 1
// in its given class.
func FromSet(ctx context.Context, s *leaveout.Set, method string, rng *rand.Rand) (Estimate, error) {
	e := Estimate{Method: method}
	if err := catalog.Check("noise rate: method", method, Methods()...); err != nil {
		return e, err
	}
	f, err := estimateBy(ctx, s, method, rng)
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	return e.completeEstimate(f, s.Z.Labels, len(s.Column)), nil
}

// Dealt lists the methods that use each row on its own, so that rows can be processed separately and passed to
// [FromSaid].
func Dealt() []string { return []string{Likelihood, Ranks} }

// FromSaid is FromSet for rows that were processed separately. classes is the number of label values, columns
// the number of classes compared with.
func FromSaid(
	ctx context.Context, said Said, labels []int, classes, columns int, method string, rng *rand.Rand,
) (Estimate, error) {
	e := Estimate{Method: method}
	if err := catalog.Check("noise rate: method", method, Dealt()...); err != nil {
		return e, err
	}
	if method == Likelihood {
		said.Given = slices.Clone(said.Given)
		return e.completeEstimate(said.estimateLikelihood(columns), labels, classes), nil
	}
	f, err := averageAmounts(ctx, said.Ranked, rng)
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	return e.completeEstimate(f, labels, classes), nil
}

// completeEstimate completes the estimate from what was found for rows with these labels.
func (e Estimate) completeEstimate(f found, labels []int, classes int) Estimate {
	e.Judged, e.Rate, e.Low, e.High = len(f.amounts), f.rate, f.low, f.high
	if e.Method == Likelihood {
		e.Wrong, e.Doubt = f.amounts, f.doubt
	}
	e.Classes = byClass(f.amounts, labels, classes)
	e.ClassLow, e.ClassHigh = classIntervals(e.Classes, f.amounts, labels)
	return e
}

// found is the result of a method: each judged image's amount, and the rate with its interval.
type found struct {
	amounts         []float64
	rate, low, high float64
	doubt           float64 // of Likelihood
}

func estimateBy(ctx context.Context, s *leaveout.Set, method string, rng *rand.Rand) (f found, err error) {
	switch method {
	case Likelihood:
		return likelihoodRate(ctx, s)
	case Ranks:
		f.amounts, err = compareRanks(ctx, s)
	default:
		f.amounts, err = confidentJoint(ctx, s)
	}
	if err != nil {
		return f, err
	}
	return averageAmounts(ctx, f.amounts, rng)
}

// averageAmounts returns the mean of amounts, with an interval from resampling.
func averageAmounts(ctx context.Context, amounts []float64, rng *rand.Rand) (f found, err error) {
	f.amounts, f.rate = amounts, clampRate(meanAmount(amounts))
	f.low, f.high, err = resampleInterval(ctx, amounts, rng)
	return f, err
}

// clampRate limits a rate to 0 … Most.
func clampRate(rate float64) float64 { return math.Min(math.Max(rate, 0), Most) }

func meanAmount(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// resampleInterval returns the middle 95 % of the means of resampled amounts.
func resampleInterval(ctx context.Context, amounts []float64, rng *rand.Rand) (low, high float64, err error) {
	means := make([]float64, resamples)
	for r := range means {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		var sum float64
		for range amounts {
			sum += amounts[rng.IntN(len(amounts))]
		}
		means[r] = clampRate(sum / float64(len(amounts)))
	}
	slices.Sort(means)
	return means[resamples/40], means[resamples-1-resamples/40], nil
}

// byClass returns the mean amount of each class, limited to [0, 1].
func byClass(amounts []float64, labels []int, classes int) []float64 {
	rates, n := make([]float64, classes), make([]float64, classes)
	for i, y := range labels {
		rates[y] += amounts[i]
		n[y]++
	}
	for k := range rates {
		rates[k] = math.Min(math.Max(rates[k]/n[k], 0), 1) // 0/0 stays NaN
		if n[k] == 0 {
			rates[k] = math.NaN()
		}
	}
	return rates
}

// classIntervals returns Wilson's 95 % intervals for the rates of classes: in a small class some labels may be
// wrong even if none looks wrong. An amount counts as a fraction of the largest amount, or of 1 if that is
// larger.
//
//	(p + z²/2n ± z √(p(1-p)/n + z²/4n²))/(1 + z²/n),   z = 1.96
//
// Source: Wilson, "Probable inference", JASA 1927.
func classIntervals(rates, amounts []float64, labels []int) (low, high []float64) {
	const z = 1.96
	most := math.Max(1, slices.Max(amounts))
	count := make([]float64, len(rates))
	for _, y := range labels {
		count[y]++
	}
	low, high = make([]float64, len(rates)), make([]float64, len(rates))
	for k, rate := range rates {
		n, p := count[k], rate/most
		middle := p + z*z/(2*n)
		half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
		low[k] = math.Max(most*(middle-half)/(1+z*z/n), 0)
		high[k] = math.Min(most*(middle+half)/(1+z*z/n), 1)
		if math.IsNaN(rate) {
			low[k], high[k] = rate, rate
		}
	}
	return low, high
}
