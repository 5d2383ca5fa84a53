package features

import (
	"errors"
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

// A store without sums is refused, and its extraction repeated writes them if the vectors are as they were.
func TestMissingSums(t *testing.T) {
	plan := testPlan(9000)
	s := makeStore(t, filepath.Join(t.TempDir(), "store"), plan)
	sums, vectors := filepath.Join(s.Dir, sumsFile), filepath.Join(s.Dir, VectorsFile)
	before, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	remove := func() {
		if err := os.Remove(sums); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(s.Dir); err == nil || !strings.Contains(err.Error(), "repeat the extraction") {
			t.Fatalf("without sums: %v", err)
		}
	}
	remove()
	if _, err := Create(s.Dir, plan, false); !errors.Is(err, ErrComplete) {
		t.Errorf("the extraction repeated: %v", err)
	}
	after, err := os.ReadFile(sums)
	if err != nil || string(after) != string(before) {
		t.Errorf("sums of %d bytes restored, expected the %d before (%v)", len(after), len(before), err)
	}
	flipped := append([]byte(nil), before...)
	flipped[len(flipped)-1] ^= 1
	if err := os.WriteFile(sums, flipped, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err = Open(s.Dir)
	if err == nil {
		err = s.Verify(t.Context())
	}
	if !errors.Is(err, ErrSums) {
		t.Errorf("a sum changed: %v", err)
	}
	if _, err := Create(s.Dir, plan, false); !errors.Is(err, ErrComplete) {
		t.Errorf("the extraction repeated after a sum changed: %v", err)
	}
	if after, err := os.ReadFile(sums); err != nil || string(after) != string(before) {
		t.Errorf("the changed sum stayed (%v)", err)
	}
	remove()
	data, err := os.ReadFile(vectors)
	if err != nil {
		t.Fatal(err)
	}
	data[s.offset+5000] ^= 1
	if err := os.WriteFile(vectors, data, 0o644); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	if _, err := Create(s.Dir, plan, false); !errors.As(err, &damage) {
		t.Errorf("vectors changed: %v", err)
	}
	if _, err := os.Stat(sums); err == nil {
		t.Error("sums written for changed vectors")
	}
}

// BenchmarkReadSums reads 128 MB of a store in order, from memory: as a command does, which compares each block, and
// without comparing.
func BenchmarkReadSums(b *testing.B) {
	plan := testPlan(32768)
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
	size := s.offset + 32768*1024*4
	if _, err := s.Read(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	compared := s.sums
	for _, how := range []string{"compared", "without"} {
		b.Run(how, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := s.readBlockSums(size); err != nil {
					b.Fatal(err)
				}
				if how == "without" {
					s.sums = compared
				}
				if _, err := s.Read(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
