package review

import (
	"fmt"
	"math"

	"winnow/audit/learn"
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

// newShare counts w wrong labels of n.
func newShare(w, n int) share {
	i := learn.Share(w, n)
	return share{w, n, i.Estimate, i.Low, i.High}
}

// recentMost is the number of last ranks that tell whether to continue.
const recentMost = 50

// worthwhile is the share of wrong labels below which continuing is not worthwhile: one image in five.
const worthwhile = 0.2

// measurePrecision returns the precision of the suspects decided so far. Recent covers the last 50 decided images by
// rank, whether called wrong or not. An image decided only because it is an outlier or a copy is not counted,
// since it says nothing about the ranks around it.
func (d *decided) measurePrecision() precision {
	wrong, judged := 0, 0
	t := d.table
	if d.counts[undecided] < len(t.list) {
		for id := len(t.list) - 1; id >= 0 && judged < recentMost; id-- {
			e := &t.list[id]
			action := d.action[e.image]
			if !settlesLabel(action) || e.kinds&suspect == 0 && e.kinds != 0 {
				continue
			}
			judged++
			if action != keep {
				wrong++
			}
		}
	}
	return precision{newShare(d.wrong, d.judged), newShare(wrong, judged)}
}

// hintWhenToStop says why the reviewer can stop, or returns "". Stop when all suspects are decided, or when so few of
// the last 50 by rank were wrong that, with 95 % confidence, fewer than one in five is: at most 4 of 50. Of images
// drawn at random it says how many labels are wrong.
func (d *decided) hintWhenToStop(p precision) string {
	switch {
	case d.table.drawn:
		return p.describeShare()
	case d.table.byKind["suspect"] > 0 && d.done == d.table.byKind["suspect"]:
		return fmt.Sprintf("All %d suspects are decided.", d.done)
	case p.Recent.Judged == recentMost && p.Recent.High < worthwhile:
		return fmt.Sprintf("Of the %d decided labels furthest down the list only %d were wrong "+
			"(with 95 %% confidence fewer than %.0f %%). "+
			"Further down most labels are right: this is a good place to stop.",
			p.Recent.Judged, p.Recent.Wrong, math.Ceil(100*p.Recent.High))
	}
	return ""
}
