package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// rising names the schedule of a range test, which users cannot select: a geometric rise from LR to Min over all steps.
const rising = "rising"

// Rising returns a learning rate that rises geometrically over the given number of steps.
func Rising(from, to float64, steps int) Schedule {
	return Schedule{ScheduleConfig: ScheduleConfig{Name: rising, Min: to}, LR: from, Total: steps, Epoch: steps}
}

// Probe trains as configured and returns each step's loss, measured before the step moves the weights. It ends early
// at the first loss that is not finite. Afterwards it restores the encoder's parameters and state and the clock, but
// later training must use new solvers, losses, a new filter and a new bank. Probe neither validates nor writes files.
func Probe(ctx context.Context, cfg Config) (losses []float64, err error) {
	t, err := New(Config{Encoder: cfg.Encoder, Sampler: cfg.Sampler, Terms: cfg.Terms, Filter: cfg.Filter,
		Bank: cfg.Bank, Steps: cfg.Steps,
		Groups: cfg.Groups, Clip: cfg.Clip, Clock: cfg.Clock})
	if err != nil {
		return nil, err
	}
	if err := t.holdWeights(); err != nil {
		return nil, err
	}
	kept, began := make([][]float32, len(t.encoderParams())), t.Clock.step
	for i, p := range t.encoderParams() {
		kept[i] = slices.Clone(p.Data)
	}
	defer func() {
		err = errors.Join(err, t.releaseWeights())
		for i, p := range t.encoderParams() {
			copy(p.Data, kept[i])
		}
		t.Clock.step = began
	}()
	for range cfg.Steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("train: stopped in the range test of learning rates: %w", err)
		}
		fact, err := t.trainStep()
		if _, diverged := errors.AsType[*NonFinite](err); diverged {
			return losses, nil
		}
		if err != nil {
			return nil, err
		}
		losses = append(losses, fact.Loss)
		if cfg.Observe != nil {
			if err := cfg.Observe(*fact); err != nil {
				return nil, err
			}
		}
	}
	return losses, nil
}

// RangePoint is a step of a range test.
type RangePoint struct {
	Rate  float64
	Loss  float64 // on the next batch
	Still float64 // loss on the same batch in a second test, in which the weights under test stay fixed
}

// Range combines the learning rates of a test with the losses of both tests. The shorter list sets the length.
func Range(s Schedule, losses, still []float64) []RangePoint {
	var curve []RangePoint
	for i := 1; i < min(len(losses), len(still)); i++ {
		curve = append(curve, RangePoint{Rate: s.At(i - 1), Loss: losses[i], Still: still[i]})
	}
	return curve
}

// Smoothed returns the smoothed change in loss due to learning, as a fraction of the mean loss with fixed weights. It
// takes medians of five neighbouring rates, and then Gaussian-weighted means of these. Both windows are symmetric, so
// that smoothing does not shift a minimum.
func Smoothed(curve []RangePoint) []float64 {
	var unit float64
	for _, p := range curve {
		unit += math.Abs(p.Still) / float64(len(curve))
	}
	out := make([]float64, len(curve))
	if unit == 0 {
		return out
	}
	change := make([]float64, len(curve))
	for i, p := range curve {
		change[i] = (p.Loss - p.Still) / unit
	}
	middle := make([]float64, len(curve)) // medians, because the loss of a single batch can be an outlier
	for i := range change {
		near := slices.Sorted(slices.Values(change[max(i-2, 0):min(i+3, len(change))]))
		middle[i] = (near[(len(near)-1)/2] + near[len(near)/2]) / 2
	}
	for i := range middle {
		var sum, weights float64
		for j, v := range middle {
			d := float64(i-j) / smoothedOver
			w := math.Exp(-d * d / 2)
			sum, weights = sum+w*v, weights+w
		}
		out[i] = sum / weights
	}
	return out
}

// Parameters for Smoothed and FindRate.
const (
	smoothedOver = 1.5   // standard deviation of the Gaussian weights, in steps
	learnt       = 0.005 // smaller relative falls of the loss are ignored
	broken       = 0.05  // smaller relative rises of the loss are ignored
)

// Finding is the result of a range test.
type Finding struct {
	Rate   float64
	Lowest float64 // the rate at which the loss was lowest; 0: the loss never fell
	Fell   float64 // the relative fall of the loss at that rate
}

// FindRate chooses a learning rate from the curve of a range test: fraction times the rate at which the smoothed loss
// is lowest. If the loss never falls, FindRate chooses the smaller of otherwise and fraction times the last rate before
// the loss rises. A curve that ends early, because the rate was far too high, is treated as a rise.
func FindRate(curve []RangePoint, fraction, otherwise float64) Finding {
	f := Finding{Rate: otherwise}
	lowest, safe := -1, -1
	for i, v := range Smoothed(curve) {
		if v < -learnt && v < -f.Fell {
			lowest, f.Fell = i, -v
		}
		if v <= broken && safe == i-1 {
			safe = i
		}
	}
	switch {
	case lowest >= 0:
		f.Lowest = curve[lowest].Rate
		f.Rate = fraction * f.Lowest
	case safe >= 0:
		f.Rate = min(otherwise, fraction*curve[safe].Rate)
	case len(curve) > 0:
		f.Rate = min(otherwise, fraction*curve[0].Rate)
	}
	f.Rate = roundTo2(f.Rate)
	return f
}

// roundTo2 rounds to two significant digits.
func roundTo2(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64) // parsing its own output
	return x
}
