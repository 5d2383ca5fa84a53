// Package rehearsal plays a review with reviewers who answer from the known truth, and counts what they find: the same
// learning, choosing and counting as a review by people (audit/learn), beside the audit's list from top to bottom.
//
// The truth reaches the answers only.
package rehearsal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
)

// Options say how a review is played. The zero value finds all wrong labels.
type Options struct {
	Goal      learn.Goal // "": Find
	Decisions int        // stop after so many questions; 0: all images
	Until     learn.Rule // stop when it is met
	Pace      float64    // decisions an hour, for rules of hours; 0: 1200, one in three seconds
	Check     int        // begin with so many images drawn at random
	Batch     int        // questions between two rounds of learning; 0: 20
	Reviewers int        // each answers every question; 0: 1
	Mistaken  float64    // share of answers that are wrong, of each reviewer
	Seed      uint64     // of the mistakes and of the draws
	At        []int      // numbers of decisions to report; nil: every tenth of the images, and 60, 100, 200 and 500
}

// Point is the state of the review after a number of decisions.
type Point struct {
	Decisions int `json:"decisions"`
	Found     int `json:"found"`
	// FoundByList is what as many decisions down the audit's list find.
	FoundByList int            `json:"found_by_list"`
	Draws       int            `json:"draws"` // images drawn at random
	Wrong       learn.Interval `json:"wrong"` // in all
	Left        learn.Interval `json:"left"`
	Always      learn.Interval `json:"always_left"` // left, valid whenever people look
	Next        learn.Interval `json:"next_100"`    // wrong among the next 100
	Trust       float64        `json:"trust"`       // weight of learning against the list
}

// Reached is how many decisions found a share of the wrong labels.
type Reached struct {
	Share     float64 `json:"share"`
	Decisions *int    `json:"decisions"` // nil: not reached
	ByList    *int    `json:"by_list"`
}

// Played is a review that was played.
type Played struct {
	Images int    `json:"images"`
	Wrong  int    `json:"wrong"`
	Goal   string `json:"goal"`
	// Features is the folder of the vectors; "": there were none.
	Features string    `json:"features,omitempty"`
	Points   []Point   `json:"points"`
	Reached  []Reached `json:"reached"`
}

// shares of the wrong labels of which Reached tells.
var shares = []float64{0.5, 0.8, 0.9, 0.95}

// Stage is a list with its truth and the learner, from which any number of reviews can be played.
type Stage struct {
	Note string // what to tell about the list; "": nothing

	list    []suspects.Suspect
	learner *learn.Learner
	given   []int
	truth   []int
	wrong   int
}

// NewStage prepares a list, most suspect first, with vectors of its images, or no rows.
func NewStage(ctx context.Context, list []suspects.Suspect, vectors blas32.General) (*Stage, error) {
	classOf := map[string]int{}
	number := func(name string) int {
		k, ok := classOf[name]
		if !ok {
			k = len(classOf)
			classOf[name] = k
		}
		return k
	}
	s := &Stage{list: list}
	for i := range list {
		e := &list[i]
		if e.True == "" {
			return nil, fmt.Errorf("rehearsal: image %q has no true label, expected one in column %s of every image",
				e.Path, TruthColumn)
		}
		s.given, s.truth = append(s.given, number(e.Given)), append(s.truth, number(e.True))
		number(e.Suggested)
		if e.Given != e.True {
			s.wrong++
		}
	}
	if len(list) == 0 {
		return nil, errors.New("rehearsal: the list is empty")
	}
	var err error
	s.learner, err = learn.New(ctx, learn.EvidenceOf(list, classOf, vectors))
	return s, err
}

// Play plays a review.
func (s *Stage) Play(ctx context.Context, o Options) (Played, error) {
	n := len(s.list)
	if o.Goal == "" {
		o.Goal = learn.Find
	}
	if o.Batch == 0 {
		o.Batch = 20
	}
	if o.Decisions == 0 || o.Decisions > n {
		o.Decisions = n
	}
	if o.At == nil {
		o.At = []int{60, 100, 200, 500}
		for k := 1; k <= 10; k++ {
			o.At = append(o.At, k*n/10)
		}
	}
	at := append(slices.Clone(o.At), o.Decisions)
	slices.Sort(at)
	at = slices.DeleteFunc(slices.Compact(at), func(v int) bool { return v < 1 || v > o.Decisions })

	p := Played{Images: n, Wrong: s.wrong, Goal: string(o.Goal), Points: []Point{}}
	byList, total := make([]int, n+1), 0
	for i := range n {
		if s.given[i] != s.truth[i] {
			total++
		}
		byList[i+1] = total
	}
	var found []int // after each decision
	seen := map[int]bool{}
	rng := rand.New(rand.NewPCG(o.Seed, 0x72656865617273))
	var decisions []learn.Decision
	asked, drawn, hits := 0, 0, 0
	state := s.learner.Learn(nil)
	for len(at) > 0 {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		goal, batch := o.Goal, min(o.Batch, at[0]-asked)
		if asked < o.Check {
			goal, batch = learn.Measure, min(batch, o.Check-asked)
		}
		questions := state.Next(batch, goal, learn.Showing{Seed: o.Seed})
		for _, q := range questions {
			asked++
			if q.How == learn.Random {
				drawn++
			}
			for r := range max(o.Reviewers, 1) {
				d := learn.Decision{Question: q, Seq: int64(len(decisions) + 1), Reviewer: fmt.Sprint(r),
					Verdict: learn.Right, Label: learn.None}
				wrong := s.given[q.Image] != s.truth[q.Image]
				if o.Mistaken > 0 && rng.Float64() < o.Mistaken {
					wrong = !wrong
				}
				if wrong {
					d.Verdict, d.Label = learn.Wrong, s.truth[q.Image]
					if d.Label == s.given[q.Image] {
						d.Label = learn.None
					}
				}
				decisions = append(decisions, d)
			}
			if !seen[q.Image] && s.given[q.Image] != s.truth[q.Image] {
				hits++
			}
			seen[q.Image] = true
			found = append(found, hits)
		}
		state = s.learner.Learn(decisions)
		ends := o.Until != learn.Rule{} && state.Met(o.Until, cmp.Or(o.Pace, 1200))
		if done := len(questions) == 0 || ends; asked >= at[0] || done {
			c := state.Count()
			p.Points = append(p.Points, Point{Decisions: asked, Found: hits, FoundByList: byList[min(asked, n)],
				Draws: drawn, Wrong: c.Wrong, Left: c.Left, Always: c.Always, Next: state.Outlook(100),
				Trust: state.Trust})
			if at = at[1:]; done {
				break
			}
		}
	}
	for _, share := range shares {
		p.Reached = append(
			p.Reached,
			Reached{share, countUntilShare(found, share, s.wrong), countUntilShare(byList[1:], share, s.wrong)},
		)
	}
	return p, nil
}

// countUntilShare returns the number of decisions after which a share of all was found, or nil.
func countUntilShare(found []int, share float64, all int) *int {
	for i, v := range found {
		if float64(v) >= share*float64(all) {
			i++
			return &i
		}
	}
	return nil
}
