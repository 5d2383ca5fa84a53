package features

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flipped bit is found by whoever reads its block, and by nobody else.
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
		"ReadView": func(s *Store) error { _, err := s.ReadView(t.Context(), []int{row}, 0); return err },
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
		if err := read(s); err == nil || !strings.Contains(err.Error(), "have changed since they were written") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Read(t.Context(), []int{0, 8999, 17}); err != nil {
			t.Errorf("%s: rows of other blocks: %v", what, err)
		}
	}
	if err := os.Remove(filepath.Join(s.Dir, sumsFile)); err != nil { // as a store of an older program
		t.Fatal(err)
	}
	old, err := Open(s.Dir)
	if err == nil {
		_, err = old.Read(t.Context(), nil)
	}
	if err != nil {
		t.Errorf("without sums: %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, sumsFile), []byte(sumsMagic), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir); err == nil || !strings.Contains(err.Error(), "expected those of 7 blocks") {
		t.Errorf("sums cut off: %v", err)
	}
}

// BenchmarkReadSums reads 32 MB in order: with blocks that were never compared, that were, and without sums.
func BenchmarkReadSums(b *testing.B) {
	plan := testPlan(8192)
	plan.Dim, plan.Batch = 1024, 512
	w, err := Create(b.TempDir(), plan, false)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for w.Rows() < len(plan.Paths) {
		if err := w.Append(batchAt(plan, w.Rows())); err != nil {
			b.Fatal(err)
		}
	}
	s, err := w.Finish(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for name, prepare := range map[string]func(){
		"first": func() {
			if err := s.readBlockSums(s.offset + 8192*1024*4); err != nil {
				b.Fatal(err)
			}
		},
		"again": func() {},
		"none":  func() { s.sums = nil },
	} {
		b.Run(name, func(b *testing.B) {
			was := s.sums
			defer func() { s.sums = was }()
			b.SetBytes(8192 * 1024 * 4)
			for b.Loop() {
				prepare()
				if _, err := s.Read(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
