package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"winnow/internal/testing/pgvectortest"
)

// The rows of the table are those of the .npy of the same run; the same command sends nothing again.
func TestExportToPostgres(t *testing.T) {
	url := pgvectortest.New(t)
	s, npy := newStudio(t), "e.npy"
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	s.refused(t, 1, "the database has no extension vector, expected pgvector 0.5.0 or later\n", "--to", url)
	s.refused(t, 1, "run in the database, as its owner: CREATE EXTENSION vector\n", "--to", url)
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION vector"); err != nil {
		t.Fatal(err)
	}
	npy = filepath.Join(s.dir, npy)
	stdout, _ := s.call(t, "export", s.run, "--npy", npy, "--to", url+"&table=photos", "--json")
	var result exportResult
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	d := result.Database
	if d == nil || d.Rows != 59 || d.Sent != 59 || d.Points != 59 || d.Compared != 59 || !d.Created || len(d.LeftOut) != 1 || d.Collection != "photos" || strings.Contains(d.URL, "@") {
		t.Errorf("%s", stdout)
	}
	x, ids := readNPY(t, npy), readCSVFile(t, filepath.Join(s.dir, "e.ids.csv"))[1:]
	for i, id := range ids {
		var label *string
		var split, vector string
		if err := conn.QueryRow(t.Context(), "SELECT label, split, embedding::real[]::text FROM photos WHERE path = $1", id[1]).Scan(&label, &split, &vector); err != nil {
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
		if (label == nil) != (id[2] == "") || label != nil && *label != id[2] || split != id[3] || len(values) != x.Cols {
			t.Errorf("%s: %v, %s, %d values", id[1], label, split, len(values))
		}
	}
	text, _ := s.call(t, "export", s.run, "--to", url, "--collection", "photos")
	if !strings.Contains(text, "database    photos at "+d.URL+": 59 points of 6 values, 0 sent, 59 there already") {
		t.Errorf("again:\n%s", text)
	}
	text, _ = s.call(t, "export", s.run, "--to", url, "--collection", "photos", "--split", "test", "--delete")
	if !strings.Contains(text, "20 there already, 39 deleted") {
		t.Errorf("test alone:\n%s", text)
	}
	s.refused(t, 2, "--collection birds: the table of --to is photos, expected one of the two", "--to", url+"&table=photos", "--collection", "birds")
	s.refused(t, 2, "--to: pgvector: metric=hamming, expected cosine, l2 or ip", "--to", url+"&metric=hamming")
	code, _, stderr := call(t.Context(), "export", s.store, "--to", url, "--collection", "photos")
	if code != 1 || !strings.Contains(stderr, "found vectors of 6 values, expected 8") || !strings.Contains(stderr, "replace this one with --recreate") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
