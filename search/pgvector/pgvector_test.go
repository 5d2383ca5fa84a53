package pgvector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/pgvectortest"
	"winnow/search"
)

// drawn is a source of random unit vectors, some per call.
type drawn struct {
	points []Point
	at     int
	dim    int
}

func source(n, dim int) *drawn {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	d := &drawn{dim: dim}
	for i := range n {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		q, _ := search.NewQuery("", v)
		d.points = append(d.points, Point{Path: fmt.Sprintf("birds/ä'\"$1 %04d.jpg", i), Vector: q.Vector,
			Payload: map[string]string{"label": fmt.Sprint(i % 7), "split of \"it\"": "train"}})
	}
	return d
}

func (d *drawn) Len() int   { return len(d.points) }
func (d *drawn) Width() int { return d.dim }
func (d *drawn) Next() ([]Point, error) {
	n := min(37, len(d.points)-d.at)
	d.at += n
	if n == 0 {
		return nil, io.EOF
	}
	return d.points[d.at-n : d.at], nil
}

// birds is a name that needs quoting.
const birds = `Birds "of"; DROP TABLE x.ä`

func options() Options {
	return Options{Model: strings.Repeat("ab", 32), Batch: 16, Columns: []string{"label", `split of "it"`}}
}

// dialled returns a table with its own connection.
func dialled(t *testing.T, url, name string) *Server {
	t.Helper()
	a, err := ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Dial(a, "", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fresh returns a server that lacks the table.
func fresh(t *testing.T, name string) string {
	t.Helper()
	url := pgvectortest.New(t)
	execute(t, url, "CREATE EXTENSION IF NOT EXISTS vector;\nDROP TABLE IF EXISTS "+pgx.Identifier{name}.Sanitize())
	t.Cleanup(func() { execute(t, url, "DROP TABLE IF EXISTS "+pgx.Identifier{name}.Sanitize()) })
	return url
}

func execute(t *testing.T, url, statements string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for statement := range strings.SplitSeq(statements, ";\n") {
		if _, err := conn.Exec(context.Background(), statement, pgx.QueryExecModeExec); err != nil {
			t.Fatal(statement, err)
		}
	}
}

func uploaded(t *testing.T, s *Server, d *drawn, o Options) Result {
	t.Helper()
	d.at = 0
	r, err := s.Upload(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// holds compares all rows, bit by bit.
func holds(t *testing.T, s *Server, d *drawn) {
	t.Helper()
	if n, err := s.countRows(t.Context()); err != nil || n != len(d.points) {
		t.Fatalf("%v, %d rows, expected %d", err, n, len(d.points))
	}
	for b := range slices.Chunk(d.points, 50) {
		paths := make([]string, len(b))
		for i, p := range b {
			paths[i] = p.Path
		}
		found, err := s.Fetch(t.Context(), paths)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range b {
			got := found[p.Path]
			if !slices.Equal(got.Vector, p.Vector) ||
				fmt.Sprint(got.Payload) != fmt.Sprint(p.Payload) {
				t.Errorf("%s: found %+v, expected %+v", p.Path, got, p)
			}
		}
	}
}

// A second call sends nothing. After changes, only rows that changed, are new or lost a field are sent.
func TestUpload(t *testing.T) {
	url := fresh(t, birds)
	d, s := source(333, 12), dialled(t, url, birds)
	var notes []string
	o := options()
	o.Note = func(text string) { notes = append(notes, text) }
	done := 0
	o.Observe = func(n, total int) { done = n }
	r := uploaded(t, s, d, o)
	if want := (Result{Collection: birds, Server: r.Server, Rows: 333, Dim: 12, Sent: 333, Points: 333,
		Created: true}); r != want || done != 333 || len(notes) > 0 {
		t.Errorf("%+v, done %d, notes %q", r, done, notes)
	}
	if !strings.Contains(r.Server, "PostgreSQL") || !strings.Contains(r.Server, "pgvector 0.") {
		t.Errorf("server %q", r.Server)
	}
	holds(t, s, d)
	again := dialled(t, url, birds)
	if r := uploaded(t, again, d, o); r.Sent != 0 || r.Kept != 333 || r.Created {
		t.Errorf("%+v", r)
	}
	d.points[3].Vector = slices.Clone(d.points[3].Vector)
	d.points[3].Vector[0] = math.Nextafter32(d.points[3].Vector[0], 2)
	d.points[40].Payload["label"] = "mended"
	delete(d.points[77].Payload, "label")
	d.points = append(d.points[:300:300], Point{Path: "new", Vector: d.points[5].Vector})
	if r := uploaded(t, again, d, o); r.Sent != 4 || r.Points != 334 || len(notes) != 1 ||
		!strings.Contains(notes[0], "33 points that are not in this export") {
		t.Errorf("%+v, notes %q", r, notes)
	}
	o.Recreate = true
	if r := uploaded(t, again, source(20, 5), o); r.Points != 20 || !r.Created {
		t.Errorf("%+v", r)
	}
}

// A connection that breaks anywhere is replaced, and no rows are lost. A call whose context ended can be continued.
func TestUploadThroughBreaks(t *testing.T) {
	url := fresh(t, "broken")
	d, next := source(400, 64), int64(10_000)
	proxy := pgvectortest.NewProxy(t, url, func(sent int64) bool {
		if sent < next {
			return false
		}
		next += 17_000
		return true
	})
	s := dialled(t, proxy.URL, "broken")
	if r := uploaded(t, s, d, options()); r.Points != 400 || proxy.Cuts() < 4 {
		t.Errorf("%+v, %d breaks", r, proxy.Cuts())
	}
	holds(t, s, d)
}

func TestUploadGoesOnAfterDeath(t *testing.T) {
	url := fresh(t, "killed")
	for i, at := range []int{1, 100, 250, 399} {
		d, s := source(400, 16), dialled(t, url, "killed")
		o := options()
		o.Recreate = i > 0
		ctx, die := context.WithCancel(t.Context())
		there := 0
		o.Observe = func(done, _ int) {
			if done >= at {
				there = done
				die()
			}
		}
		if _, err := s.Upload(ctx, d, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("at %d: %v", at, err)
		}
		s.Close()
		again := dialled(t, url, "killed")
		r := uploaded(t, again, d, options())
		if r.Kept < there || r.Kept > there+2*16 || r.Sent+r.Kept != 400 || r.Created {
			t.Errorf("at %d: %+v, %d were there", at, r, there)
		}
		holds(t, again, d)
	}
}

// With the index, nearly all neighbours are those of the exact search.
func TestNearest(t *testing.T) {
	url := fresh(t, "near")
	d, s := source(2000, 24), dialled(t, url, "near")
	o := options()
	o.Batch = 256
	uploaded(t, s, d, o)
	x := features.NewMatrix(len(d.points), d.dim)
	for i, p := range d.points {
		copy(features.Row(x, i), p.Vector)
	}
	exact, err := search.Nearest(t.Context(), rows{x}, features.Set{X: x}, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range 50 {
		hits, err := s.Nearest(t.Context(), d.points[i].Vector, 10)
		if err != nil || len(hits) != 10 || hits[0].Path != d.points[i].Path ||
			hits[0].Payload["label"] != d.points[i].Payload["label"] {
			t.Fatalf("%v, %+v", err, hits)
		}
		for _, h := range exact[i] {
			if at := slices.IndexFunc(hits,
				func(f Hit) bool { return f.Path == d.points[h.Row].Path }); at >= 0 {
				right++
				if math.Abs(hits[at].Similarity-h.Similarity) > 1e-6 {
					t.Errorf("similarity %v, expected %v", hits[at].Similarity, h.Similarity)
				}
			}
		}
	}
	if recall := float64(right) / 500; recall < 0.95 {
		t.Errorf("recall@10 %v, expected at least .95", recall)
	}
	// More hits than an index can return are found, too.
	if hits, err := s.Nearest(t.Context(), d.points[0].Vector, 1500); err != nil || len(hits) != 1500 {
		t.Errorf("%v, %d found", err, len(hits))
	}
	if about, err := dialled(t, url, "near").Look(t.Context()); err != nil || about.Model != o.Model ||
		about.Dim != 24 || about.Points != 2000 {
		t.Errorf("%v, %+v", err, about)
	}
}

// rows are vectors for an exact search.
type rows struct{ blas32.General }

func (r rows) Len() int   { return r.Rows }
func (r rows) Width() int { return r.Cols }
func (r rows) Block(from, n int) (blas32.General, []bool, error) {
	return blas32.General{Rows: n, Cols: r.Cols, Stride: r.Stride, Data: r.Data[from*r.Stride:]}, nil, nil
}

// Vectors longer than an index can hold keep their bits and are found.
func TestLongVectors(t *testing.T) {
	url := fresh(t, "long")
	d, s := source(60, 2001), dialled(t, url, "long")
	var notes []string
	o := options()
	o.Note = func(text string) { notes = append(notes, text) }
	uploaded(t, s, d, o)
	if len(notes) != 1 || !strings.Contains(notes[0], "gets no index") {
		t.Errorf("notes %q", notes)
	}
	holds(t, s, d)
	if hits, err := s.Nearest(t.Context(), d.points[9].Vector, 5); err != nil || len(hits) != 5 ||
		hits[0].Path != d.points[9].Path || math.Abs(hits[0].Similarity-1) > 1e-6 {
		t.Errorf("%v, %+v", err, hits)
	}
	if _, err := dialled(t, url, "long").Upload(t.Context(), source(2, 16001), options()); err == nil {
		t.Error("vectors too long to store are no error")
	}
}

func TestRefuses(t *testing.T) {
	url := fresh(t, "other")
	for want, statements := range map[string]string{
		"winnow did not write this table": "CREATE TABLE other (id int)",
		"found vectors of 9 values, expected 4": "CREATE TABLE other (path text PRIMARY KEY, model text, digest " +
			"text, embedding vector(9))",
		"found int4 as column label, expected text": "CREATE TABLE other (path text PRIMARY KEY, model text, " +
			"digest text, embedding vector(4), label int)",
		"found vectors made by other, expected by abababababab": "CREATE TABLE other (path text PRIMARY KEY, model " +
			"text, digest text, embedding vector(4));\n" +
			"INSERT INTO other VALUES ('a', 'other', '', '[1,2,3,4]')",
	} {
		execute(t, url, "DROP TABLE IF EXISTS other;\n"+statements)
		_, err := dialled(t, url, "other").Upload(t.Context(), source(10, 4), options())
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "pgvector: postgres://127.0.0.1:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
	// A table that winnow did not write is not dropped either; one that it wrote gets missing columns and keeps
	// foreign ones.
	execute(t, url, "DROP TABLE other;\nCREATE TABLE other (id int)")
	o := options()
	o.Recreate = true
	if _, err := dialled(t, url, "other").Upload(t.Context(), source(10, 4), o); !errors.As(err,
		new(*OtherCollection)) {
		t.Errorf("%v", err)
	}
	execute(t, url, "DROP TABLE other;\nCREATE TABLE other (mine int DEFAULT 7, path text PRIMARY KEY, model text, "+
		"digest text, embedding vector(4))")
	d, s := source(10, 4), dialled(t, url, "other")
	uploaded(t, s, d, options())
	holds(t, s, d)
	if _, err := dialled(t, url, "none").Look(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "table none: found none of that name") {
		t.Errorf("%v", err)
	}
}

// Without the extension there is one clear line.
func TestNoExtension(t *testing.T) {
	url := fresh(t, "none")
	execute(t, url, "DROP EXTENSION vector CASCADE")
	defer execute(t, url, "CREATE EXTENSION vector")
	if _, err := dialled(t, url, "none").Upload(t.Context(), source(10, 4), options()); !errors.As(err,
		new(*NoExtension)) {
		t.Errorf("%v", err)
	}
}

// An absent server is tried a few times; waiting for a silent one ends with the context.
func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := listener.Accept(); err == nil {
			defer c.Close()
			cancel()
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	url := "postgres://me:secret@" + listener.Addr().String() + "/db?sslmode=disable"
	if _, err := dialled(t, url, "x").Hello(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	listener.Close()
	_, err = dialled(t, url, "x").Hello(t.Context())
	var request *RequestError
	if !errors.As(err, &request) || !request.NoAnswer ||
		!strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestParseAddress(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	for text, want := range map[string]string{
		"postgres://me:secret@db.example/photos?table=x":    "postgres://db.example:5432/photos",
		"postgresql://me@[::1]:99/a%20b":                    "postgres://[::1]:99/a%20b",
		"postgres:///db?host=/var/run/postgresql&user=me":   "postgres:///var/run/postgresql/db",
		"mysql://me:secret@h/db":                            "the address cannot be read, expected postgres://",
		"postgres://me:secret@h:port/db":                    "the address cannot be read, expected postgres://",
		"postgres://me:secret@h/db?sslmode=secret":          "sslmode is invalid",
		"postgres://h/db?password=secret&connect_timeout=s": "the address cannot be read: invalid syntax",
	} {
		a, err := ParseAddress(text)
		got := ""
		if err == nil {
			got = a.String()
		} else {
			got = err.Error()
		}
		if strings.Contains(got, "secret") || err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
	a, err := ParseAddress("postgres://me@h/db?table=x&application_name=w")
	if err != nil || a.Table != "x" || a.config.RuntimeParams["application_name"] != "w" {
		t.Errorf("%v, %+v", err, a)
	}
	if _, err := Dial(a, "", strings.Repeat("x", 64)); err != nil {
		t.Errorf("the name of the address counts: %v", err)
	}
	a.Table = ""
	if _, err := Dial(a, "", strings.Repeat("ä", 32)); err == nil {
		t.Error("a name of 64 bytes is no error")
	}
}
