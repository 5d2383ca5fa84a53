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
	// If these two are set, a row is compared with itself in other columns or, with Than, the differences between rows
	// are: the difference is claimed to be larger in BetterColumns.
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
	Holm              float64 // P, corrected for several comparisons (Holm 1979); NaN for one seed
	State             State
	Seeds             int   // number of seeds that would decide it ([spread.Difference.Needs]); 0: decided or unknown
	Paper             *bool // whether the comparison holds for the paper's own numbers; nil: unknown
}

// decideState sets the state. For any number of seeds, a difference must be significant after Holm's correction for a
// number of tests.
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
// All seeds share one test set, so the tests generalise to other trainings, but not to other images. Holm's correction
// counts the comparisons of a claim, or those of all claims if the study is Joint.
func (r *Results) TestClaims() (all []Verdict) {
	var families [][]*Comparison
	for _, c := range r.Study.Claims {
		v := Verdict{Claim: c}
		for _, sides := range r.listSides(c) {
			v.Of++
			if found, ok := r.compareSides(c, cmp.Or(c.Measure, r.Study.Measures[0]), sides); ok {
				v.Comparisons = append(v.Comparisons, found)
			}
		}
		if len(families) == 0 || !r.Study.Joint {
			families = append(families, nil)
		}
		for i := range v.Comparisons {
			families[len(families)-1] = append(families[len(families)-1], &v.Comparisons[i])
		}
		all = append(all, v)
	}
	for _, family := range families {
		var ps []float64
		tests := 0
		for _, c := range family {
			if ps = append(ps, c.P); !math.IsNaN(c.P) {
				tests++
			}
		}
		for i, p := range spread.Holm(ps) {
			family[i].Holm = p
			family[i].decideState(tests)
		}
	}
	return all
}

// listSides lists what a claim compares: two sides or, for differences between rows, four: the better row and the
// other, then both in the column where the difference is claimed to be smaller. It leaves out columns that a row
// skips. A second side of row -1 means that the claim compares with a value.
func (r *Results) listSides(c Claim) (out [][]side) {
	s := r.Study
	add := func(sides ...side) {
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
	than := c.Than
	if len(than) == 0 {
		than = Names{""} // no row
	}
	for _, better := range c.Better {
		b := s.findRowIndex(better)
		for _, name := range than {
			t := s.findRowIndex(name)
			for _, i := range columns(slices.Concat(c.Columns, c.BetterColumns)) {
				if len(c.ThanColumns) == 0 {
					add(side{b, i}, side{t, i})
					continue
				}
				for _, j := range columns(c.ThanColumns) {
					if t < 0 {
						add(side{b, i}, side{b, j})
					} else {
						add(side{b, i}, side{t, i}, side{b, j}, side{t, j})
					}
				}
			}
		}
	}
	return out
}

// compareSides compares sides, paired by seed. It returns false without a common seed.
func (r *Results) compareSides(c Claim, measure string, sides []side) (Comparison, bool) {
	out := Comparison{Better: r.describeSide(sides[0]), Than: r.describeSide(sides[1])}
	sign := 1.0 // the tested value is sign × difference - c.By
	switch {
	case sides[1].row < 0:
		out.Than = fmt.Sprintf("%v", *c.limitValue())
		if c.AtMost != nil {
			sign = -1
		}
	case len(sides) == 4:
		name := r.Study.Rows[sides[0].row].Name
		out.Better, out.Than = name+" less "+out.Than, name+" less "+r.describeSide(sides[3])
	}
	subtract := func(valueOf func(side) (float64, bool)) (float64, bool) {
		sum := 0.0
		for k, s := range sides {
			v, known := 0.0, true
			if s.row < 0 {
				v = *c.limitValue()
			} else if v, known = valueOf(s); !known {
				return 0, false
			}
			if k == 1 || k == 2 {
				v = -v
			}
			sum += v
		}
		return sign*sum - c.By, true
	}
	var differences []float64
	for _, seed := range listSortedKeys(r.collectValues(sides[0].row, sides[0].column, measure)) {
		if d, common := subtract(func(s side) (float64, bool) {
			v, ok := r.collectValues(s.row, s.column, measure)[seed]
			return v, ok
		}); common {
			differences = append(differences, d)
		}
	}
	if out.Difference = spread.Compare(differences); out.N == 0 {
		return out, false
	}
	if d, known := subtract(func(s side) (float64, bool) { return r.paperValue(s, measure) }); known {
		out.Paper = new(d > 0)
	}
	return out, true
}

func (r *Results) describeSide(s side) string {
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
