package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"winnow/internal/catalog"
)

// ScheduleConfig describes how the learning rate changes over a run. Steps are iterations, counted from 0.
type ScheduleConfig struct {
	Name       string  `yaml:"name" json:"name"`             // constant | cosine | linear | multistep | supcon
	Min        float64 `yaml:"lr_min" json:"lr_min"`         // cosine: the rate at the end; supcon: see Schedule
	Milestones []int   `yaml:"milestones" json:"milestones"` // multistep: the steps at which the rate falls
	Gamma      float64 `yaml:"gamma" json:"gamma"`           // multistep, supcon: factor by which the rate falls
	Warmup     int     `yaml:"warmup" json:"warmup"`         // steps of linear rise at the start
	// WarmupFrom is the rate at the start of the warm-up. 0 means lr/warmup, because a first step at rate 0 would
	// change nothing.
	WarmupFrom float64 `yaml:"warmup_from" json:"warmup_from"`
	Hold       float64 `yaml:"hold" json:"hold"`   // linear: share of the run before the rate falls
	Beta1      float64 `yaml:"beta1" json:"beta1"` // linear: the solver's β₁ from epoch E on; 0: unchanged
}

// Schedule is the learning rate as a function of the step; η is the base rate and T the number of steps in the run.
//
//	constant   η
//	cosine     min + (η - min)·(1 + cos(π t/T))/2, and min from T on
//	linear     η in the first E epochs, then η·(N - e)/(N - E) in epoch e, N epochs in all and E = round(Hold·N)
//	multistep  η·γ^(number of milestones ≤ t)
//	supcon     cosine by whole epochs e = 1, 2, …, with min = η·γ³ (SupContrast's own)
//
// With a warm-up of W steps the rate at t < W is from + (η - from)·t/W; the schedule then runs over the
// remaining T - W steps. Only supcon treats the warm-up as part of the cosine: its rate rises to the cosine's value
// at step W. linear uses whole epochs e = 0, 1, …, as Co-teaching's code does (80 of 200: Hold 0.4). Its rate is
// constant during the first epoch, and therefore in a run of a single epoch.
// Source: METHODS 12.1, 15.3; golden cosine_lr, multistep_lr, supcon_lr, coteaching_adam_plan.
type Schedule struct {
	ScheduleConfig
	LR    float64 // η
	Total int     // T
	Epoch int     // steps per epoch (supcon)
}

// NewSchedule returns the schedule for a run that has total steps, epoch steps in each epoch, and the base rate lr.
func NewSchedule(cfg ScheduleConfig, lr float64, total, epoch int) (Schedule, error) {
	s := Schedule{ScheduleConfig: cfg, LR: lr, Total: total, Epoch: epoch}
	s.Name = cmp.Or(s.Name, "constant")
	return s, s.validateSchedule()
}

func (s Schedule) validateSchedule() error {
	falls := s.Name == "multistep" || s.Name == "supcon"
	if err := catalog.Check("train: schedule", s.Name, "constant", "cosine", "linear", "multistep",
		"supcon"); err != nil {
		return err
	}
	check := catalog.Checker{Where: "train: schedule " + s.Name}
	check.That(s.LR >= 0 && !math.IsInf(s.LR, 0), "lr", s.LR, "a finite number from 0")
	check.That(s.Total >= 1, "total steps", s.Total, "at least 1")
	check.That(s.Epoch >= 1, "steps in an epoch", s.Epoch, "at least 1")
	check.That(s.Warmup == 0 || s.Warmup > 0 && s.Warmup < s.Total, "warmup", s.Warmup,
		fmt.Sprintf("fewer than the %d steps of the run", s.Total))
	check.That(s.WarmupFrom >= 0 && s.WarmupFrom <= s.LR, "warmup_from", s.WarmupFrom,
		fmt.Sprintf("a number from 0 to the lr %v", s.LR))
	check.That(s.Name != "cosine" || s.Min >= 0 && s.Min <= s.LR, "lr_min", s.Min,
		fmt.Sprintf("a number from 0 to the lr %v", s.LR))
	check.That(s.Name == "cosine" || s.Min == 0, "lr_min", s.Min, "none: it belongs to cosine")
	check.That(!falls || s.Gamma > 0 && s.Gamma <= 1, "gamma", s.Gamma, "a number above 0, at most 1")
	check.That(falls || s.Gamma == 0, "gamma", s.Gamma, "none: it belongs to multistep and supcon")
	check.That(s.Hold >= 0 && s.Hold <= 1, "hold", s.Hold, "a share from 0 to 1")
	check.That(s.Beta1 >= 0 && s.Beta1 < 1, "beta1", s.Beta1, "a number from 0 to below 1")
	check.That(s.Name == "linear" || s.Hold == 0, "hold", s.Hold, "none: it belongs to linear")
	check.That(s.Name == "linear" || s.Beta1 == 0, "beta1", s.Beta1, "none: it belongs to linear")
	check.That(s.Name == "multistep" || len(s.Milestones) == 0, "milestones", s.Milestones,
		"none: they belong to multistep")
	check.That(slices.IsSorted(s.Milestones), "milestones", s.Milestones, "rising steps")
	return check.Err
}

// At returns the learning rate of a step.
func (s Schedule) At(step int) float64 {
	if step >= s.Warmup {
		if s.Name == "supcon" {
			return s.plainRate(step)
		}
		return s.plainRate(step - s.Warmup)
	}
	top, from := s.LR, s.WarmupFrom
	if s.Name == "supcon" {
		top = cosineRate(s.LR, s.floorRate(), float64(s.Warmup)/float64(s.Total))
	}
	from = cmp.Or(from, top/float64(s.Warmup))
	return from + (top-from)*float64(step)/float64(s.Warmup)
}

// plainRate returns the schedule without its warm-up.
func (s Schedule) plainRate(step int) float64 {
	switch s.Name {
	case "cosine":
		return cosineRate(s.LR, s.Min, float64(step)/float64(s.Total-s.Warmup))
	case "supcon":
		epoch := step/s.Epoch + 1
		return cosineRate(s.LR, s.floorRate(), float64(epoch*s.Epoch)/float64(s.Total))
	case rising:
		return s.LR * math.Pow(s.Min/s.LR, float64(step)/float64(max(s.Total-1, 1)))
	case "linear":
		if e, from, all := s.fallingEpoch(step); e >= from && from < all {
			return float64(all-e) / float64(all-from) * s.LR
		}
	case "multistep":
		lr := s.LR
		for _, m := range s.Milestones {
			if step >= m {
				lr *= s.Gamma
			}
		}
		return lr
	}
	return s.LR
}

// fallingEpoch returns, for a step of a linear schedule, the step's epoch counted from the end of the warm-up, the
// first epoch in which the rate falls, and the number of epochs. Steps after the run belong to an epoch of rate 0.
func (s Schedule) fallingEpoch(step int) (e, from, all int) {
	all = (s.Total - s.Warmup + s.Epoch - 1) / s.Epoch
	return min(step/s.Epoch, all), int(math.Round(s.Hold * float64(all))), all
}

// Beta1At returns the β₁ that a step requires of the solver; 0: the solver's own.
func (s Schedule) Beta1At(step int) float64 {
	if s.Beta1 == 0 || step < s.Warmup {
		return 0
	}
	if e, from, _ := s.fallingEpoch(step - s.Warmup); e < from {
		return 0
	}
	return s.Beta1
}

// floorRate returns the final rate of the supcon schedule.
func (s Schedule) floorRate() float64 { return s.LR * s.Gamma * s.Gamma * s.Gamma }

// cosineRate falls from lr at 0 to lo at 1 and stays there.
func cosineRate(lr, lo, at float64) float64 {
	return lo + (lr-lo)*(1+math.Cos(math.Pi*min(at, 1)))/2
}
