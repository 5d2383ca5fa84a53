// Package noiserate estimates how many given labels of a set are wrong, from its vectors and given labels alone.
//
// Every image is left out of its own judgement: it is compared with the directions of the classes' sums, its own
// class's without itself.
//
//	s_ik = z_i·m_k,   m_k = normalise(Σ_{j≠i, y_j=k} z_j)
//
// Three ways lead from there to a rate ([Methods]); each gives every image an amount v_i, and the estimate is their
// mean, so that a class's rate is the mean over the class.
//
// The package sees given labels only and imports only features and filters/leaveout. Products are float32, decisions float64.
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

// The ways to estimate. Likelihood is the nearest on labels flipped at random, on fine-grained photographs too, where Ranks
// finds too many; Confident serves only where mistakes go to similar classes and classes are few.
const (
	Likelihood = "likelihood"
	Ranks      = "ranks"
	Confident  = "confident"
)

// Auto is what "estimate it" means.
const Auto = Likelihood

// Methods lists the ways, in the order they are shown.
func Methods() []string { return []string{Likelihood, Ranks, Confident} }

// Caution says what an estimate by a method is worth, to be printed behind it; "" of a name that is none.
func Caution(method string) string {
	switch method {
	case Likelihood:
		return "; of mistakes by habit, such as one class taken for another, it counts few or none"
	case Ranks:
		return "; too many where classes are hard to tell apart"
	case Confident:
		return "; far too many where classes are many or hard to tell apart"
	}
	return ""
}

// Most is the largest estimate: a filter that drops more has nothing left to compare with.
const Most = 0.95

// Estimate is a rate of wrong labels.
type Estimate struct {
	Method    string
	Rate      float64   // in [0, Most]
	Low, High float64   // an interval of 95 %: Likelihood's, else the middle of resampled images
	Judged    int       // images with a label that another image shares
	Classes   []float64 // the rate of each class by its id, NaN where none of its images is judged; noisier by far
	ClassLow  []float64 // and an interval of 95 % for it, NaN likewise
	ClassHigh []float64
	Wrong     []float64 // by Likelihood: the probability that each judged image's label is wrong
}

// resamples of the images, for the interval.
const resamples = 400

// NewEstimate estimates the rate of wrong labels of z, whose rows with a negative label have none and are left out. Rows
// need no unit length; whitened features serve best (the directions of raw ones are nearly all the same). rng draws
// the resampling. Time O(n·C·d).
func NewEstimate(ctx context.Context, z features.Set, classes int, method string, rng *rand.Rand) (Estimate, error) {
	s, err := leaveout.New(z, classes)
	if err != nil {
		return Estimate{Method: method}, fmt.Errorf("noise rate: %w", err)
	}
	return FromSet(ctx, s, method, rng)
}

// FromSet is [NewEstimate] for images that are compared with classes already, each with all of its given one.
func FromSet(ctx context.Context, s *leaveout.Set, method string, rng *rand.Rand) (Estimate, error) {
	e := Estimate{Method: method}
	if err := catalog.Check("noise rate: method", method, Methods()...); err != nil {
		return e, err
	}
	f, err := find(ctx, s, method, rng)
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	return e.of(f, s.Z.Labels, len(s.Column)), nil
}

// Dealt lists the methods that go by what single rows say, and so by what was said of them apart: [FromSaid] takes them.
func Dealt() []string { return []string{Likelihood, Ranks} }

// FromSaid is FromSet for rows that were asked apart, with labels of so many classes, of which columns were compared with.
func FromSaid(
	ctx context.Context, said Said, labels []int, classes, columns int, method string, rng *rand.Rand,
) (Estimate, error) {
	e := Estimate{Method: method}
	if err := catalog.Check("noise rate: method", method, Dealt()...); err != nil {
		return e, err
	}
	if method == Likelihood {
		said.Given = slices.Clone(said.Given)
		return e.of(said.likelihood(columns), labels, classes), nil
	}
	f, err := averaged(ctx, said.Ranked, rng)
	if err != nil {
		return e, fmt.Errorf("noise rate: %w", err)
	}
	return e.of(f, labels, classes), nil
}

// of fills in what was found of rows with these labels.
func (e Estimate) of(f found, labels []int, classes int) Estimate {
	e.Judged, e.Rate, e.Low, e.High = len(f.amounts), f.rate, f.low, f.high
	if e.Method == Likelihood {
		e.Wrong = f.amounts
	}
	e.Classes = byClass(f.amounts, labels, classes)
	e.ClassLow, e.ClassHigh = classIntervals(e.Classes, f.amounts, labels)
	return e
}

// found is what a way finds: each judged image's amount, and the rate with its interval.
type found struct {
	amounts         []float64
	rate, low, high float64
}

func find(ctx context.Context, s *leaveout.Set, method string, rng *rand.Rand) (f found, err error) {
	switch method {
	case Likelihood:
		return likelihood(ctx, s)
	case Ranks:
		f.amounts, err = ranks(ctx, s)
	default:
		f.amounts, err = confident(ctx, s)
	}
	if err != nil {
		return f, err
	}
	return averaged(ctx, f.amounts, rng)
}

// averaged returns the mean of amounts, with the interval of resampled ones.
func averaged(ctx context.Context, amounts []float64, rng *rand.Rand) (f found, err error) {
	f.amounts, f.rate = amounts, clamp(mean(amounts))
	f.low, f.high, err = interval(ctx, amounts, rng)
	return f, err
}

// clamp keeps a rate between 0 and Most.
func clamp(rate float64) float64 { return math.Min(math.Max(rate, 0), Most) }

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// interval returns the middle 95 % of the means of resampled amounts.
func interval(ctx context.Context, amounts []float64, rng *rand.Rand) (low, high float64, err error) {
	means := make([]float64, resamples)
	for r := range means {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		var sum float64
		for range amounts {
			sum += amounts[rng.IntN(len(amounts))]
		}
		means[r] = clamp(sum / float64(len(amounts)))
	}
	slices.Sort(means)
	return means[resamples/40], means[resamples-1-resamples/40], nil
}

// byClass returns the mean amount of each class, kept in [0, 1].
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

// classIntervals returns Wilson's intervals of 95 % for the rates of classes: a class of few images may have none that
// looks wrong and yet some that are. An amount counts as a share of the largest, at least 1.
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
