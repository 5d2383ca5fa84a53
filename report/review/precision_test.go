package review

import (
	"strings"
	"testing"
)

// TestHint checks that the page suggests stopping if at most 4 of the 50 decided images furthest down the list are
// wrong, or if all suspects are decided, and not otherwise.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		wrong, right int
		stop         bool
	}{{5, 45, false}, {4, 46, true}, {0, 49, false}, {0, 50, true}, {50, 0, false}} {
		w := newWorld(t, 900) // 300 suspects
		// The images above these are all wrong, which must not affect the hint.
		var list []map[string]any
		for id := range 60 {
			list = append(list, on(id, "drop", "", 0))
		}
		n := 0
		for id := 100; n < c.wrong+c.right; id++ {
			action := "keep"
			if n < c.wrong {
				action = "drop"
			}
			list = append(list, on(id, action, "", 0))
			n++
		}
		if c.wrong+c.right < 50 {
			list = list[60:] // fewer than 50 decisions
		}
		a := w.decide("t", 200, list...)
		if (a.Hint != "") != c.stop || c.stop && !strings.Contains(a.Hint, "good place to stop") {
			t.Errorf("%d wrong and %d right: hint %q", c.wrong, c.right, a.Hint)
		}
		if r := a.Precision.Recent; r.Judged != min(c.wrong+c.right, 50) || r.Wrong != c.wrong {
			t.Errorf("%d wrong and %d right: recent %+v", c.wrong, c.right, r)
		}
	}
}

// TestHintOthers checks that outliers and duplicates that are not suspects do not affect the precision, and that the
// page suggests stopping when all suspects are decided.
func TestHintOthers(t *testing.T) {
	w := newWorld(t, 100)
	var list []map[string]any
	for id := range 33 {
		list = append(list, on(id, "drop", "", 0))
	}
	odd := 0
	for id := 33; id < 90; id++ {
		if e := w.list[id]; e.Outlier || len(e.Copies) > 0 {
			list = append(list, on(id, "keep", "", 0))
			odd++
		}
	}
	a := w.decide("t", 200, list...)
	if a.Precision.Recent.Judged != 33 || a.Precision.Judged != 33 || odd == 0 ||
		a.Hint != "All 33 suspects are decided." {
		t.Errorf("%d others, %+v, %q", odd, a.Precision, a.Hint)
	}
}

func shareOf(wrong, judged int) share {
	s := share{Wrong: wrong, Judged: judged}
	s.estimateShare()
	return s
}
