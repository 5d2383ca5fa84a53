package sweep

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"winnow/internal/paired"
	"winnow/internal/text"
)

// table returns the settings, the best first: validation, test if there is one, and the difference to the first
// setting.
func (r *Results) table() (lines [][]string) {
	head := []string{"setting", "seeds", "validation P@1 %"}
	if r.Held != "" {
		head = append(head, r.Held+" P@1 %")
	}
	compares := len(r.Points) > 1
	if compares {
		head = append(head, "against the first", "95 %")
	}
	tested := r.tests()
	if tested {
		head = append(head, "p (Holm)")
	}
	lines = append(lines, head)
	for _, i := range r.ranked() {
		p := r.Points[i]
		line := []string{p.Words, fmt.Sprint(p.N), percent(p.Validation)}
		if r.Held != "" {
			line = append(line, percent(p.Test))
		}
		if compares {
			line = append(line, differenceText(i, p.Against), intervalText(p.Against))
		}
		if tested {
			chance := "–"
			if !math.IsNaN(p.Holm) {
				chance = text.Chance(p.Holm)
			}
			line = append(line, chance)
		}
		lines = append(lines, line)
	}
	return lines
}

// tests reports whether there are p-values.
func (r *Results) tests() bool {
	for _, p := range r.Points {
		if !math.IsNaN(p.Holm) {
			return true
		}
	}
	return false
}

func differenceText(point int, d paired.Difference) string {
	switch {
	case point == 0:
		return "the first"
	case d.N == 0:
		return "–"
	}
	return fmt.Sprintf("%+.2f", 100*d.Mean)
}

func intervalText(d paired.Difference) string {
	if d.N < 2 {
		return "–"
	}
	return fmt.Sprintf("%+.2f to %+.2f", 100*d.Low, 100*d.High)
}

// verdict says which setting is best and how certain that is.
func (r *Results) verdict() (lines []string) {
	point, c, ok := r.best()
	if !ok {
		return []string{"No training is done."}
	}
	p := r.Points[point]
	line := fmt.Sprintf("Best by validation: %s (P@1 %s %%, %s)", p.Words, percent(p.Validation),
		text.Plural(p.N, "seed"))
	if p.Test.N > 0 {
		line += fmt.Sprintf("; on %s %s %%", r.Held, percent(p.Test))
	}
	lines = append(lines, line+".")
	if d := p.Against; point > 0 && d.N > 0 {
		says := fmt.Sprintf("It is %+.2f points from the first setting, %s", 100*d.Mean, r.Points[0].Words)
		switch {
		case d.N < 2:
			says += "; one seed cannot show whether that is more than chance"
		default:
			says += fmt.Sprintf(" (95 %%: %s, over %s", intervalText(d), text.Plural(d.N, "seed"))
			if !math.IsNaN(p.Holm) {
				says += fmt.Sprintf("; p %s, corrected for %d comparisons", text.Chance(p.Holm), len(r.Points)-1)
			}
			says += ")"
			if d.Low <= 0 && d.High >= 0 {
				says += ": it is not shown to be better"
			}
		}
		lines = append(lines, says+".")
	} else if point == 0 && len(r.Points) > 1 {
		lines = append(lines, "That is the first setting: no other has a higher mean.")
	}
	if o := c.Outcome; o.Validation <= max(o.Whitened, o.Frozen) {
		lines = append(lines, fmt.Sprintf("On the validation images it is NOT better than features without "+
			"training (frozen %.2f %%, whitened %.2f %%).", 100*o.Frozen, 100*o.Whitened))
	}
	lines = append(lines, fmt.Sprintf("Its best training has seed %d: %s", c.Seed, c.Folder))
	return append(lines, "To train it again: "+c.Command)
}

// cautions returns warnings for the reader.
func (r *Results) cautions() (lines []string) {
	if r.Held == "" {
		lines = append(lines, "The manifest has no test split: validation chose the best setting, so its score is "+
			"too high.")
	}
	if r.held != "" {
		lines = append(lines, "The manifest has "+r.held+".")
	}
	untrained, done := 0, r.ranked()
	for _, i := range done {
		if !slices.ContainsFunc(r.of(i), func(c Result) bool { return c.Outcome.BestStep != 0 }) {
			untrained++
		}
	}
	if untrained > 0 {
		lines = append(lines, fmt.Sprintf("In %d of %d settings no training found a better state than its untrained "+
			"head, which it keeps.", untrained, len(done)))
	}
	for _, c := range text.First(r.Failures(), 10) {
		lines = append(lines, "Failed: "+c.Failed)
	}
	if n := len(r.Failures()); n > 10 {
		lines = append(lines, fmt.Sprintf("… and %d more: results.csv lists all", n-10))
	}
	if open := len(r.Cells) - r.len() - len(r.Failures()); open > 0 {
		lines = append(lines, fmt.Sprintf("%s of %d not done yet: the same command continues.",
			text.Plural(open, "training"), len(r.Cells)))
	}
	return lines
}

// Text writes the settings and the best for people.
func (r *Results) Text(w io.Writer) error {
	text.Aligned(w, r.table(), 0)
	fmt.Fprintln(w)
	for _, line := range r.verdict() {
		fmt.Fprintln(w, line)
	}
	for _, line := range r.cautions() {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintf(w, "Written to %s: %s\n", r.dir, strings.Join([]string{"report.html", "results.csv",
		"results.json"}, ", "))
	return err
}
