package review

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

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
	ask("confusions", "GET", "/api/confusions?limit=100", nothing)
	ask("typical", "GET", "/api/typical?class=class+0007", nothing)
	next := 0
	ask("decide", "POST", "/api/decide", func(int) string {
		next++
		return fmt.Sprintf(`{"decisions":[{"id":%d,"action":"keep","version":0}],"tab":"t"}`, next)
	})
	ask("changes", "GET", fmt.Sprintf("/api/changes?since=%d", max(r.Decisions.Version()-3, 0)), nothing)
}
