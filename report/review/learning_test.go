package review

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"
)

// isWrongAt reports whether the test treats the label of image i as wrong. The audit does not contain this.
func isWrongAt(i int) bool { return i/4%5 == 0 }

// numberAt returns the number of an image of a manifest returned by made.
func numberAt(path string) (i int) {
	var class int
	_, _ = fmt.Sscanf(path, "images/%d/Photo %d.png", &class, &i) // the format of pathOf
	return i
}

// marker is a finder whose vectors are similar for all images with wrong labels.
type marker struct{ seer }

func (m marker) Rows(paths []string) (x blas32.General, absent int, err error) {
	x, absent, err = m.seer.Rows(paths)
	for n, path := range paths {
		if isWrongAt(numberAt(path)) {
			x.Data[n*x.Stride+4]++
		}
	}
	return x, absent, err
}

// TestReviewLearns checks that the learned order finds more label errors than the audit's order, and that a restarted
// server has the same order.
func TestReviewLearns(t *testing.T) {
	w := newWorld(t, 400)
	reopen := func() {
		w.close()
		w.open(func(c *Config) { c.Finder = marker{seer{w.finder}} })
	}
	reopen()
	list := func(query string) (rows []row) {
		var page struct{ Rows []row }
		w.must("GET", "/api/rows?"+query, "", &page)
		return page.Rows
	}
	byList := 0
	for _, r := range list("state=undecided&limit=120") {
		if isWrongAt(numberAt(r.Path)) {
			byList++
		}
	}
	found := 0
	for range 6 {
		var made []map[string]any
		for _, r := range list("state=undecided&limit=20") {
			d := on(r.ID, "keep", "", int(r.Version))
			if isWrongAt(numberAt(r.Path)) {
				d["action"] = "drop"
				found++
			}
			made = append(made, d)
		}
		w.decide("t", http.StatusOK, made...)
	}
	if found < byList*3/2 {
		t.Errorf("120 decisions found %d label errors, %d in the audit's order", found, byList)
	}
	paths := func() (paths []string) {
		for _, r := range list("state=undecided&limit=200") {
			paths = append(paths, r.Path)
		}
		return paths
	}
	learned, sorted := paths(), list("state=undecided&limit=200&sort=suspect")
	for i := range sorted[1:] {
		if sorted[i].Rank > sorted[i+1].Rank {
			t.Fatalf("sorted by score, rank %d comes before %d", sorted[i].Rank, sorted[i+1].Rank)
		}
	}
	reopen()
	if diff := cmp.Diff(learned, paths()); diff != "" {
		t.Errorf("after a restart the order differs:\n%s", diff)
	}
	var s session
	if w.must("GET", "/api/session", "", &s); !s.Learns {
		t.Error("the session does not report that the order is learned")
	}
}
