package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// How says why an image was shown.
type How uint8

// The reasons.
const (
	Suspect How = iota // it was likely wrong, or taught most
	Random             // it was drawn at random: its question has a Draw
	Copied             // a copy of it with the same label was asked about, and the answer holds for all
	Import             // somebody else chose it, as in an import: it teaches, but stands for no other image
)

// reasons are the texts of the reasons.
var reasons = []string{Suspect: "suspect", Random: "random", Copied: "copy", Import: "import"}

// String returns the reason as stored.
func (h How) String() string { return reasons[h] }

// MarshalText implements [encoding.TextMarshaler].
func (h How) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *How) UnmarshalText(text []byte) error {
	at := slices.Index(reasons, string(text))
	if at < 0 {
		return fmt.Errorf("learn: found reason %.40q, expected one of %s", text, strings.Join(reasons, ", "))
	}
	*h = How(at)
	return nil
}

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

// Question is an image to show, with what was predicted when it was chosen. The answer is stored with it.
type Question struct {
	Image     int     `json:"image"`
	How       How     `json:"how"`
	Wrong     float64 `json:"wrong"`     // probability that the given label is wrong
	Suggested int     `json:"suggested"` // class; the given one if none is likelier
	// Copies are undecided copies with the same given label: one answer may decide them too, with How Copied.
	Copies []int `json:"copies,omitempty"`
	// Audited and Learned are the log odds of the two experts that the label is wrong. Equal ones, as both 0 in an
	// import, do not judge the experts.
	Audited float64 `json:"audited"`
	Learned float64 `json:"learned"`
	Draw    *Draw   `json:"draw,omitempty"` // of Random
}

// Draw is a random draw of one of the undecided images, with all that counting needs to know of its moment.
type Draw struct {
	Seq    int64   `json:"seq"`    // State.Seq: decisions up to it were known
	Of     int     `json:"of"`     // n_t, undecided images
	Chance float64 `json:"chance"` // p_ti; 1/n_t: each image was as likely as any other
	Said   float64 `json:"said"`   // f_ti, the predicted probability that the label is wrong
	Told   float64 `json:"told"`   // Σ_{U_t} f_tj
	Mean   float64 `json:"mean"`   // g_ti, the prediction shrunk by what earlier draws showed
	Left   float64 `json:"left"`   // Σ_{U_t} g_tj
	Low    float64 `json:"low"`    // least (y_j - g_tj)/p_tj of the undecided
	High   float64 `json:"high"`   // largest
	Vary   float64 `json:"vary"`   // v_t, expected variance of T_t if g is right
	Times  int     `json:"times"`  // how often the image was drawn from this state, from 1
}

// isUniform reports whether each image was as likely as any other.
func (d *Draw) isUniform() bool { return math.Abs(d.Chance*float64(d.Of)-1) < 1e-9 }

// Asked is a question as it is stored. The image is known by its path.
type Asked struct {
	How       How     `json:"how"`
	Wrong     float64 `json:"wrong"`
	Audited   float64 `json:"audited"`
	Learned   float64 `json:"learned"`
	Draw      *Draw   `json:"draw,omitempty"`
	Withdrawn bool    `json:"withdrawn,omitempty"` // shown, but the reviewer did not want to answer it
}

// Decision is a reviewer's answer. Of several answers of one reviewer about one image the last one counts.
type Decision struct {
	Question
	Seq      int64  // rises from 1 with each answer or batch of answers, as the version of a store of decisions
	Reviewer string // "": without a name
	Verdict  Verdict
	Label    int // the right class, if the verdict is Wrong; None: unknown
}

// outcome is what the decisions about one image come to.
type outcome struct {
	verdict Verdict // Unsure: open
	label   int
	turns   []int64 // Seq at which it was settled, open again, settled again, …
}

// settledBy reports whether the image was settled by the decisions up to seq.
func (o *outcome) settledBy(seq int64) bool {
	n, _ := slices.BinarySearch(o.turns, seq+1)
	return n%2 == 1
}

// sumOutcomes sums up decisions about n images: by image, and the images in the order of their first answers.
func sumOutcomes(decisions []Decision, n int) (by map[int]*outcome, order []int) {
	answers := map[int][]*Decision{} // the last of each reviewer
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
		was := o.verdict != Unsure
		o.verdict, o.label = findMajority(list)
		if (o.verdict != Unsure) != was {
			o.turns = append(o.turns, d.Seq)
		}
	}
	return by, order
}

// findMajority returns what more than half of the sure answers say, and the label that most of them chose.
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

// findMostFrequent returns the most frequent value, the smallest of several, or None.
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
