package decisions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestQuick(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?#%.db")
	s := open(t, path)
	if _, err := s.Decide("a", []Change{{"x.jpg", "1", Keep, "", 0}}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "has it open") {
		t.Errorf("second open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	es, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range es {
		t.Log(e.Name())
	}
	s = open(t, path)
	if _, err := s.Decide("b", []Change{{"x.jpg", "1", Drop, "", 0}}); !errors.As(err, new(*Conflict)) {
		t.Errorf("got %v", err)
	}
	var mode, sync, lock string
	s.db.QueryRow("PRAGMA journal_mode").Scan(&mode)
	s.db.QueryRow("PRAGMA synchronous").Scan(&sync)
	s.db.QueryRow("PRAGMA locking_mode").Scan(&lock)
	t.Log(mode, sync, lock)
}
