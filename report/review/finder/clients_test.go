package finder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/report/review"
	"winnow/report/review/decisions"
	"winnow/search"
)

// The benchmark's world: an index with the given number of vectors and an audit of the given number of images.
const indexed, width, audited = 200_000, 256, 20_000

func imagePath(i int) string { return fmt.Sprintf("images/%06d.png", i) }

// madeIndex writes an index of vectors by chance and opens it.
func madeIndex(b *testing.B) *search.Gallery {
	b.Helper()
	dir, paths := filepath.Join(b.TempDir(), "index"), make([]string, indexed)
	for i := range paths {
		paths[i] = imagePath(i)
	}
	x, err := search.Create(dir, search.Embedder{Model: "aa", Output: "embedding", Preprocessing: "{}",
		Decoder: "exact 1", Source: "made"}, width, "float32", paths)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	block := features.NewMatrix(10_000, width)
	for range indexed / block.Rows {
		for i := range block.Data {
			block.Data[i] = rng.Float32() - 0.5
		}
		if err := x.Append(block, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(x.Finish(), x.Close()); err != nil {
		b.Fatal(err)
	}
	in, err := search.OpenGallery(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close() })
	return in
}

// begun is a finder that tells when a search begins.
type begun struct {
	*Finder
	tell atomic.Pointer[func()]
}

func (f *begun) Similar(ctx context.Context, paths []string, n int) ([]review.Found, error) {
	(*f.tell.Load())()
	return f.Finder.Similar(ctx, paths, n)
}

// served serves a review of the first images of an index.
func served(b *testing.B, f review.Finder) *httptest.Server {
	b.Helper()
	dir := b.TempDir()
	var manifest, audit strings.Builder
	manifest.WriteString("path,label\n")
	list := make([]suspects.Suspect, audited)
	for i := range indexed {
		fmt.Fprintf(&manifest, "%s,%d\n", imagePath(i), i%100)
		if i < audited {
			list[i] = suspects.Suspect{Rank: i + 1, Path: imagePath(i), Given: fmt.Sprint(i % 100),
				Suggested: fmt.Sprint((i + 1) % 100), Score: float64(i), Dropped: true}
		}
	}
	if err := suspects.Write(&audit, suspects.CSV, list); err != nil {
		b.Fatal(err)
	}
	m, a := filepath.Join(dir, "m.csv"), filepath.Join(dir, "a.csv")
	for name, text := range map[string]string{m: manifest.String(), a: audit.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	c := review.Config{AuditFile: a, ManifestFile: location.At(m), Finder: f}
	var err error
	if c.Manifest, err = datasets.ReadFile(m, datasets.ReadOptions{}); err != nil {
		b.Fatal(err)
	}
	if c.Audit, err = review.ReadAudit(a, location.At(m), c.Manifest); err != nil {
		b.Fatal(err)
	}
	if c.Decisions, err = decisions.Open(filepath.Join(dir, "d.db")); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Decisions.Close() })
	r, err := review.New(c)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(r.Handler())
	b.Cleanup(server.Close)
	return server
}

// taken are how long the answers to requests of a kind took, and how many said no.
type taken struct {
	mutex   sync.Mutex
	times   []time.Duration
	refused int
}

func (t *taken) report(b *testing.B, name string) {
	slices.Sort(t.times)
	for unit, at := range map[string]int{"p50": len(t.times) / 2, "p99": len(t.times) * 99 / 100} {
		b.ReportMetric(float64(t.times[at].Microseconds())/1000, name+"-"+unit+"-ms")
	}
}

// BenchmarkClients is a round of a hundred users who all search for similar images at once. While they wait,
// each loads a page of the list and decides.
func BenchmarkClients(b *testing.B) {
	const clients = 100
	f := &begun{Finder: &Finder{in: madeIndex(b)}}
	server := served(b, f)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clients}}
	ask := func(t *taken, method, path, body string) {
		from := time.Now()
		req, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		a, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return
		}
		defer a.Body.Close()
		data, err := io.ReadAll(a.Body)
		t.mutex.Lock()
		defer t.mutex.Unlock()
		switch {
		case err != nil || a.StatusCode != http.StatusOK && a.StatusCode != http.StatusServiceUnavailable ||
			!json.Valid(data):
			b.Errorf("%s %s: %d %.200s, %v", method, path, a.StatusCode, data, err)
		case a.StatusCode == http.StatusServiceUnavailable:
			t.refused++
		default:
			t.times = append(t.times, time.Since(from))
		}
	}
	var searches, rows, decided taken
	next := 0
	for b.Loop() {
		var all sync.WaitGroup
		running := make(chan struct{})
		first := sync.OnceFunc(func() { close(running) })
		f.tell.Store(&first)
		for i := range clients {
			all.Go(func() {
				ask(&searches, "GET", fmt.Sprintf("/api/similar?key=%d&n=30&tab=tab+%d", (next+i)%audited, i), "")
			})
		}
		<-running
		for i := range clients {
			id := next + i
			all.Go(func() {
				ask(&rows, "GET", fmt.Sprintf("/api/rows?state=undecided&limit=24&offset=%d", id), "")
				ask(&decided, "POST", "/api/decide",
					fmt.Sprintf(`{"tab":"tab %d","decisions":[{"id":%d,"action":"keep","version":0}]}`, i, id))
			})
		}
		all.Wait()
		next += clients
	}
	if rows.refused+decided.refused > 0 {
		b.Errorf("%d lists and %d decisions were refused", rows.refused, decided.refused)
	}
	searches.report(b, "search")
	rows.report(b, "rows")
	decided.report(b, "decide")
	b.ReportMetric(100*float64(searches.refused)/float64(next), "refused-%")
}
