package labelstudio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verdict is the result of a task's annotations.
type Verdict int

// The verdicts. Only the first two give a label or leave the image out.
const (
	Labelled Verdict = iota
	Dropped          // not for this data set: the choice of DropControl
	Unannotated
	Skipped
	Several // choices in one annotation
	disagreed
)

var verdictNames = [...]string{Labelled: "labelled", Dropped: "dropped", Unannotated: "not annotated",
	Skipped: "skipped", Several: "with several choices", disagreed: "on which no choice has a majority"}

// String implements fmt.Stringer.
func (v Verdict) String() string { return verdictNames[v] }

// DropControl is the control with which annotators leave an image out; its only choice is dropChoice.
const (
	DropControl = "winnow"
	dropChoice  = "drop this image"
)

// Of returns what was chosen in a control.
func (a *Answer) Of(control string) []string {
	for _, c := range a.Choices {
		if c.Control == control {
			return c.Values
		}
	}
	return nil
}

// Verdict returns the verdict of a single answer, and the label if that is Labelled.
func (a *Answer) Verdict(control string) (string, Verdict) {
	values := a.Of(control)
	switch {
	case a.Skipped:
		return "", Skipped
	case slices.Contains(a.Of(DropControl), dropChoice):
		return "", Dropped
	case len(values) == 0:
		return "", Unannotated
	case len(values) > 1:
		return "", Several
	}
	return values[0], Labelled
}

// Outcome returns the result of all answers: the choice of more than half of those who made one, as in winnow
// review. Only the answers that Counting returns count.
func Outcome(answers []Answer, control string) (label string, v Verdict) {
	answers = Counting(answers)
	type vote struct {
		label string
		v     Verdict
	}
	counts, all, without := map[vote]int{}, 0, Unannotated
	for i := range answers {
		label, v := answers[i].Verdict(control)
		switch v {
		case Labelled, Dropped:
			counts[vote{label, v}]++
			all++
		default:
			without = max(without, v)
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

// Counting returns the answers that count: those marked as the ground truth if there are any, else all.
func Counting(answers []Answer) []Answer {
	isTrue := func(a Answer) bool { return a.Truth && !a.Skipped }
	if !slices.ContainsFunc(answers, isTrue) {
		return answers
	}
	var out []Answer
	for _, a := range answers {
		if isTrue(a) {
			out = append(out, a)
		}
	}
	return out
}

// Tally counts the verdicts on tasks and remembers the first task of each.
type Tally struct {
	counts [len(verdictNames)]int
	first  [len(verdictNames)]string
}

// Add counts the verdict on a task.
func (c *Tally) Add(v Verdict, task string) {
	if c.counts[v]++; c.counts[v] == 1 {
		c.first[v] = task
	}
}

// String describes the tasks without a label; "" if all have one.
func (c *Tally) String() string {
	var without []string
	for v := Unannotated; v <= disagreed; v++ {
		if c.counts[v] > 0 {
			without = append(without, fmt.Sprintf("%d %s (as task %.40s)", c.counts[v], v, c.first[v]))
		}
	}
	said := ""
	if len(without) > 0 {
		said = "; without a label: " + strings.Join(without, ", ")
	}
	if n := c.counts[Dropped]; n > 0 {
		said += fmt.Sprintf("; left out: %d that annotators dropped", n)
	}
	return said
}

// Controls are the controls with which the tasks of an export were labelled.
type Controls map[string]bool

// Add records the controls of a task; those of JSON_MIN cannot be told from its data.
func (c Controls) Add(t *Task) {
	for i := range t.Answers {
		for _, b := range t.Answers[i].Boxes {
			if !t.Min {
				c[b.Control] = true
			}
		}
		for _, chosen := range t.Answers[i].Choices {
			if chosen.Control != DropControl && !t.Min {
				c[chosen.Control] = true
			}
		}
	}
}

// usual are common names of label controls, most certain first.
var usual = []string{control, "choice", "choices", "labels", "class", "category", "classification"}

// Usual returns the most certain label control among the names, if there is one.
func Usual(names []string) (string, bool) {
	for _, name := range usual {
		if slices.Contains(names, name) {
			return name, true
		}
	}
	return "", false
}

// Pick returns the control that holds the labels: the only one, or the one with a usual name.
func (c Controls) Pick() (string, error) {
	names := slices.Sorted(maps.Keys(c))
	if len(names) == 1 {
		return names[0], nil
	}
	if name, ok := Usual(names); ok {
		return name, nil
	}
	if len(names) == 0 {
		return "", fmt.Errorf("no annotation holds a choice, expected tasks that were annotated with " +
			"<Choices>, <Taxonomy> or <RectangleLabels>")
	}
	return "", fmt.Errorf("found choices of the controls %.200s, expected one that holds the labels",
		strings.Join(names, ", "))
}
