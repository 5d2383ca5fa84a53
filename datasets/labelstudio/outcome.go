package labelstudio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verdict is the result of a task's annotations.
type Verdict string

// The verdicts. Only the first two give a label or leave the image out.
const (
	Labelled Verdict = "labelled"
	Dropped  Verdict = "dropped" // not for this data set: the choice of dropControl

	unannotated Verdict = "not annotated"
	skipped     Verdict = "skipped"
	several     Verdict = "with several choices"
	disagreed   Verdict = "on which no choice has a majority"
)

// dropControl is the control with which annotators leave an image out; its only choice is dropChoice.
const (
	dropControl = "winnow"
	dropChoice  = "drop this image"
)

// Outcome returns the result of all answers: the choice of more than half of those who made one. If an answer is marked
// as the ground truth, only such answers count.
func Outcome(answers []Answer, control string) (label string, v Verdict) {
	type vote struct {
		label string
		v     Verdict
	}
	counts, all, without := map[vote]int{}, 0, unannotated
	for _, a := range chooseCounting(answers) {
		values := a.Choices[control]
		switch {
		case a.Skipped:
			without = skipped
		case slices.Contains(a.Choices[dropControl], dropChoice):
			counts[vote{"", Dropped}]++
			all++
		case len(values) == 1:
			counts[vote{values[0], Labelled}]++
			all++
		case len(values) > 1:
			without = several
		}
	}
	for vote, n := range counts {
		if 2*n > all {
			return vote.label, vote.v
		}
	}
	if all > 0 {
		return "", disagreed
	}
	return "", without
}

// chooseCounting returns the answers that count: those marked as the ground truth if there are any, else all.
func chooseCounting(answers []Answer) []Answer {
	var out []Answer
	for _, a := range answers {
		if a.truth && !a.Skipped {
			out = append(out, a)
		}
	}
	if out == nil {
		return answers
	}
	return out
}

// Tally counts the tasks of each verdict.
type Tally map[Verdict]int

// String describes the tasks without a label; "" if all have one.
func (c Tally) String() string {
	var without []string
	for _, v := range []Verdict{unannotated, skipped, several, disagreed} {
		if c[v] > 0 {
			without = append(without, fmt.Sprintf("%d %s", c[v], v))
		}
	}
	said := ""
	if len(without) > 0 {
		said = "; without a label: " + strings.Join(without, ", ")
	}
	if n := c[Dropped]; n > 0 {
		said += fmt.Sprintf("; left out: %d that annotators dropped", n)
	}
	return said
}

// Controls are the controls with which the tasks of an export were labelled.
type Controls map[string]bool

// Add records the controls of a task.
func (c Controls) Add(t *Task) {
	for _, a := range t.Answers {
		for _, b := range a.Boxes {
			c[b.Control] = true
		}
		for name := range a.Choices {
			if name != dropControl {
				c[name] = true
			}
		}
	}
}

// usual are common names of label controls, most certain first.
var usual = []string{"label", "choice", "choices", "labels", "class", "category", "classification"}

// Pick returns the control that holds the labels: the only one, or the one with a usual name.
func (c Controls) Pick() (string, error) {
	names := slices.Sorted(maps.Keys(c))
	if len(names) == 1 {
		return names[0], nil
	}
	for _, name := range usual {
		if c[name] {
			return name, nil
		}
	}
	return "", fmt.Errorf("found choices of the controls [%.200s], expected one that holds the labels, by <Choices> "+
		"or <RectangleLabels>", strings.Join(names, ", "))
}
