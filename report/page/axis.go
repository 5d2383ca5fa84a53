package page

import (
	"fmt"
	"math"
	"strings"
)

// axis maps values to positions in [0, 1].
type axis struct {
	from, to float64 // range of the values, or of their logarithms if log is set
	log      bool
	ticks    []tick
}

type tick struct {
	at    float64
	label string
}

func (a axis) placeValue(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return (v - a.from) / (a.to - a.from)
}

// canShow reports whether an axis can show a value: it is finite, and positive if the axis is logarithmic.
func (a axis) canShow(v float64) bool { return isFiniteValue(v) && (!a.log || v > 0) }

// span accumulates the range of the values to draw.
type span struct {
	from, to float64
	log      bool
}

func newSpan(log bool) *span { return &span{math.Inf(1), math.Inf(-1), log} }

func (s *span) widenBy(values ...float64) {
	for _, v := range values {
		if isFiniteValue(v) && (!s.log || v > 0) {
			s.from, s.to = math.Min(s.from, v), math.Max(s.to, v)
		}
	}
}

// newAxis returns an axis over the span, with ticks at round values. A linear axis starts at 0 if zero is set or if 0
// is close to the span. percent formats the ticks as percentages. room adds a margin at both ends.
func (s *span) newAxis(zero, percent, room bool) axis {
	from, to := s.from, s.to
	if s.log {
		return s.logAxis()
	}
	if zero || from > 0 && from < 0.4*to {
		from = math.Min(from, 0)
	}
	from, to = widenRange(from, to)
	if percent {
		to = math.Min(to, math.Max(1, from+0.1)) // no share is above 100 %
	}
	if room {
		gap := 0.03 * (to - from)
		if from != 0 {
			from -= gap
		}
		if !percent || to < 1-gap {
			to += gap
		}
	}
	a := axis{from: from, to: to}
	for _, v := range roundTicks(from, to) {
		label := formatTick(v)
		if percent {
			label = formatTick(100*v) + " %"
		}
		a.ticks = append(a.ticks, tick{v, label})
	}
	return a
}

// logAxis returns an axis with ticks at powers of ten and, for short ranges, at 2 and 5 times the powers.
func (s *span) logAxis() axis {
	from, to := s.from, s.to
	if !isFiniteValue(from) {
		from, to = 1, 10
	}
	a := axis{from: math.Log10(from), to: math.Log10(to), log: true}
	if a.to-a.from < 1e-9 {
		a.from, a.to = a.from-0.5, a.to+0.5
	}
	gap := 0.03 * (a.to - a.from)
	a.from, a.to = a.from-gap, a.to+gap
	steps := []float64{1, 2, 5}
	every := 1.0
	if a.to-a.from > 3 {
		steps, every = steps[:1], math.Ceil((a.to-a.from)/7)
	}
	for e := math.Floor(a.from); e <= a.to; e += every {
		for _, m := range steps {
			v := m * math.Pow(10, e)
			if p := a.placeValue(v); p >= 0 && p <= 1 {
				a.ticks = append(a.ticks, tick{v, formatTick(v)})
			}
		}
	}
	return a
}

// widenRange returns the range, or a wider range if it is empty or a single value.
func widenRange(from, to float64) (float64, float64) {
	switch {
	case to > from:
		return from, to
	case !isFiniteValue(from) || from == 0:
		return 0, 1
	case from < 0:
		return 1.5 * from, 0.5 * from
	}
	return 0.5 * from, 1.5 * from
}

// roundTicks returns about five round numbers in [from, to].
func roundTicks(from, to float64) []float64 {
	const count = 5
	step := math.Pow(10, math.Floor(math.Log10((to-from)/count)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= count+0.5 {
			step *= m
			break
		}
	}
	var out []float64
	for k := math.Ceil(from/step - 1e-9); k*step <= to+1e-9*step; k++ {
		out = append(out, k*step)
	}
	return out
}

// formatTick formats a tick with at most four significant digits, and k or M for thousands or millions.
func formatTick(v float64) string {
	v += 0 // no "-0"
	for _, unit := range []struct {
		from, size float64
		letter     string
	}{{1e6, 1e6, "M"}, {1e4, 1e3, "k"}} {
		if a := math.Abs(v); a >= unit.from && a < 1e10 {
			return fmt.Sprintf("%.4g", v/unit.size) + unit.letter
		}
	}
	return strings.Replace(fmt.Sprintf("%.4g", v), "-", "−", 1)
}

// newNamedAxis returns an axis with the names at 0, 1, 2, …. If the names do not fit into the width room, only every
// second, third, … name is written.
func newNamedAxis(names []string, room float64) axis {
	a := axis{from: -0.5, to: math.Max(float64(len(names))-0.5, 0.5)}
	longest := 0
	for _, n := range names {
		longest = max(longest, len([]rune(n)))
	}
	fit := max(1, int(room/(letter*float64(longest)+8)))
	every := (len(names) + fit - 1) / fit
	for i, n := range names {
		if i%max(every, 1) == 0 {
			a.ticks = append(a.ticks, tick{float64(i), n})
		}
	}
	return a
}
