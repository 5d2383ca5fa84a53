package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChangedPicture replaces a decided image file. The image must be undecided again, show its old decision, and the
// export must not apply the old decision.
func TestChangedPicture(t *testing.T) {
	w := newWorld(t, 40)
	id := -1
	var path string
	for i := range w.list {
		if w.list[i].Path == pathOf(3) {
			id, path = i, w.list[i].Path
		}
	}
	keptID := (id + 1) % len(w.list)
	w.decide("t", 200, on(id, "drop", "", 0), on(keptID, "keep", "", 0))
	again := func() session {
		t.Helper()
		w.close()
		w.open(nil)
		return w.review.newSession()
	}
	if s := again(); s.Notice != "" || s.Counts["drop"] != 1 {
		t.Fatalf("nothing changed: %q, %v", s.Notice, s.Counts)
	}
	if err := os.WriteFile(filepath.Join(w.dir, path), pngOf(17, 17), 0o600); err != nil {
		t.Fatal(err)
	}
	s := again()
	if s.Counts["drop"] != 0 || s.Counts["keep"] != 1 || !strings.Contains(s.Notice, "1 image changed") {
		t.Errorf("notice %q, counts %v", s.Notice, s.Counts)
	}
	r := w.review.decided.newRow(id, "")
	if r.Decision != nil || r.Before == nil || r.Before.Action != "drop" {
		t.Errorf("decision %+v, before %+v", r.Decision, r.Before)
	}
	e, err := w.review.Write()
	if err != nil || e.Dropped != 0 || e.Changed != 1 || !strings.Contains(e.Text(), "1 image that changed") {
		t.Errorf("%+v, %v", e, err)
	}
	var list strings.Builder
	if err := w.review.writeList(&list); err != nil || !strings.Contains(list.String(),
		path+",class d,undecided,,,drop,") {
		t.Errorf("%v: the list of decisions is\n%s", err, &list)
	}
	if said := w.review.Summary(); !strings.Contains(said, "; 1 decided image changed since: decide again") {
		t.Error(said)
	}
	w.decide("t", 200, on(id, "keep", "", int(r.Version)))
	if r := w.review.decided.newRow(id, ""); r.Before != nil || r.Decision == nil {
		t.Errorf("just decided again: %+v, before %+v", r.Decision, r.Before)
	}
	if s := again(); s.Notice != "" || s.Counts["keep"] != 2 {
		t.Errorf("decided again: %q, %v", s.Notice, s.Counts)
	}
	if r := w.review.decided.newRow(id, ""); r.Before != nil || r.Decision == nil {
		t.Errorf("decided again: %+v, before %+v", r.Decision, r.Before)
	}
}
