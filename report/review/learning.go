package review

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/report/review/decisions"
)

// Learning says how a review learns from its decisions. The zero value leaves the list as it is.
type Learning struct {
	Goal  learn.Goal // "": the order of the list stays
	Until learn.Rule // when the review may end
	Rule  string     // Until as the user wrote it
	Check int        // a review without decisions begins with so many images drawn at random
	Asked bool       // for Check; else it begins with them unless the audit knows how many labels are wrong
	Hint  string     // without Goal: how to learn, for people
}

// Vectors gives the vectors of images in the order of their paths, zeros for those without one, and how many these are.
// A [Finder] that implements it can be learned from.
type Vectors interface {
	Rows(paths []string) (x blas32.General, absent int, err error)
}

// mostLearned is the largest number of images, the most suspect ones, whose vectors are learned from: those of 300,000
// images take up to 2 GB. Others are judged by the audit and by their classes.
const mostLearned = 300_000

// learning is the learner of a review, with what it knows.
type learning struct {
	Learning
	learner *learn.Learner
	working sync.Mutex // one learns at a time

	// Guarded by the mutex of the Reviewer:
	log    []learn.Decision
	times  []int64         // of log, milliseconds
	asked  []askedQuestion // in order
	latest map[int32]int   // position in asked of an image's last question
	ahead  map[int64]int   // how many questions each state has been asked for
	state  *learn.State    // after learnt entries of log
	learnt int
	shown  []float64 // probabilities when a page was shown last
	said   *learned
	trend  []trendPoint
}

// askedQuestion is a question of the review. Its Image is an id.
type askedQuestion struct {
	learn.Question
	reviewer  string
	change    int64
	withdrawn bool
}

// newLearning prepares learning, and reads what was asked and answered before.
func newLearning(ctx context.Context, o Learning, t *table, d *decided, s *decisions.Store, v Vectors) (
	*learning, error) {
	paths := make([]string, min(len(t.list), mostLearned))
	for id := range paths {
		paths[id] = t.getImagePath(t.list[id].image)
	}
	x, absent, err := v.Rows(paths)
	if err != nil {
		return nil, err
	}
	if absent == len(paths) {
		return nil, fmt.Errorf("review: the features have a vector of none of the list's %d images, such as %q",
			absent, paths[0])
	}
	if t.known && !o.Asked {
		o.Check = 0
	}
	l := &learning{Learning: o, latest: map[int32]int{}, ahead: map[int64]int{}}
	if l.learner, err = learn.New(ctx, t.gatherEvidence(x)); err != nil {
		return nil, err
	}
	var questions []decisions.Question
	err = s.Questions(func(q decisions.Question) error { questions = append(questions, q); return nil })
	if err != nil {
		return nil, err
	}
	put := func(upTo int64) error {
		for ; len(questions) > 0 && questions[0].Change < upTo; questions = questions[1:] {
			q := questions[0]
			var stored learn.Asked
			if err := json.Unmarshal([]byte(q.Text), &stored); err != nil {
				return fmt.Errorf("review: %s: a question about image %q: %w", s.Path, q.Path, err)
			}
			if image, ok := t.findImage(q.Path); ok && t.id[image] != none {
				l.addQuestion(askedQuestion{reviewer: q.Reviewer, change: q.Change, withdrawn: stored.Withdrawn,
					Question: learn.Question{Image: int(t.id[image]), How: stored.How, Wrong: stored.Wrong,
						Audited: stored.Audited, Learned: stored.Learned, Draw: stored.Draw}})
			}
		}
		return nil
	}
	err = s.Answers(func(a decisions.Answer) error {
		if err := put(a.Change); err != nil {
			return err
		}
		if image, ok := t.findImage(a.Path); ok && t.id[image] != none {
			v := d.voteOf(image, decisions.Image{Path: a.Path, Action: a.Action, Label: a.Label, Given: a.Given,
				At: a.At})
			l.addVote(t.id[image], a.Reviewer, v, a.Change, a.At.UnixMilli())
		}
		return nil
	})
	if err == nil {
		err = put(math.MaxInt64)
	}
	if err == nil {
		l.computePast()
	}
	return l, err
}

// gatherEvidence returns what the audit knows of its images, by id.
func (t *table) gatherEvidence(x blas32.General) learn.Evidence {
	n := len(t.list)
	e := learn.Evidence{
		Vectors: x, Classes: len(t.classes), Given: make([]int, n), Suggested: make([]int, n), Rank: make([]int, n),
		Right: make([]float64, n), Better: make([]float64, n), Fit: make([]float64, n), Odd: make([]bool, n),
		Group: make([]int, n),
	}
	known := func(v float64, said bool) float64 {
		if said {
			return v
		}
		return math.NaN()
	}
	for id := range t.list {
		a := &t.list[id]
		e.Given[id], e.Suggested[id], e.Rank[id] = int(a.given), int(a.suggested), int(a.rank)
		e.Right[id] = known(a.score, a.said&ofGiven != 0)
		e.Better[id] = known(a.better, a.said&ofSuggested != 0)
		e.Fit[id], e.Odd[id], e.Group[id] = a.fit, a.kinds&(outlier|copied) != 0, t.groupOf[a.image]
	}
	return e
}

// addQuestion adds a question that is stored.
func (l *learning) addQuestion(q askedQuestion) {
	l.latest[int32(q.Image)] = len(l.asked)
	l.asked = append(l.asked, q)
	l.ahead[q.change]++
}

// addVote adds a vote that is stored.
func (l *learning) addVote(id int32, reviewer string, v vote, change, at int64) {
	d := learn.Decision{Question: learn.Question{Image: int(id), How: learn.Import}, Seq: change, Reviewer: reviewer,
		Label: learn.None}
	if n, ok := l.latest[id]; ok {
		if d.Question = l.asked[n].Question; l.asked[n].withdrawn {
			d.How, d.Draw = learn.Import, nil
		}
	}
	switch v.action {
	case keep:
		d.Verdict = learn.Right
	case drop:
		d.Verdict = learn.Wrong
	case relabel:
		d.Verdict, d.Label = learn.Wrong, int(v.label)
	}
	l.log, l.times = append(l.log, d), append(l.times, at)
}

// learned is what the review has learned, as JSON.
type learned struct {
	Seq    int64          `json:"seq"`   // the version of the decisions that it knows
	Count  learn.Count    `json:"count"` // of wrong labels
	Next   learn.Interval `json:"next"`  // wrong among the next 100
	Text   string         `json:"text"`
	Up     int            `json:"up"`    // images not shown yet that look more suspect than when a page was shown last
	Down   int            `json:"down"`  // less suspect
	Pace   float64        `json:"pace"`  // decisions an hour; 0: unknown
	Rule   string         `json:"rule"`  // when the review may end; "": none
	Met    bool           `json:"met"`   // the rule is
	Hours  *float64       `json:"hours"` // until the rule is met, by what is expected; null: unknown
	Trend  []trendPoint   `json:"trend"`
	Check  *checking      `json:"check"` // null: the review does not begin with random images, or these are done
	Goal   learn.Goal     `json:"goal"`
	Agreed *agreement     `json:"agreement"` // null: no two reviewers decided about the same image
}

// checking is how far the first random images are decided.
type checking struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// trendPoint is the number of labels wrong in all, as estimated after a number of decisions.
type trendPoint struct {
	Decided  int     `json:"decided"`
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// moved is the change of a probability that people notice.
const moved = 0.05

// mostTrend is the largest number of points of a trend: then every other one goes.
const mostTrend = 200

// pastPoints is how many points of the trend are computed again at the start, of at most mostPast images.
const (
	pastPoints = 10
	mostPast   = 20_000
)

// computePast computes how the estimate went before this start, from the first part of the decisions, two parts, and so
// on.
func (l *learning) computePast() {
	if n := len(l.log); n >= pastPoints && len(l.learner.Learn(nil).Wrong) <= mostPast {
		for k := 1; k < pastPoints; k++ {
			l.followTrend(l.learner.Learn(l.log[:n*k/pastPoints]).Count())
		}
	}
}

// followTrend adds a count to the trend.
func (l *learning) followTrend(c learn.Count) {
	if !c.Known {
		return
	}
	l.trend = append(l.trend, trendPoint{c.Settled, c.Wrong.Estimate, c.Wrong.Low, c.Wrong.High})
	if len(l.trend) > mostTrend {
		thin := l.trend[:0:0]
		for i := len(l.trend) % 2; i < len(l.trend); i += 2 {
			thin = append(thin, l.trend[i])
		}
		l.trend = thin
	}
}

// learnState returns the state after all decisions. It is the same for the same decisions.
func (r *Reviewer) learnState() *learn.State {
	l := r.learning
	l.working.Lock()
	defer l.working.Unlock()
	r.mutex.RLock()
	log, times, asked, was := l.log, l.times, l.asked, l.state
	learnt, shown := l.learnt, l.shown
	agreed := r.decided.compareReviewers()
	r.mutex.RUnlock()
	if was != nil && learnt == len(log) {
		return was
	}
	s := l.learner.Learn(log)
	c := s.Count()
	said := &learned{Seq: s.Seq, Count: c, Next: s.Outlook(100), Text: s.Text(100), Pace: measurePace(log, times),
		Rule: l.Rule, Goal: l.Goal, Agreed: agreed}
	if l.Until != (learn.Rule{}) {
		said.Met = s.Met(l.Until, said.Pace)
		said.Hours = estimateHours(s, l.Until, said.Pace)
	}
	open := map[int]bool{}
	for _, q := range asked {
		open[q.Image] = true
	}
	if shown == nil {
		shown = s.Wrong
	}
	for i, p := range s.Wrong {
		switch {
		case open[i] || s.Settled[i] != learn.Unsure:
		case p >= shown[i]+moved:
			said.Up++
		case p <= shown[i]-moved:
			said.Down++
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	l.followTrend(c)
	said.Trend = slices.Clone(l.trend)
	if l.shown == nil {
		l.shown = shown
	}
	l.state, l.learnt, l.said = s, len(log), said
	return s
}

// learnSoon learns in the background.
func (r *Reviewer) learnSoon() {
	if r.learning != nil {
		go r.learnState()
	}
}
