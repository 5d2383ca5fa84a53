package cells_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/cells"
)

// outcome is the outcome of the tests' cells.
type outcome struct {
	Seed     uint64
	Measures map[string]float64
}

func TestStore(t *testing.T) {
	s := cells.Store[outcome]{Dir: filepath.Join(t.TempDir(), "cells"), For: "test",
		Whole: func(o outcome) bool { return o.Seed > 0 && len(o.Measures) > 0 }}
	if _, ok, err := s.Get("a"); ok || err != nil {
		t.Fatal(ok, err)
	}
	want := outcome{Seed: 3, Measures: map[string]float64{"p@1": .25}}
	if err := s.Put("a", want); err != nil {
		t.Fatal(err)
	}
	got, ok, err := s.Get("a")
	if !ok || err != nil || cmp.Diff(want, got) != "" {
		t.Error(ok, err, cmp.Diff(want, got))
	}
	for _, text := range []string{"", "{", "{}", "null", `{"Seed": 1}`} {
		if err := os.WriteFile(filepath.Join(s.Dir, "a.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Get("a"); ok || err == nil ||
			!strings.HasSuffix(err.Error(), "a.json: holds no outcome of a cell") {
			t.Errorf("%q: %v %v", text, ok, err)
		}
	}
	if err := s.Prepare(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if err := (cells.Store[outcome]{Dir: filepath.Join(s.Dir, "a.json")}).Prepare(); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// A failed cell stops the others or is reported at the end; finished cells are not run again.
func TestQueue(t *testing.T) {
	damaged := cells.Store[int]{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(damaged.Dir, "four.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var notes []string
	ran, done := make(chan int, 10), []int(nil)
	queue := cells.Queue[int, int]{
		Cells: []int{1, 2, 3, 4}, Jobs: 1, GoOn: true,
		Kept: func(c int) (int, bool, error) {
			if c == 4 {
				_, _, err := damaged.Get("four")
				return 0, false, err
			}
			return 10 * c, c == 1, nil
		},
		Run: func(_ context.Context, c int) (int, error) {
			ran <- c
			if c == 2 {
				return 0, errors.New("no")
			}
			return 10 * c, nil
		},
		Done: func(c, o int, before bool) error {
			if o != 10*c || before != (c == 1) {
				t.Errorf("cell %d: %d, before: %v", c, o, before)
			}
			done = append(done, c)
			return nil
		},
		Describe: func(c int) string { return fmt.Sprintf("cell %d", c) },
		Headline: func(o int) string { return fmt.Sprint(o) },
		Note:     func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) },
	}
	failed, err := queue.Go(t.Context())
	if err != nil || len(failed) != 1 || failed[0].Cell != 2 || failed[0].Err.Error() != "cell 2: no" ||
		!slices.Equal(done, []int{1, 3, 4}) || len(ran) != 3 {
		t.Errorf("%v %v, done %v", failed, err, done)
	}
	for _, want := range []string{"four.json: holds no outcome of a cell: it is run again",
		"4 cells, 1 done before", "1/3  failed: cell 2: no",
		"3/3  cell 4: 40 in"} {
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	queue.GoOn, done = false, nil
	if failed, err := queue.Go(t.Context()); err == nil || err.Error() != "cell 2: no" || len(failed) > 0 ||
		slices.Contains(done, 4) {
		t.Errorf("%v %v, done %v", failed, err, done)
	}
	queue.GoOn = true
	full := errors.New("full")
	queue.Done = func(c, _ int, before bool) error {
		if before {
			return nil
		}
		return full
	}
	if _, err := queue.Go(t.Context()); !errors.Is(err, full) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	queue.Done = func(int, int, bool) error { cancel(); return nil }
	if _, err := queue.Go(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestShare(t *testing.T) {
	for _, c := range [][4]int{{0, 4, 4, 1}, {2, 4, 2, 2}, {8, 4, 4, 1}, {3, 8, 3, 2}, {1, 6, 1, 6}} {
		if jobs, each := cells.Share(c[0], c[1]); jobs != c[2] || each != c[3] {
			t.Errorf("%v: %d at once, %d threads each", c, jobs, each)
		}
	}
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{"": nil, "3": {1, 2, 3}, "1,3,7-9": {1, 3, 7, 8, 9}, "5,5": {5}} {
		if got, err := cells.ParseSeeds(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "a", "3-1", "1,,2", "1-5000"} {
		if got, err := cells.ParseSeeds(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
