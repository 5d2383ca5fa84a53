package review

import (
	"fmt"
	"math"

	"winnow/audit/learn"
	"winnow/report/review/decisions"
)

// share is the share of wrong labels among the judged ones, with Wilson's 95 % interval.
type share struct {
	Wrong    int     `json:"wrong"`
	Judged   int     `json:"judged"`
	Estimate float64 `json:"estimate"` // 0 if nothing is judged
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// precision is the share of wrong labels among the decided suspects, and among those of the last ranks.
type precision struct {
	share
	Recent share `json:"recent"`
}

// addDecision counts a decision, unless it settles nothing.
func (s *share) addDecision(a decisions.Action) {
	if settlesLabel(a) {
		s.Judged++
	}
	if isWrong(a) {
		s.Wrong++
	}
}

// estimateShare computes the interval.
func (s *share) estimateShare() {
	i := learn.Share(s.Wrong, s.Judged)
	s.Estimate, s.Low, s.High = i.Estimate, i.Low, i.High
}

// recentMost is the number of last ranks that show whether to continue, and worthwhile is the share of wrong labels
// below which continuing is not worthwhile: one image in five.
const (
	recentMost = 50
	worthwhile = 0.2
)

// measurePrecision returns the precision of the suspects decided so far. Recent covers the last 50 decided images by
// rank, whether flagged or not. An image decided only because it is an outlier or a duplicate is not counted, since it
// shows nothing about the ranks around it.
func (d *decided) measurePrecision() (p precision) {
	t := d.table
	for id := t.audited - 1; id >= 0; id-- {
		e, action := &t.images[id], d.outcome[id].Action
		if e.Dropped {
			p.addDecision(action)
		}
		other := e.Outlier || len(e.Copies) > 0 || e.CopyGroup > 0 || len(e.Problems) > 0
		if p.Recent.Judged < recentMost && (e.Dropped || !other) {
			p.Recent.addDecision(action)
		}
	}
	p.estimateShare()
	p.Recent.estimateShare()
	return p
}

// hintWhenToStop says why the reviewer can stop, or returns "". Stop when all suspects are decided, or when so few of
// the last 50 by rank were wrong that, with 95 % confidence, fewer than one in five is: at most 4 of 50. Of images
// drawn at random it says how many labels are wrong.
func (d *decided) hintWhenToStop(p precision, classes []classProgress) string {
	done := 0
	for _, c := range classes {
		done += c.Decided
	}
	switch n := d.table.kinds[suspect]; {
	case d.table.drawn:
		return p.describeShare()
	case n > 0 && done == n:
		return fmt.Sprintf("All %d suspects are decided.", done)
	case p.Recent.Judged == recentMost && p.Recent.High < worthwhile:
		return fmt.Sprintf("Of the %d decided labels furthest down the list only %d were wrong "+
			"(with 95 %% confidence fewer than %.0f %%). "+
			"Further down most labels are right: this is a good place to stop.",
			p.Recent.Judged, p.Recent.Wrong, math.Ceil(100*p.Recent.High))
	}
	return ""
}
