package grid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/ort"
	"winnow/internal/lock"
)

// outcome is the outcome of the tests' cells.
type outcome struct{ Value int }

// numbers returns a grid of four cells: cell 1 is done, cell 2 fails, and the outcome of cell 4 is damaged.
func numbers(t *testing.T) (g *Grid[int, outcome], notes *[]string, done *[]int, ran chan int) {
	t.Helper()
	notes, done, ran = new([]string), new([]int), make(chan int, 10)
	g = &Grid[int, outcome]{
		Command: "test", Dir: filepath.Join(t.TempDir(), "cells"), Cells: []int{1, 2, 3, 4}, KeepGoing: true,
		Key:      func(c int) string { return fmt.Sprint(c) },
		Whole:    func(c int, o outcome) bool { return o.Value == 10*c },
		Describe: func(c int) string { return fmt.Sprintf("cell %d", c) },
		Headline: func(o outcome) string { return fmt.Sprint(o.Value) },
		Done:     func(c int, _ outcome) error { *done = append(*done, c); return nil },
		Train: func(_ context.Context, c int, _ func(float64)) (outcome, error) {
			if ran <- c; c == 2 {
				return outcome{}, errors.New("no")
			}
			return outcome{10 * c}, nil
		},
		Kind: func(c int) string { return []string{"even", "odd"}[c%2] },
		Time: func(_ context.Context, c int) (Cost, error) {
			if c == 2 {
				return Cost{}, errors.New("no")
			}
			return Cost{Steps: 100, Seconds: 8}, nil
		},
		TrainsNetwork: func(int) bool { return false },
	}
	g.Machine = Machine{Jobs: 1, Open: func(int) (*ort.Runtime, error) { return nil, nil },
		Note: func(format string, args ...any) { *notes = append(*notes, fmt.Sprintf(format, args...)) }}
	held, err := g.Hold(filepath.Join(t.TempDir(), "tables"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	for cell, text := range map[int]string{1: `{"Value": 10}`, 4: `{"Value": 3}`} {
		if err := os.WriteFile(g.nameOutcomeFile(cell), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, notes, done, ran
}

// Run does not repeat finished cells, but cells with a damaged outcome. A failed cell stops the others only without
// KeepGoing.
func TestRun(t *testing.T) {
	g, notes, done, ran := numbers(t)
	failed, err := g.Run(t.Context())
	if err != nil || len(failed) != 1 || failed[0].Cell != 2 || !slices.Equal(*done, []int{1, 3, 4}) || len(ran) != 3 {
		t.Errorf("%v %v, done %v", failed, err, *done)
	}
	for _, want := range []string{"4.json: holds no outcome", "4 cells, 1 done before", "1/3  failed: cell 2: no",
		"3/3  cell 4: 40 in"} {
		if !strings.Contains(strings.Join(*notes, "\n"), want) {
			t.Errorf("no %q in %q", want, *notes)
		}
	}
	if o, found, err := g.readOutcome(3); err != nil || !found || o.Value != 30 {
		t.Errorf("cell 3 is stored as %v, %v, %v", o, found, err)
	}
	g, _, done, _ = numbers(t)
	g.KeepGoing = false
	if failed, err := g.Run(t.Context()); err == nil || err.Error() != "cell 2: no" || len(failed) > 0 ||
		slices.Contains(*done, 4) {
		t.Errorf("%v %v, done %v", failed, err, *done)
	}
	g, _, _, _ = numbers(t)
	full := errors.New("full")
	g.Done = func(c int, _ outcome) error {
		if c == 1 {
			return nil
		}
		return full
	}
	if _, err := g.Run(t.Context()); !errors.Is(err, full) {
		t.Error(err)
	}
	g, _, _, _ = numbers(t)
	ctx, cancel := context.WithCancel(t.Context())
	g.Done = func(int, outcome) error { cancel(); return nil }
	if _, err := g.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Plan times one cell of each kind. A kind that cannot be timed gets the mean of the others with KeepGoing, and else is
// an error.
func TestPlan(t *testing.T) {
	g, _, _, _ := numbers(t)
	p, err := g.Plan(t.Context())
	if err != nil || p.Cells != 4 || p.Left != 3 || p.Steps != 300 || p.Seconds != 24 || len(p.Kinds) != 2 {
		t.Errorf("%v: %+v", err, p)
	}
	if !strings.Contains(p.String(), "3 of 4 cells left to run, 300 steps") {
		t.Error(p)
	}
	g.KeepGoing = false
	if _, err := g.Plan(t.Context()); err == nil {
		t.Error("no error for a kind that cannot be timed")
	}
	g.Time = nil
	if p, err := g.Plan(t.Context()); err != nil || p.Left != 3 || p.Seconds != 0 {
		t.Errorf("%v: %+v", err, p)
	}
}

// Only one program can hold a folder.
func TestHold(t *testing.T) {
	g := Grid[int, outcome]{Command: "test", Dir: t.TempDir()}
	dir := t.TempDir()
	held, err := g.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Hold(dir); !errors.As(err, new(*lock.Held)) {
		t.Errorf("a second Hold: %v", err)
	}
	if other, err := g.Hold(t.TempDir()); err != nil || other.Close() != nil || held.Close() != nil {
		t.Error(err)
	}
	if again, err := g.Hold(dir); err != nil || again.Close() != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{"": nil, "3": {1, 2, 3}, "1,3,7-9": {1, 3, 7, 8, 9}, "5,5": {5}} {
		if got, err := ParseSeeds(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "a", "3-1", "1,,2", "1-5000"} {
		if got, err := ParseSeeds(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
