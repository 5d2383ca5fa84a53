package studies

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/paired"
	"winnow/internal/text"
)

// Read returns the results that [Results.CSV] wrote, with measures to six digits and without anything else that an
// outcome has.
func Read(r io.Reader) (*Results, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reproduce: results: %w", err)
	}
	if len(lines) < 2 || !slices.Equal(lines[0], csvHead) {
		return nil, fmt.Errorf("reproduce: results: expected the columns %s and at least one line",
			strings.Join(csvHead, ","))
	}
	s, err := Find(lines[1][0])
	if err != nil {
		return nil, err
	}
	out := NewResults(&s, lines[1][3], true)
	for i, line := range lines[1:] {
		if err := out.readMeasure(line); err != nil {
			return nil, fmt.Errorf("reproduce: results: line %d: %w", i+2, err)
		}
	}
	return out, nil
}

// readMeasure adds a measure of a cell.
func (r *Results) readMeasure(line []string) error {
	row, column := r.Study.findRowIndex(line[1]), r.Study.findColumnIndex(line[2])
	if line[0] != r.Study.Name || row < 0 || column < 0 {
		return fmt.Errorf("found row %q and column %q of %s, which %s has not", line[1], line[2], line[0], r.Study.Name)
	}
	if !r.Study.Rows[row].Runs() {
		return nil
	}
	seed, err := strconv.Atoi(line[7])
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	value, err := strconv.ParseFloat(line[9], 64)
	if err != nil {
		return fmt.Errorf("value: %w", err)
	}
	rate, err := strconv.ParseFloat(line[6], 64)
	if err != nil {
		return fmt.Errorf("realised_rate: %w", err)
	}
	seconds, err := strconv.ParseFloat(line[11], 64)
	if err != nil {
		return fmt.Errorf("seconds: %w", err)
	}
	r.StandIn = r.StandIn && line[10] == ""
	at := [2]int{row, column}
	if r.outcomes[at] == nil {
		r.outcomes[at] = map[int]Outcome{}
	}
	o, ok := r.outcomes[at][seed]
	if !ok {
		o = Outcome{Study: line[0], Row: line[1], Column: line[2], Seed: uint64(seed), Data: line[3],
			NoiseRate: rate, Seconds: seconds, Measures: map[string]float64{}}
	}
	measures := o.Measures
	name, last := strings.CutSuffix(line[8], lastState)
	if last {
		if o.Last == nil {
			o.Last = map[string]float64{}
		}
		measures = o.Last
	}
	measures[name] = value
	r.outcomes[at][seed] = o
	return nil
}

// Renew replaces the verdicts of a page that [Results.Markdown] wrote with today's.
func (r *Results) Renew(page string) (string, error) {
	begin := strings.Index(page, "\n"+claimsTitle+"\n")
	if begin < 0 {
		if r.writeClaimsPart() != "" {
			return "", fmt.Errorf("reproduce: the page has no part %q", claimsTitle)
		}
		return page, nil
	}
	end := len(page)
	if list := strings.Index(page[begin:], "\n- "); list >= 0 {
		if notes := strings.Index(page[begin+list:], "\n\n"); notes >= 0 {
			end = begin + list + notes + 1
		}
	}
	return page[:begin] + r.writeClaimsPart() + page[end:], nil
}

// Seeds says over how many seeds the cells are: "3 to 5 seeds".
func (r *Results) Seeds() string {
	least, most := math.MaxInt, 0
	for _, all := range r.outcomes {
		least, most = min(least, len(all)), max(most, len(all))
	}
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return text.Plural(most, "seed")
}

// Verdict is the result of a claim in words.
type Verdict struct {
	Claim       string       `json:"claim"`
	Says        string       `json:"state"`   // holds, does not hold, cannot say, or not run
	Numbers     string       `json:"numbers"` // "+0.0253, 3 seeds, p 0.02, corrected 0.1; about 5 seeds would tell"
	Run         int          `json:"run"`     // comparisons that were run
	Of          int          `json:"of"`      // comparisons that the claim makes
	Comparisons []Comparison `json:"comparisons"`
}

// Verdicts returns the study's verdicts.
func (r *Results) Verdicts() (list []Verdict) {
	for _, v := range r.testClaims() {
		one := Verdict{Claim: v.Claim.Say, Says: v.describeState(), Numbers: v.countStates(),
			Run: len(v.Comparisons), Of: v.Of, Comparisons: v.Comparisons}
		switch higher, needs := v.countHigher(); {
		case len(v.Comparisons) == 0:
			one.Numbers = text.Plural(v.Of, "comparison")
		case v.Of == 1:
			one.Numbers = v.Comparisons[0].formatComparison()
		default:
			one.Numbers += fmt.Sprintf(", higher in %d", higher)
			if needs > 0 {
				one.Numbers += fmt.Sprintf("; half of the undecided need about %d seeds or fewer", needs)
			}
		}
		list = append(list, one)
	}
	return list
}

// countHigher returns how many comparisons have the claim's sign, and the number of seeds that would settle half of the
// undecided ones; 0: more than half need too many.
func (v verdict) countHigher() (n, needs int) {
	var undecided []int
	for _, c := range v.Comparisons {
		if c.Mean > paired.Rounding {
			n++
		}
		if c.State == CannotSay {
			undecided = append(undecided, cmp.Or(c.Seeds, math.MaxInt))
		}
	}
	if len(undecided) == 0 {
		return n, 0
	}
	slices.Sort(undecided)
	if needs = undecided[(len(undecided)-1)/2]; needs == math.MaxInt {
		needs = 0
	}
	return n, needs
}
