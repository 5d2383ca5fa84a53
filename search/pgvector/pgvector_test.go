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
	"time"

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

// dialled returns a table with its own connection, which does not wait between tries.
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
	s.tries.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
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
	if n, err := s.Count(t.Context()); err != nil || n != len(d.points) {
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
			if !slices.Equal(got.Vector, p.Vector) || got.Digest != Digest(p, options().Model) ||
				fmt.Sprint(got.Payload) != fmt.Sprint(p.Payload) {
				t.Errorf("%s: found %+v, expected %+v", p.Path, got, p)
			}
		}
	}
}

// A second call sends nothing. After changes, only rows that changed, are new or lost a field are sent; rows that
// are gone are deleted only on request.
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
		Compared: r.Compared, Created: true}); r != want || r.Compared < 100 || done != 333 || len(notes) > 0 {
		t.Errorf("%+v, done %d, notes %q", r, done, notes)
	}
	if !strings.Contains(r.Server, "PostgreSQL") || !strings.Contains(r.Server, "pgvector 0.") {
		t.Errorf("server %q", r.Server)
	}
	holds(t, s, d)
	if there, err := s.hasIndex(t.Context()); err != nil || !there {
		t.Errorf("index: %v, %v", there, err)
	}
	again := dialled(t, url, birds)
	if r := uploaded(t, again, d, o); r.Sent != 0 || r.Kept != 333 || r.Created {
		t.Errorf("%+v", r)
	}
	d.points[3].Vector = slices.Clone(d.points[3].Vector)
	d.points[3].Vector[0] = math.Nextafter32(d.points[3].Vector[0], 2)
	d.points[40].Payload["label"] = "mended"
	delete(d.points[77].Payload, "label")
	gone := d.points[300:]
	d.points = append(d.points[:300:300], Point{Path: "new", Vector: d.points[5].Vector})
	if r := uploaded(t, again, d, o); r.Sent != 4 || r.Points != 334 || r.Deleted != 0 || len(notes) != 1 ||
		!strings.Contains(notes[0], "33 points that are not in this export") {
		t.Errorf("%+v, notes %q", r, notes)
	}
	o.Delete = true
	if r := uploaded(t, again, d, o); r.Sent != 0 || r.Points != 301 || r.Deleted != len(gone) {
		t.Errorf("%+v", r)
	}
	holds(t, again, d)
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
		if indexed, err := again.hasIndex(t.Context()); err != nil || !indexed {
			t.Errorf("at %d: index %v, %v", at, indexed, err)
		}
	}
}

// With an index, all or nearly all neighbours are those of the exact search; without one, all are.
func TestNearest(t *testing.T) {
	for query, least := range map[string]float64{"": 0.95, "&m=8&ef_construction=200&ef_search=200&metric=l2": 0.95,
		"&metric=ip&column=v": 0.95, "&m=0": 1} {
		url := fresh(t, "near") + query
		d, s := source(2000, 24), dialled(t, url, "near")
		o := options()
		o.Batch = 256
		o.Recreate = true
		if query == "&metric=ip&column=v" {
			execute(t, pgvectortest.New(t), "DROP TABLE IF EXISTS near")
		}
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
		if recall := float64(right) / 500; recall < least {
			t.Errorf("%q: recall@10 %v, expected at least %v", query, recall, least)
		} else {
			t.Logf("%q: recall@10 %v", query, recall)
		}
		if plan := explained(t, s, d.points[0].Vector); strings.Contains(plan, "near_hnsw") == (query == "&m=0") {
			t.Errorf("%q: the plan is %s", query, plan)
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
}

// explained returns the server's query plan for ten neighbours.
func explained(t *testing.T, s *Server, v vector) string {
	t.Helper()
	list, err := s.conn.Query(t.Context(),
		s.fillStatement("EXPLAIN SELECT path FROM $table ORDER BY $column <> $1::$vector LIMIT 10"), v)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(list, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " / ")
}

// rows are vectors for an exact search.
type rows struct{ blas32.General }

func (r rows) Len() int   { return r.Rows }
func (r rows) Width() int { return r.Cols }
func (r rows) Block(from, n int) (blas32.General, []bool, error) {
	return blas32.General{Rows: n, Cols: r.Cols, Stride: r.Stride, Data: r.Data[from*r.Stride:]}, nil, nil
}

// Long vectors are indexed as halfvec and the longest not at all; both keep their bits and are found.
func TestLongVectors(t *testing.T) {
	url := fresh(t, "long")
	for dim, want := range map[int]string{2000: "", 2001: "the index uses halfvec", 4001: "gets no index"} {
		d, s := source(60, dim), dialled(t, url, "long")
		o := options()
		o.Recreate = true
		var notes []string
		o.Note = func(text string) { notes = append(notes, text) }
		uploaded(t, s, d, o)
		if len(notes) > 1 || want == "" != (len(notes) == 0) || want != "" && !strings.Contains(notes[0], want) {
			t.Errorf("%d: notes %q", dim, notes)
		}
		holds(t, s, d)
		if hits, err := s.Nearest(t.Context(), d.points[9].Vector, 5); err != nil || len(hits) != 5 ||
			hits[0].Path != d.points[9].Path || math.Abs(hits[0].Similarity-1) > 1e-6 {
			t.Errorf("%d: %v, %+v", dim, err, hits)
		}
	}
	if _, err := dialled(t, url, "long").Upload(t.Context(), source(2, 16001), options()); err == nil ||
		!strings.Contains(err.Error(), "expected 16000 at most") {
		t.Errorf("%v", err)
	}
}

func TestRefuses(t *testing.T) {
	url := fresh(t, "other")
	for want, statements := range map[string]string{
		"found nothing as column path, expected text: winnow did not write this table": "CREATE TABLE other (id int)",
		"found bytea as column embedding, expected vector": "CREATE TABLE other (path text PRIMARY KEY, model " +
			"text, digest text, embedding bytea)",
		"found vectors of 9 values, expected 4": "CREATE TABLE other (path text PRIMARY KEY, model text, digest " +
			"text, embedding vector(9))",
		"found int4 as column label, expected text": "CREATE TABLE other (path text PRIMARY KEY, model text, " +
			"digest text, embedding vector(4), label int)",
		"found vectors made by other, expected by abababababab": "CREATE TABLE other (path text PRIMARY KEY, model " +
			"text, digest text, embedding vector(4));\n" +
			"INSERT INTO other VALUES ('a', 'other', '', '[1,2,3,4]')",
		"there is no unique or exclusion constraint matching the ON CONFLICT": "CREATE TABLE other (path text, " +
			"model text, digest text, embedding vector(4))",
		`null value in column "more" of relation "other" violates not-null constrai`: "CREATE TABLE other (path " +
			"text PRIMARY KEY, model text, digest text, embedding vector(4), more int NOT NULL)",
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
	if err := dialled(t, url, "none").deleteRows(t.Context(), []string{"x"}); err == nil ||
		!strings.Contains(err.Error(), "(42P01)") {
		t.Errorf("%v", err)
	}
}

// Without the extension there is one clear line.
func TestNoExtension(t *testing.T) {
	url := fresh(t, "none")
	execute(t, url, "DROP EXTENSION vector CASCADE")
	defer execute(t, url, "CREATE EXTENSION vector")
	_, err := dialled(t, url, "none").Upload(t.Context(), source(10, 4), options())
	var none *NoExtension
	if !errors.As(err, &none) || !none.Installed || !strings.HasSuffix(err.Error(),
		"connecting: the database has no extension vector, expected pgvector 0.5.0 or later") ||
		!strings.HasSuffix(none.Remedy(), "CREATE EXTENSION vector") {
		t.Errorf("%v, %+v", err, none)
	}
	// The extension need not be in the search path.
	execute(t, url, "CREATE SCHEMA IF NOT EXISTS \"ext of\";\nCREATE EXTENSION vector SCHEMA \"ext of\"")
	d, s := source(40, 4), dialled(t, url, "none")
	uploaded(t, s, d, options())
	holds(t, s, d)
	if hits, err := s.Nearest(t.Context(), d.points[3].Vector, 2); err != nil || hits[0].Path != d.points[3].Path {
		t.Errorf("%v, %+v", err, hits)
	}
	execute(t, url, "DROP EXTENSION vector CASCADE")
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
	if !errors.As(err, &request) || !request.NoAnswer || request.Tries != 4 ||
		!strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestParseAddress(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	for text, want := range map[string]string{
		"postgres://me:secret@db.example/photos":                    "postgres://db.example:5432/photos",
		"postgresql://me@[::1]:99/a%20b?table=x&schema=y&metric=ip": "postgres://[::1]:99/a%20b",
		"postgres://me:secret@h/db?m=0":                             "postgres://h:5432/db",
		"postgres:///db?host=/var/run/postgresql&user=me":           "postgres:///var/run/postgresql/db",

		"mysql://me:secret@h/db":                   "the address cannot be read, expected postgres://",
		"postgres://me:secret@h:port/db":           "the address cannot be read, expected postgres://",
		"postgres://me:secret@h/db?sslmode=secret": "sslmode is invalid",
		"postgres://me:secret@h/db?metric=hamming": "metric=hamming, expected cosine, l2 or ip",
		"postgres://me:secret@h/db?m=1":            "m=1, expected 2 to 100",
		"postgres://me:secret@h/db?m=40":           "ef_construction=64 with m=40, expected at least 80",
		"postgres://me:secret@h/db?ef_search=many": "ef_search=many, expected 1 to 1000",
		"postgres://me:secret@h/db?%zz":            "the options after ? in the address cannot be read",

		"postgres://h/db?password=secret&connect_timeout=secret&user=": "the address cannot be read: invalid syntax",
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
	a, err := ParseAddress(
		"postgres://me@h/db?table=x&schema=y&column=c&metric=l2" +
			"&m=8&ef_construction=100&ef_search=50&application_name=w")
	if err != nil || a.Table != "x" || a.Schema != "y" || a.Column != "c" || a.Metric.Name != "l2" ||
		a.Build != (hnsw{Edges: 8, Candidates: 100}) || a.Seen != 50 ||
		a.config.RuntimeParams["application_name"] != "w" {
		t.Errorf("%v, %+v", err, a)
	}
	if _, err := Dial(a, "", strings.Repeat("x", 64)); err != nil {
		t.Errorf("the name of the address counts: %v", err)
	}
	a.Table = ""
	if _, err := Dial(a, "", strings.Repeat("ä", 32)); err == nil ||
		!strings.Contains(err.Error(), "has 64 bytes, expected 63 at most") {
		t.Errorf("%v", err)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"0.4.4", "0.5.0", true}, {"0.5.0", "0.5.0", false}, {"0.10.0", "0.5.0", false}, {"1", "0.5.0", false},
		{"0.5", "0.5.0", true}} {
		if isOlder(c.a, c.b) != c.want {
			t.Errorf("%s before %s: %v", c.a, c.b, !c.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0x3f, 0x80, 0, 0})
	f.Add([]byte{0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v vector
		if codec.Scan(codec{}, data, &v) != nil {
			return
		}
		again, err := codec.Encode(codec{}, v, nil)
		if err != nil || len(again) != len(data) || string(again[:2]) != string(data[:2]) ||
			string(again[4:]) != string(data[4:]) {
			t.Errorf("%x became %x, %v", data, again, err)
		}
	})
}
