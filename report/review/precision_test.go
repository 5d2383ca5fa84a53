package review

import (
	"math"
	"strings"
	"testing"
)

// TestShare compares with Wilson's interval by its definition: the shares p at which w of n lie z standard
// errors from n·p. Two cases are also computed by hand with the formula of Brown, Cai and DasGupta.
func TestShare(t *testing.T) {
	for _, n := range []int{1, 2, 10, 50, 1000} {
		for w := 0; w <= n; w += max(n/7, 1) {
			got, p := shareOf(w, n), float64(w)/float64(n)
			if got.Wrong != w || got.Judged != n || got.Estimate != p || got.Low > p || got.High < p ||
				got.Low < 0 || got.High > 1 {
				t.Errorf("%d of %d: %+v", w, n, got)
			}
			for _, bound := range []float64{got.Low, got.High} {
				if bound < 1e-12 || bound > 1-1e-12 {
					continue // where nothing, or everything, is wrong the bound is the end
				}
				if z := math.Abs(p-bound) / math.Sqrt(bound*(1-bound)/float64(n)); math.Abs(z-1.96) > 1e-4 {
					t.Errorf("%d of %d: %v is %v standard errors away", w, n, bound, z)
				}
			}
		}
	}
	if s := shareOf(5, 10); math.Abs(s.Low-0.236593) > 1e-6 || math.Abs(s.High-0.763407) > 1e-6 {
		t.Errorf("5 of 10: %+v", s)
	}
	if s := shareOf(0, 10); s.Low != 0 || math.Abs(s.High-0.277533) > 1e-6 {
		t.Errorf("0 of 10: %+v", s)
	}
	if s := shareOf(0, 0); s != (share{0, 0, 0, 0, 1}) {
		t.Errorf("of nothing: %+v", s)
	}
}

// TestHint: the page suggests stopping when at most 4 of the 50 deepest decided images were wrong, or when all
// suspects are decided; not before, and not because of images listed for another reason.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		wrong, right int
		stop         bool
	}{{5, 45, false}, {4, 46, true}, {0, 49, false}, {0, 50, true}, {50, 0, false}} {
		w := newWorld(t, 900) // 300 suspects
		// Above them all are wrong, which says nothing of how it is further down.
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
			list = list[60:] // fewer than 50 in all
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

// TestHintOthers: outliers and copies that are not suspects do not count, and the review ends when all suspects
// are decided.
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
