package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"winnow/features"
	"winnow/internal/testing/pgvectortest"
	"winnow/run/embedding"
	"winnow/search"
)

// The rows of the table equal the .npy of the same run. The same command sends nothing twice.
func TestExportToPostgres(t *testing.T) {
	url := pgvectortest.New(t)
	s, npy := newStudio(t), "e.npy"
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	// other tests create the extension
	if _, err := conn.Exec(t.Context(), "DROP EXTENSION IF EXISTS vector CASCADE"); err != nil {
		t.Fatal(err)
	}
	s.refused(t, 1, "in the database, expected 0.5 or later\n", "--to", url)
	s.refused(t, 1, "as its owner: CREATE EXTENSION vector", "--to", url)
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION vector"); err != nil {
		t.Fatal(err)
	}
	npy = filepath.Join(s.dir, npy)
	stdout, _ := mustCall(t, "export", s.run, "--npy", npy, "--to", url+"&table=photos", "--json")
	var result exportResult
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	d := result.Database
	if d == nil || d.Rows != 59 || d.Sent != 59 || d.Points != 59 || !d.Created ||
		len(d.LeftOut) != 1 || d.Collection != "photos" || strings.Contains(d.URL, "@") {
		t.Errorf("%s", stdout)
	}
	x, ids := readNPY(t, npy), table(t, s.dir, "e.ids.csv")[1:]
	for i, id := range ids {
		var label *string
		var split, vector string
		if err := conn.QueryRow(t.Context(), "SELECT label, split, embedding::real[]::text FROM photos WHERE path = $1",
			id[1]).Scan(&label, &split, &vector); err != nil {
			t.Fatal(id[1], err)
		}
		var values []float32
		if err := json.Unmarshal([]byte("["+strings.Trim(vector, "{}")+"]"), &values); err != nil {
			t.Fatal(err)
		}
		for j, v := range values {
			if want := x.Data[i*x.Stride+j]; v != want {
				t.Errorf("%s: value %d is %v, expected %v", id[1], j, v, want)
			}
		}
		if (label == nil) != (id[2] == "") || label != nil && *label != id[2] || split != id[3] ||
			len(values) != x.Cols {
			t.Errorf("%s: %v, %s, %d values", id[1], label, split, len(values))
		}
	}
	text, _ := mustCall(t, "export", s.run, "--to", url, "--collection", "photos")
	if !strings.Contains(text, "database    photos at "+d.URL+": 59 points of 6 values, 0 sent, 59 there already") {
		t.Errorf("again:\n%s", text)
	}
	s.refused(t, 2, "--collection birds: the table of --to is photos, expected one of the two", "--to", url+
		"&table=photos", "--collection", "birds")
	code, _, stderr := call(t.Context(), "export", s.store, "--to", url, "--collection", "photos")
	if code != 1 || !strings.Contains(stderr, "found vectors of 6 values, expected 8") || !strings.Contains(stderr,
		"replace this one with --recreate") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// A program that is killed during an upload leaves whole batches. The next one sends the rest and nothing twice. The
// database then finds nearly what the exact search of the index finds, and reports its recall.
func TestExportToPostgresKilled(t *testing.T) {
	url := pgvectortest.New(t)
	const n, dim = 3000, 32
	index := filepath.Join(t.TempDir(), "drawn.index")
	rng := rand.New(rand.NewPCG(3, 4))
	x, paths := features.NewMatrix(n, dim), make([]string, n)
	for i := range n {
		paths[i] = fmt.Sprintf("%04d.png", i)
		for j := range dim {
			x.Data[i*x.Stride+j] = float32(rng.NormFloat64())
		}
	}
	ix, err := search.Create(index, search.Embedder{Model: strings.Repeat("ab", 32)}, dim, "float32", paths)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ix.Append(x, nil), ix.Close()); err != nil {
		t.Fatal(err)
	}
	prepare, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepare.Exec(t.Context(), "CREATE EXTENSION IF NOT EXISTS vector"); err != nil {
		t.Fatal(err)
	}
	prepare.Close(t.Context())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command(self)
	var running atomic.Pointer[os.Process]
	proxy := pgvectortest.NewProxy(t, url, func(sent int64) bool {
		p := running.Load()
		return sent > n*dim*4/2 && p != nil && p.Kill() == nil
	})
	program.Args = []string{"winnow", "export", index, "--to", proxy.URL, "--collection", "drawn", "--batch", "100"}
	program.Env = append(os.Environ(), "WINNOW_TEST_PROGRAM=yes")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	running.Store(program.Process)
	if err := program.Wait(); err == nil || program.ProcessState.ExitCode() != -1 {
		t.Fatalf("was not killed: %v", err)
	}
	again := mustJSON[exportResult](t, "export", index, "--to", url, "--collection", "drawn", "--json").Database
	if again.Kept < 100 || again.Kept%100 != 0 || again.Kept+again.Sent != n || again.Points != n || again.Created {
		t.Errorf("%+v", again)
	}
	whole := mustJSON[embedding.Answers](t, "search", "--index", index, "--to", url, "--collection", "drawn", "--json",
		"--k", "5", "0007.png", "2999.png", "1234.png")
	if whole.Recall == nil || whole.Recall.Expected != 15 || whole.Recall.Found < 13 || whole.Rows != n ||
		len(whole.Queries) != 3 {
		t.Errorf("%+v", whole)
	}
	// Without the index the queries' vectors come from the database.
	alone := mustJSON[embedding.Answers](t, "search", "--to", url, "--collection", "drawn", "--json", "--k", "5",
		"0007.png", "2999.png", "1234.png")
	for i, q := range alone.Queries {
		for j, hit := range q.Nearest {
			if want := whole.Queries[i].Nearest[j]; hit.Path != want.Path || hit.Path == q.Query ||
				math.Abs(hit.Similarity-want.Similarity) > 1e-6 || want.Row < 0 || paths[want.Row] != hit.Path {
				t.Errorf("%s: %+v, expected %+v", q.Query, hit, want)
			}
		}
		if len(q.Nearest) != 5 {
			t.Errorf("%s: %d found", q.Query, len(q.Nearest))
		}
	}
	text, _ := mustCall(t, "search", "--index", index, "--to", url, "--collection", "drawn", "0007.png")
	if !strings.Contains(text, "of the 10 that the exact search of "+index+" finds\n") {
		t.Errorf("%s", text)
	}
	for want, args := range map[string][]string{
		"unknown.png is not in drawn, and an image needs what made the vectors there": {"--to", url, "--collection",
			"drawn", "unknown.png"},
		"expected one: --collection NAME": {"--to", url, "a.png"},
		"table none: found none of that name": {"--to", url, "--collection",
			"none", "a.png"},
		"belongs to --to URL, which is missing": {"--index", index,
			"--collection", "none", "0007.png"},
	} {
		if code, _, stderr := call(t.Context(), append([]string{"search"}, args...)...); code == 0 ||
			!strings.Contains(stderr, want) {
			t.Errorf("exit %d, %s\nexpected %s", code, stderr, want)
		}
	}
}

// Images and .npy files can be queries to a database as to an index.
func TestSearchInPostgres(t *testing.T) {
	url := pgvectortest.New(t)
	s := newStudio(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION IF NOT EXISTS vector"); err != nil {
		t.Fatal(err)
	}
	npy := filepath.Join(s.dir, "e.npy")
	mustCall(t, "export", s.run, "--npy", npy, "--to", url, "--collection", "asked")
	ids := table(t, s.dir, "e.ids.csv")[1:]
	r := mustJSON[embedding.Answers](t, "search", "--to", url, "--collection", "asked", "--model", s.run, "--json",
		"--k", "3", npy, filepath.Join(s.images, "03.png"), "03.png")
	if len(r.Queries) != len(ids)+2 || r.Dim != 6 || r.Rows != 59 || r.Recall != nil {
		t.Fatalf("%+v", r)
	}
	for i, id := range ids {
		if hit := r.Queries[i].Nearest[0]; math.Abs(hit.Similarity-1) > 1e-5 || hit.Path == id[1] &&
			hit.Label != id[2] {
			t.Errorf("%s: %+v", id[1], hit)
		}
	}
	image, row := r.Queries[len(ids)], r.Queries[len(ids)+1]
	if math.Abs(image.Nearest[0].Similarity-1) > 1e-4 || row.Nearest[0].Path == "03.png" || row.Query != "03.png" {
		t.Errorf("image %+v, row %+v", image, row)
	}
	code, _, stderr := call(t.Context(), "search", "--to", url, "--collection", "asked", "--model", s.model,
		filepath.Join(s.images, "03.png"))
	if code == 0 || !strings.Contains(stderr, "found vectors made by ") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
