package review

import (
	"fmt"
	"math"
)

// share is how many of the judged are wrong, with Wilson's interval of 95 %.
type share struct {
	Wrong    int     `json:"wrong"`
	Judged   int     `json:"judged"`
	Estimate float64 `json:"estimate"` // 0 where nothing is judged
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// precision is the share of wrong labels among the suspects decided, and among those of the last ranks.
type precision struct {
	share
	Recent share `json:"recent"`
}

// newShare estimates a share p from w of n with the interval of Wilson (Probable inference, the law of succession, and
// statistical inference, JASA 22, 1927):
//
//	(p̂ + z²/2n ± z·√(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n),  p̂ = w/n, z = 1.96
//
// If n is 0, the interval is 0 to 1.
func newShare(w, n int) share {
	if n == 0 {
		return share{High: 1}
	}
	const z = 1.959963984540054
	p, m := float64(w)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	wide := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return share{w, n, p, max((middle-wide)/(1+z*z/m), 0), min((middle+wide)/(1+z*z/m), 1)}
}

// recentMost is how many of the last ranks tell whether to go on.
const recentMost = 50

// worthwhile is the share of wrong labels below which going on is not worth it: one image in five.
const worthwhile = 0.2

// precision returns the precision of the suspects decided so far. The recent ones are the last 50 by rank of all images decided,
// whether called wrong or not; an image decided only as an outlier or a copy says nothing about the ranks around it.
func (d *decided) precision() precision {
	wrong, judged := 0, 0
	t := d.table
	if d.counts[undecided] < len(t.image) {
		for id := len(t.image) - 1; id >= 0 && judged < recentMost; id-- {
			action := d.action[t.image[id]]
			if !settled(action) || t.kinds[id]&suspect == 0 && t.kinds[id] != 0 {
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

// hint returns why stopping is sensible; "" if it is not. It is when all suspects are decided, or when of the last 50
// by rank so few were wrong that, with 95 % confidence, fewer than one in five is: of 50 at most 4.
func (d *decided) hint(p precision) string {
	switch {
	case d.table.byKind["suspect"] > 0 && d.done == d.table.byKind["suspect"]:
		return fmt.Sprintf("All %d suspects are decided.", d.done)
	case p.Recent.Judged == recentMost && p.Recent.High < worthwhile:
		return fmt.Sprintf("Of the %d lowest-ranked images decided so far %d were wrong (with 95 %% confidence fewer than %.0f %%): further down most labels are right, and this is a good place to stop.",
			p.Recent.Judged, p.Recent.Wrong, math.Ceil(100*p.Recent.High))
	}
	return ""
}
