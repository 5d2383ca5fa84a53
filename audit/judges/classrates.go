package judges

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"winnow/filters/noiserate"
)

const (
	// differing is how many standard deviations the classes' numbers of likely wrong labels must differ more than by
	// chance before every class gets a rate of its own.
	differing = 5
	rateTurns = 3
)

// weighClassRates replaces the noise rate of a pool by a rate for each class. Some labels are given by mistake more
// often than others, and images of some classes are mislabelled more often. With one rate for all, difficult images of
// a clean class look as wrong as those of a noisy one. Rates are fitted twice: by given label, then by most probable
// class. Call it for classes of like sizes only: small classes have too few images to fit rates.
//
// gain is the gain of the channel, in nats a label. Where classes are confused, a class can take over the images of
// another, and a high rate of its label then hides that. So the log odds of a given label's rate are multiplied by
// (0.1 - gain)/(0.1 + gain), at least 0.
func (f *field) weighClassRates(all pool, gain float64) {
	given := make([]int, f.n)
	for i := range given {
		given[i] = int(f.given[i])
	}
	f.addClassRates(all, given, math.Max(believed-gain, 0)/(believed+gain))
	f.addClassRates(all, f.findBest(all), -1)
}

// findBest returns the index of the most probable candidate of each image. The given label wins ties.
func (f *field) findBest(all pool) []int {
	best := make([]int, f.n)
	for i := range best {
		best[i] = int(f.given[i])
		for j, v := range all.candidates[i*f.m:][:f.m] {
			if v > all.candidates[i*f.m+best[i]] {
				best[i] = j
			}
		}
	}
	return best
}

// addClassRates adds weight times the log odds of a right label, by the rates of classes, to the candidates at the
// indices of, one for each image. With a negative weight, given labels are left as they are. If, of the n_y images
// whose candidate is class y, c_y have a label that is more likely wrong than right, and s is the share of such labels,
//
//	ρ_y = ρ (c_y + a s)/(s (n_y + a)),   a = (n - 1)/(χ² - 1) - 1
//
// replaces the rate ρ; an image is left out of its own c_y and n_y. n is the mean n_y, and χ² the mean squared
// deviation of c_y from n_y s, in units of what chance explains: a beta prior by the method of moments. Likely wrong
// labels are counted, and probabilities are not added up, since these also differ between classes that are hard to
// tell apart.
func (f *field) addClassRates(all pool, of []int, weight float64) {
	odds, shift, images := make([]float64, f.n), make([]float64, f.n), make([]float64, f.classes)
	rate := 0.0
	for i, j := range of {
		odds[i] = f.computeOdds(i, all)
		rate += 1 / (1 + math.Exp(odds[i])) / float64(f.n)
		images[f.column[i*f.m+j]]++
	}
	rate = math.Min(math.Max(rate, leastRho), noiserate.MostOf(f.classes))
	for range rateTurns {
		wrong := make([]float64, f.classes)
		for i, o := range odds {
			if o+shift[i] < 0 {
				wrong[f.column[i*f.m+of[i]]]++
			}
		}
		share := floats.Sum(wrong) / float64(f.n)
		prior, ok := fitRatePrior(wrong, images, share)
		if !ok {
			return
		}
		for i, o := range odds {
			y, own := f.column[i*f.m+of[i]], 0.0
			if o+shift[i] < 0 {
				own = 1
			}
			by := rate * (wrong[y] - own + prior*share) / (share * (images[y] - 1 + prior))
			by = math.Min(math.Max(by, leastRho), noiserate.MostOf(f.classes))
			shift[i] = math.Log((1-by)/by) - math.Log((1-rate)/rate)
		}
	}
	for i, j := range of {
		if weight > 0 || j != int(f.given[i]) {
			all.candidates[i*f.m+j] += float32(weight * shift[i])
		}
	}
}

// fitRatePrior returns the weight a of the mean rate, and whether the classes differ by more than chance.
func fitRatePrior(wrong, images []float64, share float64) (weight float64, ok bool) {
	var chi, variance, classes, n float64
	for y, c := range wrong {
		if expected := images[y] * share * (1 - share); expected > 0 {
			off := c - images[y]*share
			chi += off * off / expected
			variance += 2 + (1-6*share*(1-share))/expected
			classes++
			n += images[y]
		}
	}
	if chi-(classes-1) < differing*math.Sqrt(variance) || classes < 2 {
		return 0, false
	}
	return math.Max((n/classes-1)/(chi/(classes-1)-1)-1, 1), true
}

// computeOdds returns the log odds that the given label of image i is right.
func (f *field) computeOdds(i int, all pool) float64 {
	others := make([]float64, 0, f.m)
	for j, v := range all.candidates[i*f.m:][:f.m] {
		if j != int(f.given[i]) {
			others = append(others, float64(v))
		}
	}
	if f.tail != nil {
		others = append(others, float64(all.rest[i]))
	}
	return float64(all.candidates[i*f.m+int(f.given[i])]) - math.Max(floats.LogSumExp(others), -700)
}
