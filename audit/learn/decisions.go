package learn

import "slices"

// Verdict is a reviewer's answer about a given label.
type Verdict uint8

// The verdicts.
const (
	Unsure Verdict = iota
	Right
	Wrong
)

// None stands for an unknown label.
const None = -1

// Decision is a reviewer's answer. If a reviewer has answered several times about an image, the last answer is used.
type Decision struct {
	Image    int
	Reviewer string // may be empty
	Verdict  Verdict
	Label    int // the right class, if the verdict is Wrong; None: unknown
	// audited and learned are the log odds, before the decision, that the label is wrong, by each of the two experts.
	// If they are equal, as when both are 0, the decision is not used to weigh the experts.
	audited, learned float64
}

// outcome is the combined result of the decisions about one image.
type outcome struct {
	verdict Verdict // Unsure: open
	label   int
}

// sumOutcomes combines the decisions about n images. It returns the outcome of each image that has decisions, and these
// images in the order of their first decisions.
func sumOutcomes(decisions []Decision, n int) (by map[int]*outcome, order []int) {
	answers := map[int][]*Decision{} // the last answer of each reviewer
	by = map[int]*outcome{}
	for i := range decisions {
		d := &decisions[i]
		if d.Image < 0 || d.Image >= n {
			continue
		}
		o := by[d.Image]
		if o == nil {
			o = &outcome{label: None}
			by[d.Image] = o
			order = append(order, d.Image)
		}
		list := answers[d.Image]
		if at := slices.IndexFunc(list, func(a *Decision) bool { return a.Reviewer == d.Reviewer }); at >= 0 {
			list[at] = d
		} else {
			list = append(list, d)
			answers[d.Image] = list
		}
		o.verdict, o.label = findMajority(list)
	}
	return by, order
}

// findMajority returns the verdict of more than half of the sure answers, and the label that most of them chose.
func findMajority(answers []*Decision) (Verdict, int) {
	right, wrong := 0, 0
	var labels []int
	for _, d := range answers {
		switch d.Verdict {
		case Right:
			right++
		case Wrong:
			wrong++
			if d.Label != None {
				labels = append(labels, d.Label)
			}
		}
	}
	switch {
	case wrong > right:
		return Wrong, findMostFrequent(labels)
	case right > wrong:
		return Right, None
	}
	return Unsure, None
}

// findMostFrequent returns the most frequent value (the smallest in a tie), or None for no values.
func findMostFrequent(values []int) int {
	slices.Sort(values)
	best, times := None, 0
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		if j-i > times {
			best, times = values[i], j-i
		}
		i = j
	}
	return best
}
