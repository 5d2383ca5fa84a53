package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"winnow/filters"
)

// The file's diagnoses equal sums over the steps that an observer received, and contain the bank's concentrations.
func TestDiagnosesAreOfTheSteps(t *testing.T) {
	dir := t.TempDir()
	var told []Diagnosis
	b := newBed(t, dir, nil)
	b.cfg.Observe = Together(b.cfg.Observe, On(func(d Diagnosis) { told = append(told, d) }))
	tr := b.trainer(t)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var list []Diagnosis
	for text := range strings.Lines(string(read(t, dir, DiagnosticsFile))) {
		var d Diagnosis
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	if diff := gocmp.Diff(told, list); diff != "" {
		t.Errorf("the observer and the file differ: %s", diff)
	}
	from, handovers := 0, 0
	for i, d := range list {
		if want := []int{10, 20, 30, 40, 45}[i]; d.Step != want {
			t.Fatalf("diagnosis %d: step %d, expected %d", i, d.Step, want)
		}
		facts := b.facts[from:d.Step]
		from = d.Step
		if len(d.Judged) == 2 {
			handovers++
		}
		for _, j := range d.Judged {
			want := judged{Judge: j.Judge}
			for _, f := range facts {
				if f.Judge != j.Judge {
					continue
				}
				want.Steps, want.Rows, want.Kept = want.Steps+1, want.Rows+len(f.IDs), want.Kept+len(f.Kept)
				for i, v := range f.Scores {
					if f.Unjudged[i] {
						want.NothingKnown++
						continue
					}
					want.Scores.Add(v)
				}
				if f.HasThreshold {
					if want.Threshold == nil {
						want.Threshold = &Thresholds{Least: math.Inf(1), Most: math.Inf(-1)}
					}
					*want.Threshold = Thresholds{f.Threshold, min(want.Threshold.Least, f.Threshold),
						max(want.Threshold.Most, f.Threshold)}
				}
			}
			want.KeptShare = float64(want.Kept) / float64(want.Rows)
			if diff := gocmp.Diff(want, j); diff != "" {
				t.Errorf("step %d: %s", d.Step, diff)
			}
		}
		if d.Kappa == nil || d.Kappa.N != len(d.Kappa.Values) || d.Kappa.Median <= 0 ||
			d.Bank != b.facts[d.Step-1].Bank {
			t.Errorf("step %d: concentrations %+v, bank %d", d.Step, d.Kappa, d.Bank)
		}
	}
	if len(list) != 5 || handovers != 1 || list[0].Judged[0].Judge != "avgsim" || list[0].Judged[1].Judge != "vmf" {
		t.Errorf("%d diagnoses, %d with two scorers", len(list), handovers)
	}
	last := spreadOf(b.cfg.Filter.Kappas(nil, b.cfg.Bank))
	if diff := gocmp.Diff(last, list[4].Kappa); diff != "" {
		t.Errorf("the last concentrations differ from the bank's: %s", diff)
	}
}

// A run that stops early writes the last diagnosis of its filter exactly once, even if it was killed between
// the diagnosis and the checkpoint.
func TestLostPatienceIsDiagnosed(t *testing.T) {
	change := func(c *Config) {
		c.Validate = func(context.Context) (float64, error) { return 0, nil }
		c.Patience = 2
	}
	dir := t.TempDir()
	if r, err := newBed(t, dir, change).trainer(t).Run(context.Background()); err != nil || !r.Stopped || r.Step != 12 {
		t.Fatalf("%v, %+v", err, r)
	}
	want := string(read(t, dir, DiagnosticsFile))
	if n := strings.Count(want, "\n"); n != 2 || !strings.Contains(want, "\n"+`{"step":12,`) {
		t.Fatalf("%d diagnoses, expected two, of steps 10 and 12: %s", n, want)
	}
	dir = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	b := newBed(t, dir, change)
	b.cfg.Observe = Together(b.cfg.Observe, On(func(s Step) {
		if s.Number == 12 {
			cancel()
		}
	}))
	if _, err := b.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// as if the run was killed after it wrote the diagnosis
	if err := os.WriteFile(filepath.Join(dir, DiagnosticsFile), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	tr := newBed(t, dir, change).trainer(t)
	must(tr.Resume())
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, dir, DiagnosticsFile)); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}

// Diagnosing does not change a run, and a run without a filter writes no diagnostics.
func TestDiagnosingChangesNothing(t *testing.T) {
	want := uninterrupted(t, nil)
	dir := t.TempDir()
	b := newBed(t, dir, func(c *Config) { c.DiagnoseEvery = 0 })
	tr := b.trainer(t)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := endOf(t, b, dir)
	if got.Diagnostics != "" || want.Diagnostics == "" {
		t.Error("found diagnostics in a run without them, or none in a run with them")
	}
	got.Diagnostics = want.Diagnostics
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("diagnosing changed the end of the run: %s", diff)
	}
	bare := t.TempDir()
	if _, err := newBed(t, bare, func(c *Config) { c.Filter = nil }).trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bare, DiagnosticsFile)); err == nil {
		t.Error("a run without a filter wrote diagnostics")
	}
}

func TestManyClassesAreQuantiles(t *testing.T) {
	var list []filters.ClassKappa
	for k := range 2001 {
		list = append(list, filters.ClassKappa{Class: k, Members: 3, Kappa: float64(2000 - k)})
	}
	s := spreadOf(list)
	if s.Values != nil || s.Classes != nil || len(s.Quantiles) != 101 || s.Quantiles[25] != 500 ||
		s.Quantiles[100] != 2000 || s.Median != 1000 || s.N != 2001 {
		t.Errorf("%+v", s)
	}
	few := spreadOf(list[:1000])
	if len(few.Values) != 1000 || !slices.Equal(few.Classes[:3], []int{0, 1, 2}) || few.Quantiles != nil {
		t.Errorf("1,000 classes: %d values", len(few.Values))
	}
	if spreadOf(nil) != nil {
		t.Error("found a spread without classes, expected nil")
	}
}

func TestForeignDiagnosticsAreNotTouched(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, DiagnosticsFile), []byte("[]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := newBed(t, dir, nil).trainer(t).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), DiagnosticsFile+":1: not a line of diagnostics") ||
		string(read(t, dir, DiagnosticsFile)) != "[]\n" {
		t.Error(err)
	}
}
