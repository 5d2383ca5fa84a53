package review

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

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
	Hint  string     // without Goal: how to learn, for people
}

// Vectors gives the vectors of images in the order of their paths, zeros for those without one, and how many these are.
// A [Finder] that implements it can be learned from.
type Vectors interface {
	Rows(paths []string) (x blas32.General, absent int, err error)
}

// mostLearned is the largest number of images whose order is learned: further ones would take minutes.
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

// storedQuestion is a question as it is stored. The image is known by its path.
type storedQuestion struct {
	How       learn.How   `json:"how"`
	Wrong     float64     `json:"wrong"`
	Audited   float64     `json:"audited"`
	Learned   float64     `json:"learned"`
	Draw      *learn.Draw `json:"draw,omitempty"`
	Withdrawn bool        `json:"withdrawn,omitempty"` // shown, but the reviewer did not want to answer it
}

// newLearning prepares learning, and reads what was asked and answered before.
func newLearning(ctx context.Context, o Learning, t *table, d *decided, s *decisions.Store, v Vectors) (
	*learning, error) {
	paths := make([]string, len(t.list))
	for id := range t.list {
		paths[id] = t.path(t.list[id].image)
	}
	x, absent, err := v.Rows(paths)
	if err != nil {
		return nil, err
	}
	if absent == len(paths) {
		return nil, fmt.Errorf("review: the features have a vector of none of the list's %d images, such as %q",
			absent, paths[0])
	}
	l := &learning{Learning: o, latest: map[int32]int{}, ahead: map[int64]int{}}
	if l.learner, err = learn.New(ctx, t.evidence(x)); err != nil {
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
			var stored storedQuestion
			if err := json.Unmarshal([]byte(q.Text), &stored); err != nil {
				return fmt.Errorf("review: %s: a question about image %q: %w", s.Path, q.Path, err)
			}
			if image, ok := t.find(q.Path); ok && t.id[image] != none {
				l.ask(askedQuestion{reviewer: q.Reviewer, change: q.Change, withdrawn: stored.Withdrawn,
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
		if image, ok := t.find(a.Path); ok && t.id[image] != none {
			v := d.voteOf(image, decisions.Image{Action: a.Action, Label: a.Label, Given: a.Given})
			l.answer(t.id[image], a.Reviewer, v, a.Change, a.At.UnixMilli())
		}
		return nil
	})
	if err == nil {
		err = put(math.MaxInt64)
	}
	if err == nil {
		l.past()
	}
	return l, err
}

// evidence returns what the audit knows of its images, by id.
func (t *table) evidence(x blas32.General) learn.Evidence {
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

// ask adds a question that is stored.
func (l *learning) ask(q askedQuestion) {
	l.latest[int32(q.Image)] = len(l.asked)
	l.asked = append(l.asked, q)
	l.ahead[q.change]++
}

// answer adds a vote that is stored.
func (l *learning) answer(id int32, reviewer string, v vote, change, at int64) {
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

// past computes how the estimate went before this start, from the first part of the decisions, two parts, and so on.
func (l *learning) past() {
	if n := len(l.log); n >= pastPoints && len(l.learner.Learn(nil).Wrong) <= mostPast {
		for k := 1; k < pastPoints; k++ {
			l.follow(l.learner.Learn(l.log[:n*k/pastPoints]).Count())
		}
	}
}

// follow adds a count to the trend.
func (l *learning) follow(c learn.Count) {
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

// learn returns the state after all decisions. It is the same for the same decisions.
func (r *Reviewer) learn() *learn.State {
	l := r.learning
	l.working.Lock()
	defer l.working.Unlock()
	r.mutex.RLock()
	log, times, asked, was := l.log, l.times, l.asked, l.state
	learnt, shown := l.learnt, l.shown
	agreed := r.decided.agreement()
	r.mutex.RUnlock()
	if was != nil && learnt == len(log) {
		return was
	}
	s := l.learner.Learn(log)
	c := s.Count()
	said := &learned{Seq: s.Seq, Count: c, Next: s.Outlook(100), Text: s.Text(100), Pace: pace(log, times),
		Rule: l.Rule, Goal: l.Goal, Agreed: agreed}
	if l.Until != (learn.Rule{}) {
		said.Met = s.Met(l.Until, said.Pace)
		said.Hours = hours(s, l.Until, said.Pace)
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
	l.follow(c)
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
		go r.learn()
	}
}

// Numbers of a pace.
const (
	pause    = 2 * time.Minute  // who needs longer for an image did something else
	away     = 15 * time.Minute // who has not decided for so long has left
	paceLast = 60               // decisions of each reviewer that tell it
)

// pace returns the decisions an hour of all reviewers who are here.
func pace(log []learn.Decision, times []int64) float64 {
	type run struct {
		last, from int64
		n          int
		spent      int64
	}
	if len(times) == 0 {
		return 0
	}
	newest := slices.Max(times)
	by := map[string]*run{}
	for i := len(log) - 1; i >= 0; i-- {
		at := by[log[i].Reviewer]
		if at == nil {
			at = &run{last: times[i], from: times[i]}
			by[log[i].Reviewer] = at
		}
		if at.n >= paceLast {
			continue
		}
		if gap := at.from - times[i]; gap >= 0 && gap <= pause.Milliseconds() {
			at.spent += gap
			at.n++
		}
		at.from = times[i]
	}
	sum := 0.0
	for _, at := range by {
		if at.n > 5 && at.spent > 0 && newest-at.last <= away.Milliseconds() {
			sum += float64(at.n-1) / (float64(at.spent) / float64(time.Hour.Milliseconds()))
		}
	}
	return sum
}

// hours returns how long it takes until a rule of a share is met, if images turn out as expected: until so many wrong
// labels are found that the estimate of those left is at most the share. nil: unknown.
func hours(s *learn.State, rule learn.Rule, pace float64) *float64 {
	c := s.Count()
	if rule.Share == 0 || pace == 0 || !c.Known {
		return nil
	}
	find := c.Always.High - rule.Share*float64(c.Images)
	var rows []float64
	for i, v := range s.Settled {
		if v == learn.Unsure {
			rows = append(rows, s.Wrong[i])
		}
	}
	slices.SortFunc(rows, func(a, b float64) int { return cmp.Compare(b, a) })
	n := 0
	for ; n < len(rows) && find > 0; n++ {
		find -= rows[n]
	}
	h := float64(n) / pace
	return &h
}

// why says why an image is shown, as JSON.
type why struct {
	How   learn.How `json:"how"`
	Wrong float64   `json:"wrong"` // probability that its label is wrong
	Copy  *pic      `json:"copy"`  // of which it is a copy that is decided; null: of none
}

// why returns why an image is shown to people, or nil if it was not chosen.
func (r *Reviewer) why(id int32) *why {
	if r.learning == nil {
		return nil
	}
	n, ok := r.learning.latest[id]
	if !ok || r.learning.asked[n].withdrawn {
		return nil
	}
	q := &r.learning.asked[n]
	w := &why{How: q.How, Wrong: q.Wrong}
	if q.How == learn.Copied {
		if of := r.copyOf(id); of != none {
			p := r.table.pic(r.table.list[of].image)
			w.Copy = &p
		}
	}
	return w
}

// copyOf returns a decided copy of an image with the same label, or none.
func (r *Reviewer) copyOf(id int32) int32 {
	t := r.table
	e := &t.list[id]
	for _, image := range t.groups[t.groupOf[e.image]] {
		if other := t.id[image]; other != none && other != id && t.list[other].given == e.given &&
			settled(r.decided.action[image]) {
			return other
		}
	}
	return none
}

// begins returns how many of the first random images are still to be drawn, and these images. With the first image that
// is shown for another reason, the check is over.
func (l *learning) begins() (left int, drawn []int32) {
	if len(l.log) > 0 && (len(l.asked) == 0 || l.asked[0].change >= l.log[0].Seq) { // not the first review
		return 0, nil
	}
	seen := map[int32]bool{}
	for i := range l.asked {
		q := &l.asked[i]
		switch {
		case q.withdrawn:
			return 0, nil
		case q.How != learn.Random || len(drawn) >= l.Check:
			return 0, drawn
		case !seen[int32(q.Image)]:
			seen[int32(q.Image)] = true
			drawn = append(drawn, int32(q.Image))
		}
	}
	return l.Check - len(drawn), drawn
}

// mine returns the open questions to a reviewer in the order asked: the draws, which everybody is asked, and what was
// chosen for the reviewer. With all it also returns what was chosen for others.
func (r *Reviewer) mine(reviewer string, all bool) (list []int32) {
	l, d := r.learning, r.decided
	who, seen := d.numberOf(reviewer), map[int32]bool{}
	for i := range l.asked {
		q := &l.asked[i]
		id := int32(q.Image)
		image := r.table.list[id].image
		last := &l.asked[l.latest[id]]
		switch {
		case seen[id] || last.withdrawn || d.vote(image, who).action != undecided:
		case q.How == learn.Random, !settled(d.action[image]) && (all || q.reviewer == reviewer):
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// nextPage is a page of the list in the order that is learned.
type nextPage struct {
	Total  int   `json:"total"`
	Offset int   `json:"offset"`
	Rows   []row `json:"rows"`
	applied
}

// postNext returns images to decide: first those that the reviewer was asked about before and left, then new ones. The
// new ones are chosen by all decisions so far, and are on disk as questions before they are shown.
func (r *Reviewer) postNext(body struct {
	Reviewer string `json:"reviewer"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
}) (int, any, error) {
	switch {
	case r.learning == nil:
		return 0, nil, refuse(http.StatusNotFound, "this review learns nothing: its list has one order")
	case body.Offset < 0 || body.Limit < 1 || body.Limit > mostRows:
		return 0, nil, refuse(http.StatusBadRequest, "offset and limit: found %d and %d, expected 0 or more and "+
			"1 to %d", body.Offset, body.Limit, mostRows)
	}
	if err := decisions.CheckReviewer(body.Reviewer); err != nil {
		return 0, nil, bad(err)
	}
	r.deciding.Lock() // no decision comes in between
	defer r.deciding.Unlock()
	s := r.learn()
	l := r.learning
	r.mutex.RLock()
	list := r.mine(body.Reviewer, false)
	left, drawn := l.begins()
	r.mutex.RUnlock()
	// The rest of the check is answered before other images are chosen, by what it taught.
	ending := left == 0 && len(list) > body.Offset && slices.Contains(drawn, int32(l.asked[len(l.asked)-1].Image)) &&
		slices.Contains(drawn, list[len(list)-1])
	for tries := 0; !ending && len(list) < body.Offset+body.Limit && tries < 3; tries++ {
		fresh, checks := r.choose(s, body.Offset+body.Limit-len(list), body.Reviewer)
		if len(fresh) == 0 {
			break
		}
		if err := r.putQuestions(fresh); err != nil {
			return 0, nil, err
		}
		r.mutex.Lock()
		list = r.mine(body.Reviewer, false)
		r.mutex.Unlock()
		if checks && len(list) > body.Offset { // what comes next learns from the check
			break
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !ending && len(list) < body.Offset+body.Limit { // what others were asked and left
		for _, id := range r.mine(body.Reviewer, true) {
			if left, _ := l.begins(); left == 0 && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	l.shown = s.Wrong
	d := r.decided
	who := d.numberOf(body.Reviewer)
	page := nextPage{Offset: body.Offset, Rows: []row{}}
	for _, id := range list[min(body.Offset, len(list)):min(body.Offset+body.Limit, len(list))] {
		page.Rows = append(page.Rows, r.row(id, who))
	}
	random := map[int32]bool{}
	for i := range l.asked {
		random[int32(l.asked[i].Image)] = random[int32(l.asked[i].Image)] || l.asked[i].How == learn.Random
	}
	for id := range r.table.list {
		image := r.table.list[id].image
		if d.vote(image, who).action == undecided && (!settled(d.action[image]) || random[int32(id)]) {
			page.Total++
		}
	}
	page.Total = max(page.Total, len(list))
	page.applied = r.progress(nil)
	return http.StatusOK, page, nil
}

// choose returns new questions of a state for a reviewer, and whether these belong to the check that a review begins
// with.
func (r *Reviewer) choose(s *learn.State, n int, reviewer string) (fresh []askedQuestion, checks bool) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	l, d := r.learning, r.decided
	who, open := d.numberOf(reviewer), map[int]bool{}
	for i := range l.asked {
		q := &l.asked[i]
		if !q.withdrawn {
			open[q.Image] = true
		}
	}
	goal := l.Goal
	if left, _ := l.begins(); left > 0 {
		goal, n, checks = learn.Measure, min(n, left), true
	}
	version := d.version()
	questions := s.Next(n, goal, learn.Showing{Already: l.ahead[version], Skip: func(i int) bool {
		return open[i] || d.vote(r.table.list[i].image, who).action != undecided
	}})
	fresh = make([]askedQuestion, len(questions))
	for i, q := range questions {
		if q.How == learn.Suspect && r.copyOf(int32(q.Image)) != none {
			q.How = learn.Copied
		}
		fresh[i] = askedQuestion{Question: q, reviewer: reviewer, change: version}
	}
	return fresh, checks
}

// putQuestions stores questions and then takes them.
func (r *Reviewer) putQuestions(list []askedQuestion) error {
	stored := make([]decisions.Question, len(list))
	for i, q := range list {
		text, err := json.Marshal(storedQuestion{q.How, q.Wrong, q.Audited, q.Learned, q.Draw, q.withdrawn})
		if err != nil {
			return err
		}
		stored[i] = decisions.Question{Path: r.table.path(r.table.list[q.Image].image), Reviewer: q.reviewer,
			Change: q.change, Text: string(text)}
	}
	if err := r.Decisions.Ask(stored); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, q := range list {
		r.learning.ask(q)
	}
	return nil
}

// postSkip ends the check that a review begins with: the draws that nobody answered are withdrawn. Answered ones count.
func (r *Reviewer) postSkip(struct{}) (int, any, error) {
	if r.learning == nil {
		return 0, nil, refuse(http.StatusNotFound, "this review does not begin with random images")
	}
	r.deciding.Lock()
	defer r.deciding.Unlock()
	r.mutex.RLock()
	l, d := r.learning, r.decided
	_, drawn := l.begins()
	var back []askedQuestion
	for _, id := range drawn {
		if d.action[r.table.list[id].image] == undecided {
			q := l.asked[l.latest[id]]
			q.withdrawn = true
			back = append(back, q)
		}
	}
	if left, _ := l.begins(); left > 0 && len(back) == 0 { // nothing is withdrawn but what would have come
		back = []askedQuestion{{Question: learn.Question{How: learn.Random}, change: d.version(), withdrawn: true}}
	}
	r.mutex.RUnlock()
	if err := r.putQuestions(back); err != nil {
		return 0, nil, err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return http.StatusOK, r.progress(nil), nil
}
