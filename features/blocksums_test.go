package features

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flipped bit is found when its block is read, and not when other blocks are read.
func TestChangedBits(t *testing.T) {
	plan := testPlan(9000) // seven blocks of 12-byte rows
	s := makeStore(t, filepath.Join(t.TempDir(), "store"), plan)
	file := filepath.Join(s.Dir, VectorsFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const row = 4321
	data[s.offset+row*12+7] ^= 1 << 3
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	labels := make([]int, 9000)
	for what, read := range map[string]func(s *Store) error{
		"Read":     func(s *Store) error { _, err := s.Read(t.Context(), nil); return err },
		"one row":  func(s *Store) error { _, err := s.Read(t.Context(), []int{row}); return err },
		"Averaged": func(s *Store) error { _, err := s.Averaged().Read(t.Context(), []int{row}); return err },
		"View": func(s *Store) error {
			set, err := NewStored(s, AllRows(9000), labels, labels)
			if err != nil {
				return err
			}
			_, free, err := set.View(t.Context())
			if err == nil {
				err = free()
			}
			return err
		},
	} {
		s, err := Open(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(s); err == nil || !strings.Contains(err.Error(), "do not fit features.sums") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Read(t.Context(), []int{0, 8999, 17}); err != nil {
			t.Errorf("%s: rows of other blocks: %v", what, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, sumsFile), []byte(sumsMagic), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir); err == nil || !strings.Contains(err.Error(), "found 0 bytes of sums, expected 56 for 7 blocks") {
		t.Errorf("sums cut off: %v", err)
	}
}
