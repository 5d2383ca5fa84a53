package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// rising is the schedule of a range test, which nobody can ask a run for: geometric, from LR to Min over all steps.
const rising = "rising"

// Rising returns a learning rate that rises geometrically over so many steps.
func Rising(from, to float64, steps int) Schedule {
	return Schedule{ScheduleConfig: ScheduleConfig{Name: rising, Min: to}, LR: from, Total: steps, Epoch: steps}
}

// Probe trains as a Config says and returns the loss of every step, measured before it; they end with the first that is no
// number. Then the encoder's parameters and state and the clock are as they were: whoever trains next must bring solvers,
// losses, filter and bank of their own. Nothing is validated, written or told but Stepped.
func Probe(ctx context.Context, cfg Config) (losses []float64, err error) {
	t, err := New(Config{Encoder: cfg.Encoder, Sampler: cfg.Sampler, Terms: cfg.Terms, Filter: cfg.Filter,
		Bank: cfg.Bank, Steps: cfg.Steps,
		Groups: cfg.Groups, Clip: cfg.Clip, StepIdle: cfg.StepIdle, Clock: cfg.Clock})
	if err != nil {
		return nil, err
	}
	kept, began := make([][]float32, len(t.numbers())), t.Clock.step
	for i, p := range t.numbers() {
		kept[i] = slices.Clone(p.Data)
	}
	defer func() {
		for i, p := range t.numbers() {
			copy(p.Data, kept[i])
		}
		t.Clock.step = began
	}()
	for range cfg.Steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("train: stopped in the range test of learning rates: %w", err)
		}
		fact, err := t.step()
		if _, diverged := errors.AsType[*NonFinite](err); diverged {
			return losses, nil
		}
		if err != nil {
			return nil, err
		}
		losses = append(losses, fact.Loss)
		if cfg.Stepped != nil {
			cfg.Stepped(*fact)
		}
	}
	return losses, nil
}

// RangePoint is a step of a range test.
type RangePoint struct {
	Rate  float64
	Loss  float64 // on the next batch
	Still float64 // the same batch's where the weights in question rest and all else is the same
}

// Range pairs the rates of a test with what they led to. It ends where either side's losses do.
func Range(s Schedule, losses, still []float64) []RangePoint {
	var curve []RangePoint
	for i := 1; i < min(len(losses), len(still)); i++ {
		curve = append(curve, RangePoint{Rate: s.At(i - 1), Loss: losses[i], Still: still[i]})
	}
	return curve
}

// Smoothed returns what learning changed in the losses of a curve, in units of the loss of the weights at rest, smoothed over
// neighbouring rates on both sides, so that a turn is not moved: medians of five, then their weighted mean.
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
	middle := make([]float64, len(curve)) // single batches may be far off
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

// How curves are read.
const (
	smoothedOver = 1.5   // steps: the deviation of the weights
	learnt       = 0.005 // a fall of the loss by less of its size is none
	broken       = 0.05  // nor is a rise by less
)

// Finding is what a range test found.
type Finding struct {
	Rate   float64
	Lowest float64 // the rate of the lowest loss; 0: at none it fell
	Fell   float64 // by how much of its size
}

// FindRate reads a curve: the rate is a fraction of the rate at which the smoothed loss is lowest. Where it falls at no
// rate, the rate is otherwise, or the same fraction of the last rate before it rises if that is less. Losses that
// end, as numbers do where a rate is far too high, count as risen.
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

// roundTo2 rounds to two digits.
func roundTo2(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64) // its own text
	return x
}
