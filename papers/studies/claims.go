package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"winnow/internal/spread"
)

// Claim is a statement of the paper about the order of its numbers.
type Claim struct {
	Say     string   `yaml:"say"`      // the claim in words
	Better  Names    `yaml:"better"`   // rows that are claimed to be better
	Than    Names    `yaml:"than"`     // rows; each row of Better is compared with each of them
	AtLeast *float64 `yaml:"at_least"` // instead of Than: a value, in the measure's own scale (a share)
	AtMost  *float64 `yaml:"at_most"`  // instead of Than: an upper bound
	By      float64  `yaml:"by"`       // smallest difference, in the measure's own scale; may be below 0
	Measure string   `yaml:"measure"`  // "": the study's first measure
	Columns Names    `yaml:"columns"`  // none: all
	// If these two are set, a row is compared with itself in other columns.
	BetterColumns Names `yaml:"better_columns"`
	ThanColumns   Names `yaml:"than_columns"`
	Most          bool  `yaml:"most"` // the claim holds if most of its comparisons hold; otherwise all must hold
}

// limitValue returns the least or largest value that a claim allows, or nil if the claim compares rows.
func (c Claim) limitValue() *float64 { return cmp.Or(c.AtLeast, c.AtMost) }

// State is the result of a comparison or a claim.
type State string

// The states.
const (
	Holds     State = "holds"
	Fails     State = "does not hold"
	CannotSay State = "cannot say"
)

// Comparison is one comparison of a claim: of two cells, or of a cell with a value.
type Comparison struct {
	Better, Than      string  // descriptions of the two sides
	spread.Difference         // differences between the sides over the seeds, minus the claim's By
	Holm              float64 // P, corrected for all comparisons of the study (Holm 1979); NaN for one seed
	State             State
	Seeds             int   // number of seeds that would decide it ([spread.Difference.Needs]); 0: decided or unknown
	Paper             *bool // whether the comparison holds for the paper's own numbers; nil: unknown
}

// decideState sets the state. For any number of seeds, a difference must be significant after Holm's correction for the
// tests of the study.
func (c *Comparison) decideState(tests int) {
	switch {
	case !(c.Holm < significance):
		c.State, c.Seeds = CannotSay, c.Needs(significance/float64(tests))
	case c.Mean > 0:
		c.State = Holds
	default:
		c.State = Fails
	}
}

// Verdict is a claim with its comparisons.
type Verdict struct {
	Claim       Claim
	Comparisons []Comparison // the comparisons that were run
	Of          int          // number of comparisons that the claim makes
}

// significance is the p-value below which a difference is significant.
const significance = 0.05

// Count returns the number of comparisons in a state.
func (v Verdict) Count(state State) (n int) {
	for _, c := range v.Comparisons {
		if c.State == state {
			n++
		}
	}
	return n
}

// State returns the state of the claim. A claim about all comparisons holds if all were run and hold, and fails if one
// fails, whatever else was not run; a claim about most is decided by the majority of all its comparisons.
func (v Verdict) State() State {
	all, holds, fails := v.Of, v.Count(Holds), v.Count(Fails)
	switch {
	case all == 0:
		return CannotSay
	case v.Claim.Most && 2*fails >= all, !v.Claim.Most && fails > 0:
		return Fails
	case v.Claim.Most && 2*holds > all, holds == all:
		return Holds
	}
	return CannotSay
}

// inPaper counts the comparisons for which the paper has numbers, and how many of these hold for the paper's numbers.
func (v Verdict) inPaper() (holds, of int) {
	for _, c := range v.Comparisons {
		if c.Paper != nil {
			of++
			if *c.Paper {
				holds++
			}
		}
	}
	return holds, of
}

// side is one side of a comparison: the row and the column of a cell.
type side struct{ row, column int }

// TestClaims tests every claim on the measured values. A comparison whose sides have no common seed has not been run.
// All seeds share one test set, so the tests generalise to other trainings, but not to other images.
func (r *Results) TestClaims() []Verdict {
	var all []Verdict
	var ps []float64
	at := map[question]int{} // index in ps
	for _, c := range r.Study.Claims {
		v := Verdict{Claim: c}
		measure := cmp.Or(c.Measure, r.Study.Measures[0])
		for _, pair := range r.listSides(c) {
			v.Of++
			if found, ok := r.compareSides(c, measure, pair[0], pair[1]); ok {
				v.Comparisons = append(v.Comparisons, found)
				if _, known := at[newQuestion(c, found)]; !known {
					at[newQuestion(c, found)] = len(ps)
					ps = append(ps, found.P)
				}
			}
		}
		all = append(all, v)
	}
	tests := 0
	for _, p := range ps {
		if !math.IsNaN(p) {
			tests++
		}
	}
	ps = spread.Holm(ps)
	for _, v := range all {
		for i := range v.Comparisons {
			c := &v.Comparisons[i]
			c.Holm = ps[at[newQuestion(v.Claim, *c)]]
			c.decideState(tests)
		}
	}
	return all
}

// question identifies a comparison, so that a comparison that occurs in two claims is tested once.
type question struct {
	better, than, measure string
	by                    float64
}

func newQuestion(c Claim, of Comparison) question {
	return question{of.Better, of.Than, c.Measure, c.By}
}

// listSides lists the pairs of sides that a claim compares. It leaves out columns that a row skips. A second side of
// {-1, -1} means that the claim compares with a value.
func (r *Results) listSides(c Claim) (out [][2]side) {
	s := r.Study
	add := func(sides [2]side) {
		for _, at := range sides {
			if at.row >= 0 && slices.Contains(s.Rows[at.row].Skip, s.Columns[at.column].Name) {
				return
			}
		}
		out = append(out, sides)
	}
	columns := func(names Names) []int {
		var at []int
		for i, col := range s.Columns {
			if len(names) == 0 || slices.Contains(names, col.Name) {
				at = append(at, i)
			}
		}
		return at
	}
	for _, better := range c.Better {
		b := s.findRowIndex(better)
		switch {
		case len(c.BetterColumns) > 0:
			for _, i := range columns(c.BetterColumns) {
				for _, j := range columns(c.ThanColumns) {
					add([2]side{{b, i}, {b, j}})
				}
			}
		case c.limitValue() != nil:
			for _, i := range columns(c.Columns) {
				add([2]side{{b, i}, {-1, -1}})
			}
		default:
			for _, than := range c.Than {
				for _, i := range columns(c.Columns) {
					add([2]side{{b, i}, {s.findRowIndex(than), i}})
				}
			}
		}
	}
	return out
}

// compareSides compares two sides, paired by seed. It returns false without a common seed.
func (r *Results) compareSides(c Claim, measure string, a, b side) (Comparison, bool) {
	less, sign := c.By, 1.0 // the tested value is sign × difference - less
	out := Comparison{Better: r.describeSide(a, c), Than: r.describeSide(b, c)}
	mine := r.collectValues(a.row, a.column, measure)
	var theirs map[int]float64
	limit := 0.0
	if b.row < 0 {
		limit = *c.limitValue()
		out.Than = fmt.Sprintf("%v", limit)
		if c.AtMost != nil {
			sign = -1
		}
	} else {
		theirs = r.collectValues(b.row, b.column, measure)
	}
	var differences []float64
	for _, seed := range listSortedKeys(mine) {
		if b.row < 0 {
			differences = append(differences, sign*(mine[seed]-limit)-less)
		} else if other, ok := theirs[seed]; ok {
			differences = append(differences, mine[seed]-other-less)
		}
	}
	if out.Difference = spread.Compare(differences); out.N == 0 {
		return out, false
	}
	p, known := r.paperValue(a, measure)
	q, other := limit, true
	if b.row >= 0 {
		q, other = r.paperValue(b, measure)
	}
	if known && other {
		out.Paper = new(sign*(p-q)-less > 0)
	}
	return out, true
}

func (r *Results) describeSide(s side, c Claim) string {
	if s.row < 0 {
		return ""
	}
	return r.Study.Rows[s.row].Name + ", " + r.Study.Columns[s.column].Name
}

// paperValue returns a value of the paper in the measure's own scale.
func (r *Results) paperValue(s side, measure string) (float64, bool) {
	row := r.Study.Rows[s.row]
	at := slices.Index(r.Study.Measures, measure)
	if len(row.Paper) == 0 || at < 0 || at >= len(row.Paper[s.column].Values) {
		return 0, false
	}
	return row.Paper[s.column].Values[at] / r.Study.computePrintScale(measure), true
}
