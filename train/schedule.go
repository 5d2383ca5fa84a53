package train

import (
	"fmt"
	"math"
	"slices"
)

// ScheduleConfig names how the learning rate moves over a run. Steps are iterations, counted from 0.
type ScheduleConfig struct {
	Name       string  `yaml:"name" json:"name"`               // constant | cosine | multistep | supcon
	Min        float64 `yaml:"lr_min" json:"lr_min"`           // cosine: the rate at the end; supcon: see Schedule
	Milestones []int   `yaml:"milestones" json:"milestones"`   // multistep: the steps at which the rate falls
	Gamma      float64 `yaml:"gamma" json:"gamma"`             // multistep, supcon: the factor of each fall
	Warmup     int     `yaml:"warmup" json:"warmup"`           // steps of linear rise before everything
	WarmupFrom float64 `yaml:"warmup_from" json:"warmup_from"` // the rate it rises from; 0: lr/warmup, as a first step of rate 0 would be wasted
}

// Schedule is the learning rate as a function of the step alone, η the base rate and T the run's steps.
//
//	constant   η
//	cosine     min + (η - min)·(1 + cos(π t/T))/2, and min from T on
//	multistep  η·γ^(number of milestones ≤ t)
//	supcon     cosine by whole epochs e = 1, 2, …, with min = η·γ³ (SupContrast's own)
//
// With a warm-up of W steps the rate at t < W is from + (η - from)·t/W, then the schedule runs over the
// remaining T - W. Only supcon counts its warm-up inside the cosine, rising to where the cosine then is.
// Source: METHODS 15.3; golden cosine_lr, multistep_lr, supcon_lr.
type Schedule struct {
	ScheduleConfig
	LR    float64 // η
	Total int     // T
	Epoch int     // steps in an epoch (supcon)
}

// NewSchedule builds the schedule of a run of total steps in epochs of so many steps, for base rate lr.
func NewSchedule(cfg ScheduleConfig, lr float64, total, epoch int) (Schedule, error) {
	s := Schedule{ScheduleConfig: cfg, LR: lr, Total: total, Epoch: epoch}
	if s.Name == "" {
		s.Name = "constant"
	}
	return s, s.validate()
}

func (s Schedule) validate() error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("train: schedule %s: %s: found %v, expected %s", s.Name, what, found, expected)
	}
	falls := s.Name == "multistep" || s.Name == "supcon"
	switch {
	case !slices.Contains([]string{"constant", "cosine", "multistep", "supcon"}, s.Name):
		return fmt.Errorf("train: schedule %q is unknown: known are constant, cosine, multistep, supcon", s.Name)
	case !(s.LR >= 0) || math.IsInf(s.LR, 0):
		return wrong("lr", s.LR, "a finite number from 0")
	case s.Total < 1:
		return wrong("total steps", s.Total, "at least 1")
	case s.Epoch < 1:
		return wrong("steps in an epoch", s.Epoch, "at least 1")
	case s.Warmup < 0 || s.Warmup >= s.Total && s.Warmup > 0:
		return wrong("warmup", s.Warmup, fmt.Sprintf("fewer than the %d steps of the run", s.Total))
	case !(s.WarmupFrom >= 0 && s.WarmupFrom <= s.LR):
		return wrong("warmup_from", s.WarmupFrom, fmt.Sprintf("a number from 0 to the lr %v", s.LR))
	case s.Name == "cosine" && !(s.Min >= 0 && s.Min <= s.LR):
		return wrong("lr_min", s.Min, fmt.Sprintf("a number from 0 to the lr %v", s.LR))
	case s.Name != "cosine" && s.Min != 0:
		return wrong("lr_min", s.Min, "none: it belongs to cosine")
	case falls && !(s.Gamma > 0 && s.Gamma <= 1):
		return wrong("gamma", s.Gamma, "a number above 0, at most 1")
	case !falls && s.Gamma != 0:
		return wrong("gamma", s.Gamma, "none: it belongs to multistep and supcon")
	case s.Name != "multistep" && len(s.Milestones) > 0:
		return wrong("milestones", s.Milestones, "none: they belong to multistep")
	case !slices.IsSorted(s.Milestones):
		return wrong("milestones", s.Milestones, "rising steps")
	}
	return nil
}

// At is the learning rate of a step.
func (s Schedule) At(step int) float64 {
	if step >= s.Warmup {
		if s.Name == "supcon" {
			return s.plain(step)
		}
		return s.plain(step - s.Warmup)
	}
	top, from := s.LR, s.WarmupFrom
	if s.Name == "supcon" {
		top = cosineRate(s.LR, s.floor(), float64(s.Warmup)/float64(s.Total))
	}
	if from == 0 {
		from = top / float64(s.Warmup)
	}
	return from + (top-from)*float64(step)/float64(s.Warmup)
}

// plain is the schedule without its warm-up.
func (s Schedule) plain(step int) float64 {
	switch s.Name {
	case "cosine":
		return cosineRate(s.LR, s.Min, float64(step)/float64(s.Total-s.Warmup))
	case "supcon":
		epoch := step/s.Epoch + 1
		return cosineRate(s.LR, s.floor(), float64(epoch*s.Epoch)/float64(s.Total))
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

// floor is where the supcon schedule ends.
func (s Schedule) floor() float64 { return s.LR * s.Gamma * s.Gamma * s.Gamma }

// cosineRate falls from lr at 0 to lo at 1 and stays there.
func cosineRate(lr, lo, at float64) float64 {
	return lo + (lr-lo)*(1+math.Cos(math.Pi*min(at, 1)))/2
}
