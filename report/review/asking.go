package review

import (
	"encoding/json"
	"net/http"
	"slices"

	"winnow/audit/learn"
	"winnow/report/reply"
	"winnow/report/review/decisions"
)

// why says why an image is shown, as JSON.
type why struct {
	How   learn.How `json:"how"`
	Wrong float64   `json:"wrong"` // probability that its label is wrong
	Copy  *pic      `json:"copy"`  // of which it is a copy that is decided; null: of none
}

// explainWhyShown returns why an image is shown to people, or nil if it was not chosen.
func (r *Reviewer) explainWhyShown(id int32) *why {
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
			p := r.table.newPic(r.table.list[of].image)
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
			settlesLabel(r.decided.action[image]) {
			return other
		}
	}
	return none
}

// listFirstDraws returns how many of the first random images are still to be drawn, and these images. With the first
// image that is shown for another reason, the check is over.
func (l *learning) listFirstDraws() (left int, drawn []int32) {
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

// openQuestions returns the open questions to a reviewer in the order asked: the draws, which everybody is asked, and
// what was chosen for the reviewer. With all it also returns what was chosen for others.
func (r *Reviewer) openQuestions(reviewer string, all bool) (list []int32) {
	l, d := r.learning, r.decided
	who, seen := d.numberOf(reviewer), map[int32]bool{}
	for i := range l.asked {
		q := &l.asked[i]
		id := int32(q.Image)
		image := r.table.list[id].image
		last := &l.asked[l.latest[id]]
		switch {
		case seen[id] || last.withdrawn || d.getVote(image, who).action != undecided:
		case q.How == learn.Random, !settlesLabel(d.action[image]) && (all || q.reviewer == reviewer):
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
		return 0, nil, reply.Refuse(http.StatusNotFound, "this review learns nothing: its list has one order")
	case body.Offset < 0 || body.Limit < 1 || body.Limit > mostRows:
		return 0, nil, reply.Refuse(http.StatusBadRequest, "offset and limit: found %d and %d, expected 0 or more and "+
			"1 to %d", body.Offset, body.Limit, mostRows)
	}
	if err := decisions.CheckReviewer(body.Reviewer); err != nil {
		return 0, nil, asBadRequest(err)
	}
	r.deciding.Lock() // no decision comes in between
	defer r.deciding.Unlock()
	s := r.learnState()
	l := r.learning
	r.mutex.RLock()
	list := r.openQuestions(body.Reviewer, false)
	left, drawn := l.listFirstDraws()
	r.mutex.RUnlock()
	// The rest of the check is answered before other images are chosen, by what it taught.
	ending := left == 0 && len(list) > body.Offset && slices.Contains(drawn, int32(l.asked[len(l.asked)-1].Image)) &&
		slices.Contains(drawn, list[len(list)-1])
	for tries := 0; !ending && len(list) < body.Offset+body.Limit && tries < 3; tries++ {
		fresh, checks := r.chooseQuestions(s, body.Offset+body.Limit-len(list), body.Reviewer)
		if len(fresh) == 0 {
			break
		}
		if err := r.putQuestions(fresh); err != nil {
			return 0, nil, err
		}
		r.mutex.Lock()
		list = r.openQuestions(body.Reviewer, false)
		r.mutex.Unlock()
		if checks && len(list) > body.Offset { // what comes next learns from the check
			break
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !ending && len(list) < body.Offset+body.Limit { // what others were asked and left
		for _, id := range r.openQuestions(body.Reviewer, true) {
			if left, _ := l.listFirstDraws(); left == 0 && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	l.shown = s.Wrong
	d := r.decided
	who := d.numberOf(body.Reviewer)
	page := nextPage{Offset: body.Offset, Rows: []row{}}
	for _, id := range list[min(body.Offset, len(list)):min(body.Offset+body.Limit, len(list))] {
		page.Rows = append(page.Rows, r.newRowWithReason(id, who))
	}
	random := map[int32]bool{}
	for i := range l.asked {
		random[int32(l.asked[i].Image)] = random[int32(l.asked[i].Image)] || l.asked[i].How == learn.Random
	}
	for id := range r.table.list {
		image := r.table.list[id].image
		if d.getVote(image, who).action == undecided && (!settlesLabel(d.action[image]) || random[int32(id)]) {
			page.Total++
		}
	}
	page.Total = max(page.Total, len(list))
	page.applied = r.reportLearned(nil)
	return http.StatusOK, page, nil
}

// chooseQuestions returns new questions of a state for a reviewer, and whether these belong to the check that a review
// begins with.
func (r *Reviewer) chooseQuestions(s *learn.State, n int, reviewer string) (fresh []askedQuestion, checks bool) {
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
	if left, _ := l.listFirstDraws(); left > 0 {
		goal, n, checks = learn.Measure, min(n, left), true
	}
	version := d.getStoreVersion()
	questions := s.Next(n, goal, learn.Showing{Already: l.ahead[version], Skip: func(i int) bool {
		return open[i] || d.getVote(r.table.list[i].image, who).action != undecided
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
		text, err := json.Marshal(learn.Asked{How: q.How, Wrong: q.Wrong, Audited: q.Audited, Learned: q.Learned,
			Draw: q.Draw, Withdrawn: q.withdrawn})
		if err != nil {
			return err
		}
		stored[i] = decisions.Question{Path: r.table.getImagePath(r.table.list[q.Image].image), Reviewer: q.reviewer,
			Change: q.change, Text: string(text)}
	}
	if err := r.Decisions.Ask(stored); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, q := range list {
		r.learning.addQuestion(q)
	}
	return nil
}

// postSkip ends the check that a review begins with: the draws that nobody answered are withdrawn. Answered ones count.
func (r *Reviewer) postSkip(struct{}) (int, any, error) {
	if r.learning == nil {
		return 0, nil, reply.Refuse(http.StatusNotFound, "this review does not begin with random images")
	}
	r.deciding.Lock()
	defer r.deciding.Unlock()
	r.mutex.RLock()
	l, d := r.learning, r.decided
	_, drawn := l.listFirstDraws()
	var back []askedQuestion
	for _, id := range drawn {
		if d.action[r.table.list[id].image] == undecided {
			q := l.asked[l.latest[id]]
			q.withdrawn = true
			back = append(back, q)
		}
	}
	if left, _ := l.listFirstDraws(); left > 0 && len(back) == 0 { // nothing is withdrawn but what would have come
		back = []askedQuestion{
			{Question: learn.Question{How: learn.Random}, change: d.getStoreVersion(), withdrawn: true},
		}
	}
	r.mutex.RUnlock()
	if err := r.putQuestions(back); err != nil {
		return 0, nil, err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return http.StatusOK, r.reportLearned(nil), nil
}
