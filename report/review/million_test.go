package review

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review/decisions"
)

// million returns a reviewer of a million images of a thousand classes.
func million(b *testing.B) (*Reviewer, http.Handler) {
	b.Helper()
	const n, classes = 1_000_000, 1000
	rng := rand.New(rand.NewPCG(3, 4))
	d := &datasets.Dataset{Samples: make([]datasets.Sample, n)}
	for c := range classes {
		d.Classes = append(d.Classes, fmt.Sprintf("class %04d", c))
	}
	list := make([]suspects.Suspect, n)
	near := func() suspects.Near { return suspects.Near{Path: d.Samples[rng.IntN(n)].Path} }
	for i := range d.Samples {
		c := rng.IntN(classes)
		d.Samples[i] = datasets.Sample{Path: fmt.Sprintf("images/%04d/Photograph_%07d.jpg", c, i), Label: c,
			True: datasets.Unlabelled, Split: datasets.Train}
	}
	for rank, i := range rng.Perm(n) {
		s := d.Samples[i]
		list[rank] = suspects.Suspect{
			Rank: rank + 1, Path: s.Path, Given: d.Classes[s.Label],
			Suggested: d.Classes[(s.Label+rng.IntN(5))%classes], Score: float64(rank) / n,
			Dropped: rank < n/5, Outlier: rng.IntN(100) == 0, SupportGiven: []suspects.Near{near(), near(), near()},
			SupportSuggested: []suspects.Near{near(), near(), near()},
		}
	}
	store, err := decisions.Open(filepath.Join(b.TempDir(), "d.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	audit, err := joined(d, list)
	if err != nil {
		b.Fatal(err)
	}
	r, err := New(Config{AuditFile: "a.csv", ManifestFile: location.At("m.csv"), Audit: audit, Manifest: d,
		Decisions: store})
	if err != nil {
		b.Fatal(err)
	}
	return r, r.Handler()
}

// clicks makes clicks in the grid of all images, one after the other, and tells how long the slowest of a hundred
// takes.
func clicks(b *testing.B, h http.Handler) {
	rng := rand.New(rand.NewPCG(5, 6))
	var took []time.Duration
	for b.Loop() {
		q := url.Values{"scope": {"all"}, "state": {"all"}, "limit": {"120"}}
		q.Set("sort", []string{"manifest", "suspect", "least", "class", "path"}[rng.IntN(5)])
		q.Set("offset", fmt.Sprint(120*rng.IntN(8000)))
		switch rng.IntN(6) {
		case 0:
			q.Set("class", fmt.Sprintf("class %04d", rng.IntN(1000)))
			q.Del("offset")
		case 1:
			q.Set("kind", "suspect")
		case 2:
			q.Set("below", fmt.Sprint(rng.Float64()))
		case 3:
			q.Set("text", fmt.Sprintf("%d.jpg", rng.IntN(1000)))
			q.Del("offset")
		case 4:
			q.Set("tag", []string{"common", "rare"}[rng.IntN(2)])
			q.Del("offset")
		}
		start := time.Now()
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest("GET", "/api/rows?"+q.Encode(), nil)); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body.String())
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkMillion asks a server of a million images what the page asks.
func BenchmarkMillion(b *testing.B) {
	r, h := million(b)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.Logf("%d MiB live with the manifest and the audit's table", m.HeapAlloc>>20)
	if data, err := os.ReadFile("/proc/self/status"); err == nil {
		for _, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "VmHWM") {
				b.Log(line)
			}
		}
	}
	ask := func(name, method, path string, body func(i int) string) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				req := httptest.NewRequest(method, path, strings.NewReader(body(i)))
				req.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, req); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
	nothing := func(int) string { return "" }
	ask("session", "GET", "/api/session", nothing)
	ask("rows/first", "GET", "/api/rows?state=undecided&kind=suspect&limit=60", nothing)
	ask("rows/deep", "GET", "/api/rows?offset=900000&limit=60", nothing)
	ask("rows/class", "GET", "/api/rows?class=class+0007&state=undecided&limit=60", nothing)
	ask("rows/score", "GET", "/api/rows?below=0.5&above=0.4&kind=outlier&limit=60", nothing)
	ask("rows/text", "GET", "/api/rows?text=GRAPH_00012&limit=60", nothing)
	texts := 0
	b.Run("rows/newtext", func(b *testing.B) {
		for b.Loop() {
			texts++
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("/api/rows?text=%d.jpg&limit=60", texts), nil))
			if w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		}
	})
	ask("images/first", "GET", "/api/rows?scope=all&state=all&sort=manifest&limit=120", nothing)
	ask("images/deep", "GET", "/api/rows?scope=all&state=all&sort=path&limit=120&offset=900000", nothing)
	ask("images/split", "GET", "/api/rows?scope=all&state=all&sort=manifest&split=train&kind=suspect&limit=120",
		nothing)
	ask("images/class", "GET", "/api/rows?scope=all&state=all&sort=manifest&class=class+0007&limit=120", nothing)
	ask("findings", "GET", "/api/findings?kind=outliers&offset=300&limit=12", nothing)
	// The whole plane and a lasso in it.
	at := make([]spot, len(r.table.all))
	for i := range at {
		at[i] = spot{float32(i%1000) / 1000, float32(i/1000) / 1000}
	}
	r.plane.takePlaces(byComponents, at, [2]float64{})
	ask("places", "GET", "/api/places", nothing)
	ask("images/lasso", "GET", "/api/rows?scope=all&state=all&sort=manifest&limit=120&lasso="+
		".2,.2,.4,.2,.4,.4,.3,.3,.2,.4", nothing)
	// Ten thousand images with tags, one of them on a hundred.
	for i := range int32(10_000) {
		list := []string{"common"}
		if i%100 == 0 {
			list = append(list, "rare")
		}
		r.decided.replaceTags(97*i, list)
	}
	for _, tag := range []string{"common", "rare", "none"} {
		ask("images/tag-"+tag, "GET", "/api/rows?scope=all&state=all&sort=path&limit=120&tag="+tag, nothing)
	}
	ask("examples", "GET", "/api/examples?class=class+0007&seed=3", nothing)
	b.Run("clicks", func(b *testing.B) { clicks(b, h) })
	ask("confusions", "GET", "/api/confusions?limit=100", nothing)
	ask("typical", "GET", "/api/typical?class=class+0007", nothing)
	next := 0
	ask("decide", "POST", "/api/decide", func(int) string {
		next++
		return fmt.Sprintf(`{"decisions":[{"id":%d,"action":"keep","version":0}],"tab":"t"}`, next)
	})
	ask("changes", "GET", fmt.Sprintf("/api/changes?since=%d", max(r.Decisions.Version()-3, 0)), nothing)
}
