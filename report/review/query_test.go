package review

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFind compares findPage with a loop over all images, for random filters and decisions.
func TestFind(t *testing.T) {
	w := newWorld(t, 200)
	rng := rand.New(rand.NewPCG(5, 6))
	actions := make([]string, len(w.list))
	for id := range actions {
		actions[id] = "undecided"
		switch label := other(w.list[id].Given); rng.IntN(6) {
		case 0:
			actions[id] = "keep"
			w.decide("t", 200, on(id, "keep", "", 0))
		case 1:
			actions[id] = "drop"
			w.decide("t", 200, on(id, "drop", "", 0))
		case 2:
			actions[id] = "relabel"
			w.decide("t", 200, on(id, "relabel", label, 0))
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		choose := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(r, name) }
		class, to, kind := choose("class", "", "", "class a", "class d"), choose("to", "", "", "class b"),
			choose("kind", "", "suspect", "outlier", "copy", "group", "problem")
		state := choose("state", "", "all", "decided", "undecided", "keep", "drop", "relabel")
		text := choose("text", "", "", "PHOTO", "01", "photo 001", "images/01/", "1.png", ".png", "nothing", "é",
			"\x00", "g\x00i", "s/0")
		below, above := rapid.Float64Range(0, 1).Draw(r, "below"), rapid.Float64Range(0, 1).Draw(r, "above")
		sort := choose("sort", "", "suspect", "least", "class", "path")
		values := url.Values{"sort": {sort}, "class": {class}, "to": {to}, "kind": {kind}, "state": {state},
			"text": {text}}
		bounded := rapid.Bool().Draw(r, "bounded")
		if bounded {
			values.Set("below", fmt.Sprint(below))
			values.Set("above", fmt.Sprint(above))
		}
		offset, limit := rapid.IntRange(0, 30).Draw(r, "offset"), rapid.IntRange(0, 20).Draw(r, "limit")
		values.Set("offset", fmt.Sprint(offset))
		values.Set("limit", fmt.Sprint(limit))
		var want []int
		for id, e := range w.list {
			kinds := map[string]bool{"": true, "suspect": e.Flagged, "outlier": e.Outlier, "copy": len(e.Copies) > 0,
				"group": e.CopyGroup > 0, "problem": len(e.Problems) > 0}
			states := map[string]bool{"": true, "all": true, "decided": actions[id] != "undecided", actions[id]: true}
			if (class == "" || e.Given == class) && (to == "" || e.Suggested == to) && kinds[kind] && states[state] &&
				(!bounded || e.Score < below && e.Score > above) &&
				strings.Contains(strings.ToLower(e.Path), strings.ToLower(text)) {
				want = append(want, id)
			}
		}
		switch sort {
		case "least":
			slices.Reverse(want)
		case "class":
			slices.SortStableFunc(want, func(a,
				b int) int {
				return strings.Compare(w.list[a].Given, w.list[b].Given)
			})
		case "path":
			slices.SortFunc(want, func(a, b int) int { return strings.Compare(w.list[a].Path, w.list[b].Path) })
		}
		q, err := parseQuery(values, w.review.table, &w.review.plane)
		if err != nil {
			r.Fatal(err)
		}
		total, _, page := w.review.decided.findPage(q)
		if total != len(want) {
			r.Fatalf("found %d, expected %d", total, len(want))
		}
		want = want[min(offset, len(want)):]
		if want = want[:min(limit, len(want))]; !slices.Equal(page, want) {
			r.Fatalf("page %v, expected %v", page, want)
		}
	})
}

// FuzzQuery checks that no URL causes a server error.
func FuzzQuery(f *testing.F) {
	w := newWorld(f, 60)
	for _, seed := range []string{"/api/rows?text=a&state=keep&limit=3", "/api/typical?class=class+a",
		"/api/changes?since=1", "/api/similar?key=2,4&n=3",
		"/thumb/1?size=40", "/image/%2e%2e", "/api/export.csv",
		"/api/confusions?limit=1", "/api/session"} {
		f.Add(seed)
	}
	h := w.review.Handler()
	f.Fuzz(func(t *testing.T, address string) {
		u, err := url.ParseRequestURI(address)
		if err != nil {
			t.Skip()
		}
		req := httptest.NewRequest("GET", "/", nil)
		req.URL = u
		a := httptest.NewRecorder()
		if h.ServeHTTP(a, req); a.Code >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", address, a.Code, a.Body)
		}
	})
}

// FuzzDecide checks that no request body causes a server error, and that refused requests change no decision.
func FuzzDecide(f *testing.F) {
	w := newWorld(f, 60)
	for _, seed := range []string{
		one(`"id":1,"action":"keep","version":0`),
		one(`"id":2,"action":"relabel","label":"class a","version":0},{"id":3,"action":"drop","label":"","version":1`),
		`{"tab":"t","reviewer":"Ann","decisions":[{"id":4,"action":"unsure","note":"a\nb","version":0}]}`,
		`[[[`, `{"tab":"\u0000\ud800"}`, ``,
	} {
		f.Add("/api/decide", []byte(seed))
		f.Add("/api/undo", []byte(seed))
	}
	h := w.review.Handler()
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		if path != "/api/decide" && path != "/api/undo" && path != "/api/redo" {
			t.Skip()
		}
		before := w.review.decided.getStoreVersion()
		req := httptest.NewRequest("POST", path, strings.NewReader(string(body)))
		req.Header.Set("Content-Type", "application/json")
		a := httptest.NewRecorder()
		h.ServeHTTP(a, req)
		if after := w.review.decided.getStoreVersion(); a.Code >= 500 || (a.Code == 200) != (after == before+1) ||
			a.Code != 200 && after != before {
			t.Errorf("%s %q: %d %s, version %d to %d", path, body, a.Code, a.Body, before, after)
		}
	})
}

// TestAcceptsTheSurestAndANewClass checks the query of suggestions above a probability, and a decision for a new class.
func TestAcceptsTheSurestAndANewClass(t *testing.T) {
	w := newWorld(t, 60)
	for i := range w.review.table.images {
		e := &w.review.table.images[i]
		if p := 0.9; e.audited {
			if i%3 == 0 {
				p = 0.995
			}
			e.SuggestedProbability = &p
		}
	}
	want := 0
	for i, e := range w.review.table.images {
		if e.audited && i%3 == 0 && e.Given != e.Suggested {
			want++
		}
	}
	var page struct {
		Total    int
		Mistakes float64
	}
	w.must("GET", "/api/rows?state=all&sure=0.99&limit=0", "", &page)
	if page.Total != want || want == 0 || math.Abs(page.Mistakes-0.005*float64(want)) > 1e-9 {
		t.Errorf("%+v, expected %d images with .005 mistakes each", page, want)
	}
	w.decide("t", 400, on(0, "relabel", "car", 0))
	for _, name := range []string{"", " car", "../car", ".car", "a\tb"} {
		made := on(0, "relabel", name, 0)
		made["create"] = true
		w.decide("t", 400, made)
	}
	made := on(0, "relabel", "car", 0)
	made["create"] = true
	w.decide("t", 200, made)
	w.decide("t", 200, on(1, "relabel", "car", 0)) // it is a class now
}
