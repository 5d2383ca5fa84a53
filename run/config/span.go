package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Span is a length of training, in whole steps or in epochs: "500 steps", "20 epochs", "0.5 epochs", or "0" for none.
// The number of steps in an epoch depends on the data.
type Span struct {
	N      float64
	Epochs bool
}

// Epochs returns a span of n epochs.
func Epochs(n float64) Span { return Span{n, true} }

// Steps returns a span of n steps.
func Steps(n int) Span { return Span{float64(n), false} }

// In returns the span in steps, rounded up.
func (s Span) In(stepsPerEpoch int) int {
	if s.Epochs {
		return int(math.Ceil(s.N * float64(stepsPerEpoch)))
	}
	return int(s.N)
}

// maxSpan is the largest span; a float64 holds whole numbers up to it exactly.
const maxSpan = 1e12

// UnmarshalText parses a span.
func (s *Span) UnmarshalText(text []byte) error {
	number, unit, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	n, err := strconv.ParseFloat(number, 64)
	epochs := unit == "epochs" || unit == "epoch"
	steps := unit == "steps" || unit == "step" || unit == "" && n == 0
	if err != nil || !(n >= 0 && n <= maxSpan) || !epochs && !steps || steps && n != math.Trunc(n) {
		return fmt.Errorf("found %q, expected for example \"20 epochs\" or \"500 steps\", or 0 for none", text)
	}
	*s = Span{n, epochs && n > 0}
	return nil
}

// String returns the span as written in files.
func (s Span) String() string {
	switch {
	case s.N == 0:
		return "0"
	case s.Epochs:
		return strconv.FormatFloat(s.N, 'g', -1, 64) + " epochs"
	}
	return strconv.FormatFloat(s.N, 'f', -1, 64) + " steps"
}

// MarshalText formats a span.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
