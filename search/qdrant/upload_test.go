package qdrant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"winnow/internal/testing/qdranttest"
	"winnow/search/vectordb"
)

const (
	upsertCall = "/qdrant.Points/Upsert"
	getCall    = "/qdrant.Points/Get"
	countCall  = "/qdrant.Points/Count"
	createCall = "/qdrant.Collections/Create"
)

// drawn is a source of n random vectors whose length is not 1, some per call.
type drawn struct {
	points []vectordb.Point
	at     int
	dim    int
	step   int
	asked  func(given int) // called by Next before it gives more
}

func source(n, dim int) *drawn {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	d := &drawn{dim: dim, step: 37}
	for i := range n {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(3 * rng.NormFloat64())
		}
		d.points = append(d.points, vectordb.Point{Path: fmt.Sprintf("birds/ä %04d.jpg", i), Vector: v,
			Payload: map[string]string{"label": fmt.Sprint(i % 7), "split": "train"}})
	}
	return d
}

func (d *drawn) Len() int   { return len(d.points) }
func (d *drawn) Width() int { return d.dim }
func (d *drawn) Next() ([]vectordb.Point, error) {
	if d.asked != nil {
		d.asked(d.at)
	}
	n := min(d.step, len(d.points)-d.at)
	d.at += n
	if n == 0 {
		return nil, io.EOF
	}
	return d.points[d.at-n : d.at], nil
}

// dialled returns a connection that does not wait between tries, and the waits it would have made.
func dialled(t testing.TB, f *qdranttest.Server, key string) (*Server, *[]time.Duration) {
	t.Helper()
	a, err := ParseAddress(f.URL())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Dial(a, key, "birds")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	var mu sync.Mutex
	pauses := &[]time.Duration{}
	s.tries.Sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	return s, pauses
}

var birds = vectordb.Options{Model: strings.Repeat("ab", 32), Batch: 16, Columns: []string{"label"}}

// holds checks that the server has all points of the source: id, payload and direction.
func holds(t *testing.T, f *qdranttest.Server, d *drawn, model string) {
	t.Helper()
	c := f.Collections["birds"]
	if c == nil || len(c.Points) < len(d.points) {
		t.Fatalf("collection %+v", c)
	}
	for _, p := range d.points {
		got := c.Points[ID(p.Path)]
		if got == nil {
			t.Fatalf("%s is not there", p.Path)
		}
		for name, want := range map[string]string{"path": p.Path, "model": model, "label": p.Payload["label"],
			"split": p.Payload["split"], "digest": vectordb.Digest(p, model)} {
			if found := got.Payload[name].GetStringValue(); found != want {
				t.Errorf("%s: %s is %q, expected %q", p.Path, name, found, want)
			}
		}
		var dot, a, b float64
		for i, v := range got.Vectors.GetVector().GetDense().GetData() {
			w := float64(p.Vector[i])
			dot, a, b = dot+float64(v)*w, a+float64(v)*float64(v), b+w*w
		}
		if cos := dot / math.Sqrt(a*b); !(cos > 1-1e-6) || math.Abs(a-1) > 1e-5 {
			t.Errorf("%s: cosine %v, length %v", p.Path, cos, math.Sqrt(a))
		}
	}
}

func TestUpload(t *testing.T) {
	f, d := qdranttest.New(t), source(333, 12)
	s, _ := dialled(t, f, "")
	done := 0
	o := birds
	o.OnDisk = true
	o.Observe = func(n, total int) {
		if n <= done || total != 333 {
			t.Errorf("observed %d of %d after %d", n, total, done)
		}
		done = n
	}
	r, err := vectordb.Upload(context.Background(), s, d, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := (vectordb.Result{Collection: "birds", Server: qdranttest.Version, Rows: 333, Dim: 12, Sent: 333,
		Points: 333, Compared: r.Compared, Created: true}); r != want || r.Compared < 100 || done != 333 {
		t.Errorf("%+v, done %d", r, done)
	}
	holds(t, f, d, o.Model)
	c := f.Collections["birds"]
	p := c.Config.GetParams().GetVectorsConfig().GetParams()
	//lint:ignore SA1019 what is sent
	if p.GetSize() != 12 || p.GetDistance() != client.Distance_Cosine || !p.GetOnDisk() ||
		fmt.Sprint(c.Fields) != "[label]" {
		t.Errorf("collection %v, fields %v", p, c.Fields)
	}
	// The graph is deferred until all points are in.
	if fmt.Sprint(c.Ms) != "[0 16]" || c.Config.Metadata[uploadKey].GetStringValue() != finished {
		t.Errorf("m was %v, metadata %v", c.Ms, c.Config.Metadata)
	}
	if f.Calls[getCall] > 2 || f.Calls[upsertCall] > 333/16+10 {
		t.Errorf("calls %v", f.Calls)
	}
}

// An upload holds no more of a long source in memory than its streams are sending.
func TestUploadReadsNoFurtherThanItSends(t *testing.T) {
	f, d := qdranttest.New(t), source(2000, 3)
	s, _ := dialled(t, f, "")
	d.step = 100
	most := 0
	d.asked = func(given int) { most = max(most, given-f.Holds("birds")) }
	if _, err := vectordb.Upload(context.Background(), s, d, birds); err != nil {
		t.Fatal(err)
	}
	if most > streams*birds.Batch {
		t.Errorf("%d points had been read and not stored, expected at most %d", most, streams*birds.Batch)
	}
}

// BenchmarkUpload measures the client's cost of an upload, with an in-memory server on the same machine.
func BenchmarkUpload(b *testing.B) {
	const n, dim = 20_000, 512
	b.SetBytes(4 * n * dim)
	f, d := qdranttest.New(b), source(n, dim)
	s, _ := dialled(b, f, "")
	o := birds
	o.Batch, o.Recreate, d.step = 256, true, 8192
	for b.Loop() {
		d.at = 0
		if _, err := vectordb.Upload(context.Background(), s, d, o); err != nil {
			b.Fatal(err)
		}
	}
}

// The ids match those of other implementations: Python's uuid.uuid5(uuid.NAMESPACE_URL, …) of "birds/07.jpg", ""
// and "ä".
func TestID(t *testing.T) {
	for path, want := range map[string]string{"birds/07.jpg": "3991a454-34e2-592d-ae2a-d6bd6a63ec19",
		"": "1b4db7eb-4057-5ddf-91e0-36dec72071f5", "ä": "6da0b71f-c3b3-5afc-8afe-627e4bbf6e18"} {
		if got := ID(path); got != want {
			t.Errorf("%q: %s, expected %s", path, got, want)
		}
	}
}

// A second call sends nothing. After changes, only a changed image, a new label and new images are sent.
func TestUploadAgainSendsWhatChanged(t *testing.T) {
	f := qdranttest.New(t)
	s, _ := dialled(t, f, "")
	call := func(d *drawn) vectordb.Result {
		t.Helper()
		var notes []string
		o := birds
		o.Note = func(text string) { notes = append(notes, text) }
		r, err := vectordb.Upload(context.Background(), s, d, o)
		if err != nil {
			t.Fatal(err)
		}
		if more := r.Points > r.Rows; more != (len(notes) == 1 &&
			strings.Contains(notes[0], "are not in this export")) {
			t.Errorf("%+v, notes %q", r, notes)
		}
		holds(t, f, d, o.Model)
		return r
	}
	call(source(100, 8))
	if r := call(source(100, 8)); r.Sent != 0 || r.Kept != 100 || r.Created {
		t.Errorf("%+v", r)
	}
	d := source(100, 8)
	d.points[3].Vector[0] += 1e-6
	d.points[40].Payload["label"] = "mended"
	delete(d.points[77].Payload, "split")
	for i := range 5 {
		d.points = append(d.points, vectordb.Point{Path: fmt.Sprintf("new/%d", i), Vector: d.points[i].Vector})
	}
	if r := call(d); r.Sent != 8 || r.Kept != 97 || r.Points != 105 {
		t.Errorf("%+v", r)
	}
	if r := call(source(100, 8)); r.Sent != 3 || r.Points != 105 {
		t.Errorf("%+v", r)
	}
	if m := f.Collections["birds"].Ms; fmt.Sprint(m) != "[0 16]" {
		t.Errorf("m was %v: an upload into a finished collection changed its index", m)
	}
}

// A server that is away for a while, drops answers, is busy or is slow costs time but no points.
func TestUploadThroughFaults(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded,
		codes.Aborted} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(code, after), func(t *testing.T) {
				f, d := qdranttest.New(t), source(200, 5)
				failures := 0
				f.Fault = func(method string, n int, at bool) error {
					if at == after && n%3 != 0 {
						failures++
						return status.Error(code, "not now")
					}
					return nil
				}
				s, pauses := dialled(t, f, "")
				r, err := vectordb.Upload(context.Background(), s, d, birds)
				if err != nil || failures < 10 {
					t.Fatal(err, failures)
				}
				if len(*pauses) != failures {
					t.Errorf("%d pauses after %d failures", len(*pauses), failures)
				}
				holds(t, f, d, birds.Model)
				if ms := f.Collections["birds"].Ms; r.Points != 200 || ms[0] != 0 || ms[len(ms)-1] != 16 || !after &&
					len(ms) != 2 {
					t.Errorf("%+v, m %v", r, ms)
				}
			})
		}
	}
}

// Pauses grow, and the error about a server that stays away says all the user needs to know.
func TestUploadGivesUp(t *testing.T) {
	f := qdranttest.New(t)
	s, pauses := dialled(t, f, "")
	f.Fault = func(method string, n int, _ bool) error {
		if method == countCall {
			return status.Error(codes.Unavailable, "node is down")
		}
		return nil
	}
	var notes []string
	o := birds
	o.Note = func(text string) { notes = append(notes, text) }
	_, err := vectordb.Upload(context.Background(), s, source(20, 3), o)
	want := fmt.Sprintf("qdrant: %s: counting the points of collection birds: node is down (Unavailable), %d times",
		f.URL(), vectordb.Patience)
	if err == nil || err.Error() != want {
		t.Errorf("%v\nexpected %s", err, want)
	}
	var sum time.Duration
	for i, p := range *pauses {
		if sum += p; p > 15*time.Second || i > 0 && i < 6 && p < (*pauses)[i-1]/2 {
			t.Errorf("pauses %v", *pauses)
		}
	}
	if len(*pauses) != vectordb.Patience-1 || sum < time.Minute || sum > 3*time.Minute {
		t.Errorf("%d pauses of %v together", len(*pauses), sum)
	}
	if len(notes) != 1 || !strings.HasSuffix(notes[0], "retrying") {
		t.Errorf("notes %q", notes)
	}
	if f.Collections["birds"].Config.Metadata[uploadKey].GetStringValue() != unfinished {
		t.Error("an upload that was not verified says that it is finished")
	}
	var refused *vectordb.RequestError
	if !errors.As(err, &refused) || !refused.NoAnswer || refused.Refused {
		t.Errorf("%+v", refused)
	}
}

// With Delete, an upload deletes what its source lacks, over several pages of points; Nearest agrees with the exact
// search.
func TestDeleteAndNearest(t *testing.T) {
	f, d := qdranttest.New(t), source(2*pathsAtOnce+300, 4)
	s, _ := dialled(t, f, "")
	if _, err := vectordb.Upload(context.Background(), s, d, birds); err != nil {
		t.Fatal(err)
	}
	gone := d.points[100 : 2*pathsAtOnce+50]
	d.points, d.at = append(d.points[:100:100], d.points[2*pathsAtOnce+50:]...), 0
	o := birds
	o.Delete = true
	r, err := vectordb.Upload(context.Background(), s, d, o)
	if err != nil || r.Deleted != len(gone) || r.Sent != 0 || r.Points != 350 || f.Holds("birds") != 350 {
		t.Fatal(err, r)
	}
	holds(t, f, d, birds.Model)
	about, err := s.Look(context.Background())
	if want := (vectordb.About{Server: qdranttest.Version, Model: birds.Model, Dim: 4, Points: 350}); err != nil ||
		about != want {
		t.Errorf("%v, %+v", err, about)
	}
	hits, err := s.Nearest(context.Background(), d.points[7].Vector, 3)
	if err != nil || len(hits) != 3 || hits[0].Path != d.points[7].Path || math.Abs(hits[0].Similarity-1) > 1e-5 ||
		hits[0].Payload["label"] != "0" {
		t.Errorf("%v, %+v", err, hits)
	}
}
