package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"winnow/features"
	"winnow/internal/testing/pgvectortest"
)

// TestExportToPostgres checks that the table equals the run's .npy file, and that no row is sent twice.
func TestExportToPostgres(t *testing.T) {
	url := pgvectortest.New(t)
	s, npy := newStudio(t), "e.npy"
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "DROP EXTENSION IF EXISTS vector CASCADE"); err != nil {
		t.Fatal(err)
	}
	s.refused(t, 1, "as its owner: CREATE EXTENSION vector", "--to", url)
	if _, err := conn.Exec(t.Context(), "CREATE EXTENSION vector"); err != nil {
		t.Fatal(err)
	}
	npy = filepath.Join(s.dir, npy)
	d := mustJSON[exportResult](t, "export", s.run, "--npy", npy, "--to", url+"&table=photos", "--json").Database
	if d == nil || d.Rows != 59 || d.Sent != 59 || d.Points != 59 || strings.Contains(d.Table, "@") {
		t.Errorf("%+v", d)
	}
	x := readNPY(t, npy)
	for i, id := range table(t, s.dir, "e.ids.csv")[1:] {
		var vector string
		if err := conn.QueryRow(t.Context(), "SELECT embedding::real[]::text FROM photos WHERE path = $1 AND "+
			"coalesce(label, '') = $2 AND split = $3", id[1], id[2], id[3]).Scan(&vector); err != nil {
			t.Fatal(id[1], err)
		}
		var values []float32
		if err := json.Unmarshal([]byte("["+strings.Trim(vector, "{}")+"]"), &values); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values, features.Row(x, i)) {
			t.Errorf("%s: %v, expected %v", id[1], values, features.Row(x, i))
		}
	}
	if text, _ := mustCall(t, "export", s.run, "--to", url+"&table=photos"); !strings.Contains(text,
		"table photos: 59 rows of 6 values, 0 sent, 59 there already") {
		t.Errorf("again:\n%s", text)
	}
}
