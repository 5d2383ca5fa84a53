package decisions

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sumAgain updates the checksums of all rows, as a program that knows the checksums would, and closes the file.
func sumAgain(t *testing.T, db *sql.DB) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for table, columns := range map[string][]string{"images": imageColumns, "history": historyColumns} {
		rows, err := tx.Query("SELECT " + strings.Join(columns, ", ") + " FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		var list [][]any
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range to {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			list = append(list, values)
		}
		rows.Close()
		for _, values := range list {
			if _, err := tx.Exec("UPDATE "+table+" SET sum = ? WHERE "+strings.Join(columns, " = ? AND ")+" = ?",
				append([]any{sumOf(values...)}, values...)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tx.Commit(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// noted returns the bytes of a closed file with decisions of two reviewers, one of them undone.
func noted(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	for i, who := range []string{"Quirine", "Xaver"} {
		list, err := s.Decide(Author{"tabtab", who}, []Change{
			{Path: "birds/heron.jpg", Given: "stork", Action: Relabel, Label: "heron", Note: "bent neck"},
			{Path: fmt.Sprintf("birds/%d.jpg", i), Given: "stork", Action: Drop, Note: "no bird"}})
		must(t, list, err)
	}
	if _, err := s.Undo(Author{"tabtab", "Xaver"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFlips checks that a flipped bit in the file is detected, or does not change the decisions read.
func TestFlips(t *testing.T) {
	data, path, found := noted(t), filepath.Join(t.TempDir(), "d.db"), 0
	served := func() (list []any, err error) {
		s, err := Open(path)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		err = s.Images(func(i Image) error { list = append(list, i); return nil })
		return list, err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := served()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"birds/heron.jpg", "stork", "relabel", "heron", "bent neck", "Quirine", "Xaver",
		"no bird", "drop", "tabtab"} {
		for from := 0; ; {
			at := bytes.Index(data[from:], []byte(word))
			if at < 0 {
				break
			}
			from += at + len(word)
			bit := from % (8 * len(word)) // a different bit for each occurrence
			spoilt := bytes.Clone(data)
			spoilt[from-len(word)+bit/8] ^= 1 << (bit % 8)
			_ = os.Remove(path + "-wal")
			if err := os.WriteFile(path, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := served()
			if err != nil {
				found++
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q at %d: not detected (-written +read):\n%s", word, from, diff)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d flips were detected: the test does not flip bits", found)
	}
}

// TestOpenCopy reads decisions from a read-only folder through a copy, including decisions in the write-ahead log.
func TestOpenCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	if err := os.WriteFile(path, noted(t), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenCopy(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all(t, s)); n != 3 || s.Path != path {
		t.Errorf("%d paths of %s, expected 3 of %s", n, s.Path, path)
	}
	copied := s.place.path
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(copied)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy was not removed: %v", err)
	}
	after, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(after) != len(before) {
		t.Errorf("%d files in the folder, %d before: %v", len(after), len(before), err)
	}
}
