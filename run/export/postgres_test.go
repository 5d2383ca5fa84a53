package export

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"winnow/internal/testing/pgvectortest"
	"winnow/run/embedding"
)

// birds is a table name that needs quoting.
const birds = `Birds "of"; DROP TABLE x.ä`

var model = strings.Repeat("ab", 32)

func drawRows(n, dim int) []embedding.Row {
	rng, list := rand.New(rand.NewPCG(uint64(n), uint64(dim))), make([]embedding.Row, n)
	for i := range list {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		list[i] = embedding.Row{Path: fmt.Sprintf("birds/ä'\"$1 %04d.jpg", i), Label: fmt.Sprint(i % 7), Split: "train",
			Embedding: v}
	}
	list[0].Label = ""
	return list
}

// openFresh returns a table that does not exist yet, and a connection to its database.
func openFresh(t *testing.T, name string) (*Table, *pgx.Conn) {
	t.Helper()
	address := pgvectortest.New(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	drop := "DROP TABLE IF EXISTS " + pgx.Identifier{name}.Sanitize()
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), drop)
		conn.Close(context.Background())
	})
	for _, statement := range []string{"CREATE EXTENSION IF NOT EXISTS vector", drop} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	table, err := ParseTable(address, name)
	if err != nil {
		t.Fatal(err)
	}
	return table, conn
}

// compareTable checks that a table holds exactly these rows, to the bit.
func compareTable(t *testing.T, conn *pgx.Conn, name string, want []embedding.Row) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT path, coalesce(label, ''), split, embedding::real[]::text FROM "+
		pgx.Identifier{name}.Sanitize()+" ORDER BY path COLLATE \"C\"")
	if err != nil {
		t.Fatal(err)
	}
	var r embedding.Row
	var numbers string
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&r.Path, &r.Label, &r.Split, &numbers}, func() error {
		if err := json.Unmarshal([]byte("["+strings.Trim(numbers, "{}")+"]"), &r.Embedding); err != nil {
			return err
		}
		if w := want[n]; r.Path != w.Path || r.Label != w.Label || r.Split != w.Split ||
			!slices.Equal(r.Embedding, w.Embedding) {
			t.Errorf("found %+v, expected %+v", r, w)
		}
		r.Embedding = nil
		n++
		return nil
	})
	if err != nil || n != len(want) {
		t.Errorf("%v, %d rows, expected %d", err, n, len(want))
	}
}

// A second upload sends nothing. After changes, an upload sends only new and changed rows.
func TestUpload(t *testing.T) {
	table, conn := openFresh(t, birds)
	rows, done := drawRows(600, 12), 0
	upload := func(sent, kept int) {
		t.Helper()
		u, err := table.Upload(t.Context(), model, rows, func(n, _ int) { done = n })
		if err != nil {
			t.Fatal(err)
		}
		if want := (Uploaded{Table: table.String(), Rows: len(rows), Dim: 12, Sent: sent, Kept: kept,
			Points: len(rows)}); *u != want || done != len(rows) {
			t.Errorf("%+v, expected %+v, done %d", u, want, done)
		}
		compareTable(t, conn, birds, rows)
	}
	upload(600, 0)
	upload(0, 600)
	rows[3].Label, rows[4].Embedding[1] = "another", .25
	rows = append(rows, embedding.Row{Path: "zebra", Split: "test", Embedding: rows[0].Embedding})
	upload(3, 598)
	var indexes int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_indexes WHERE tablename = $1 AND indexdef LIKE "+
		"'%hnsw%'", birds).Scan(&indexes); err != nil || indexes != 1 {
		t.Errorf("%v, %d HNSW indexes, expected one", err, indexes)
	}
}

// After a broken connection, the next upload does not send batches again that had arrived.
func TestUploadGoesOn(t *testing.T) {
	table, conn := openFresh(t, "broken")
	rows := drawRows(2000, 32)
	proxy := pgvectortest.NewProxy(t, pgvectortest.New(t), func(sent int64) bool { return sent > 300_000 })
	through, err := ParseTable(proxy.URL, "broken")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := through.Upload(t.Context(), model, rows, nil); err == nil {
		t.Fatal("the connection did not break")
	}
	u, err := table.Upload(t.Context(), model, rows, nil)
	if err != nil || u.Kept < batchRows || u.Kept%batchRows != 0 || u.Kept+u.Sent != 2000 {
		t.Errorf("%v: %+v", err, u)
	}
	compareTable(t, conn, "broken", rows)
}

// Upload does not change tables of other programs or with other vectors.
func TestUploadRefusesOthers(t *testing.T) {
	table, conn := openFresh(t, "theirs")
	if _, err := table.Upload(t.Context(), model, drawRows(3, 4), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Upload(t.Context(), "cd", drawRows(3, 4), nil); err == nil ||
		!strings.Contains(err.Error(), "found vectors made by model") {
		t.Errorf("another model: %v", err)
	}
	if _, err := table.Upload(t.Context(), model, drawRows(3, 5), nil); err == nil ||
		!strings.Contains(err.Error(), `found "vector(4)" as column embedding`) {
		t.Errorf("another dimension: %v", err)
	}
	compareTable(t, conn, "theirs", drawRows(3, 4))
	for _, statement := range []string{"DROP TABLE theirs", "CREATE TABLE theirs (path text, notes text)"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := table.Upload(t.Context(), model, drawRows(3, 4), nil); err == nil ||
		!strings.Contains(err.Error(), `found "" as column model`) {
		t.Errorf("another table: %v", err)
	}
}

// No error of ParseTable contains a password.
func TestParseTable(t *testing.T) {
	table, err := ParseTable("postgres://me:secret@db.example/photos?table=birds&sslmode=require", "run")
	if err != nil || table.Name != "birds" || table.String() != "postgres://db.example:5432/photos: table birds" {
		t.Errorf("%v, %v", table, err)
	}
	for _, address := range []string{"http://me:secret@db", "postgres://me:secret@db:port/x",
		"postgres://db/x?password=secret&sslmode=maybe", "postgres://me:secret%zz@db"} {
		if _, err := ParseTable(address, "x"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
