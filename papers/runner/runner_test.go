package runner

import (
	"fmt"
	"slices"
	"testing"

	"winnow/datasets"
	"winnow/papers/studies"
	"winnow/papers/theory"
	"winnow/run"
)

// SCL-RHE's τ is the column's noise rate unless a setting replaces the losses.
func TestTauIsTold(t *testing.T) {
	s, err := studies.Find("sclrhe-table3")
	if err != nil {
		t.Fatal(err)
	}
	row := slices.Index(s.RowNames(), "SCL-RHE")
	for _, c := range []struct {
		set  []string
		want []float64
	}{
		{nil, []float64{0.033, 0.2, 0.4, 0.0585, 0.4}},
		{[]string{"losses=[{name: scl_rhe, settings: {tau: 0.1}}]"}, []float64{0.1, 0.1, 0.1, 0.1, 0.1}},
	} {
		r := reproduction{Options: Options{Study: s, Set: c.set}}
		for j, want := range c.want {
			cfg, err := r.resolveCellConfig(studies.Cell{Row: row, Column: j, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.Losses[0].Settings["tau"]; got != want {
				t.Errorf("%v, %s: τ %v, want %v", c.set, s.Columns[j].Name, got, want)
			}
		}
	}
}

// For given labels, τ is the share of wrong labels according to the manifest. If the manifest has no known wrong label,
// τ is the study's rate.
func TestTauOfOwnData(t *testing.T) {
	s, err := studies.Find("sclrhe-table3")
	if err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[int]float64{0: 0.033, 4: 0.4} {
		d := &datasets.Dataset{Classes: []string{"a", "b"}}
		for i := range 10 {
			sample := datasets.Sample{Path: fmt.Sprint(i), Split: datasets.Train, Label: 0, True: 0}
			if i < wrong {
				sample.Label = 1
			}
			d.Samples = append(d.Samples, sample)
		}
		r := reproduction{Options: Options{Study: s}, standIn: &data{clean: d}}
		cfg, err := r.resolveCellConfig(studies.Cell{Row: slices.Index(s.RowNames(), "SCL-RHE"), Seed: 1})
		if err != nil || cfg.Losses[0].Settings["tau"] != want {
			t.Errorf("%d of 10 labels wrong: τ %v, expected %v: %v", wrong, cfg.Losses[0].Settings["tau"], want, err)
		}
	}
}

// TestStudiesResolve tests that every study's recipes exist, its settings are valid, and its measures can be computed.
func TestStudiesResolve(t *testing.T) {
	all, err := studies.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		r := reproduction{Options: Options{Study: s}}
		if s.Drawn() {
			checkDrawnStudy(t, &r)
			continue
		}
		for _, m := range s.Measures {
			if !knownMeasure(m) {
				t.Errorf("%s: measure %q is unknown", s.Name, m)
			}
		}
		for i, row := range s.Rows {
			for j, column := range s.Columns {
				if row.Recipe+row.Untrained == "" {
					continue
				}
				cell := studies.Cell{Row: i, Column: j, Seed: 1}
				if _, err := r.resolveCellConfig(cell); err != nil {
					t.Errorf("%s: %s, %s: %v", s.Name, row.Name, column.Name, err)
				}
				whole := reproduction{Options: Options{Study: s, Finetune: "all"}}
				cfg, err := whole.resolveCellConfig(cell)
				if says := column.Says; says != nil && row.Labels == "" && cfg.Filter.Rate.Share != *says {
					t.Errorf("%s: %s, %s: the filter gets the rate %v, expected the column's, %v",
						s.Name, row.Name, column.Name, cfg.Filter.Rate, *says)
				}
				if err != nil || row.Whole != "" && (cfg.Solver.LR.Value != 1e-3 || cfg.Head.Init != "random") {
					t.Errorf("%s: %s, %s, whole: %v, learns at %v from %s",
						s.Name, row.Name, column.Name, err, cfg.Solver.LR, cfg.Head.Init)
				}
				known := map[string]bool{"": true, trueLabels: true, givenLabels: true}
				for _, m := range run.NoiseModels() {
					known[m] = true
				}
				if !known[column.Noise] {
					t.Errorf("%s: %s: noise %q is unknown", s.Name, column.Name, column.Noise)
				}
			}
		}
	}
}

// checkDrawnStudy tests that the settings of every column are valid, and that all estimators and measures exist.
func checkDrawnStudy(t *testing.T, r *reproduction) {
	for _, m := range r.Study.Measures {
		if m != studies.RMSE && m != studies.Bias {
			t.Errorf("%s: measure %q is unknown", r.Study.Name, m)
		}
	}
	for i, row := range r.Study.Rows {
		if !slices.ContainsFunc(theory.Estimators, func(e theory.Estimator) bool { return e.Name == row.Estimator }) {
			t.Errorf("%s: %s: estimator %q is unknown", r.Study.Name, row.Name, row.Estimator)
		}
		for j := range r.Study.Columns {
			if _, err := r.hashCell(studies.Cell{Row: i, Column: j, Seed: 1}); err != nil {
				t.Errorf("%s: %s: %v", r.Study.Name, r.Study.Columns[j].Name, err)
			}
		}
	}
}

// knownMeasure reports whether package runner can compute a study's measure.
func knownMeasure(name string) bool {
	_, recall := recallOf(name)
	_, known := studyMeasures[name]
	others := slices.Concat(judgements,
		[]string{seconds, maw, sdaw, kappaGrowth, studies.Seconds5000, studies.Hits10, meanSilhouette, worstSilhouette,
			probeEncoder})
	return recall || known || isFilterMeasure(name) || slices.Contains(others, name)
}

// A text with commas is a list unless it is part of a name. A text that is part of no name is an error.
func TestFindNames(t *testing.T) {
	names := []string{"MCL", "BSPML, λ 1", "BSPML, λ 2"}
	for text, want := range map[string]string{
		"MCL,BSPML": "[MCL BSPML]", "BSPML, λ 1": "[BSPML, λ 1]", "=MCL, λ 2": "[=MCL λ 2]", "mcl": "[mcl]",
		"MCL,": "", "MS": "", "MCL,MS": "",
	} {
		list, err := findNames("row", "s", []string{text}, names)
		if got := fmt.Sprint(list); want != "" && (got != want || err != nil) || want == "" && err == nil {
			t.Errorf("%q: found %s, %v, expected %s", text, got, err, want)
		}
	}
}

// TestDroppedLabels tests that dropping the wrong labels and dropping random labels leave the same number of images.
func TestDroppedLabels(t *testing.T) {
	clean := &datasets.Dataset{Classes: []string{"a", "b"}}
	for i := range 200 {
		clean.Samples = append(clean.Samples, datasets.Sample{Path: fmt.Sprint(i), Label: i % 2, True: i % 2,
			Split: []string{datasets.Train, datasets.Test}[i/150]})
	}
	d := &data{clean: clean, labels: map[string]*labelled{}}
	column := studies.Column{Noise: "symmetric", Rate: 0.3}
	of := func(labels string) (*datasets.Dataset, float64) {
		l, err := d.labelData(t.Context(), labels, column, 1)
		if err != nil {
			t.Fatal(err)
		}
		return l.data, l.rate
	}
	noisy, rate := of(studies.Noisy)
	wrong := noisy.Noise(datasets.Train).Corrupted
	oracle, none := of(studies.Oracle)
	random, left := of(studies.Random)
	train := func(d *datasets.Dataset) int { return len(d.Select(datasets.Train)) }
	if wrong < 30 || none != 0 || train(oracle) != 150-wrong || train(random) != 150-wrong {
		t.Errorf("%d wrong labels; without them %d images, %v wrong; %d drawn", wrong, train(oracle), none,
			train(random))
	}
	if left < rate/2 || left > 2*rate || len(d.clean.Samples) != 200 || len(random.Select(datasets.Test)) != 50 {
		t.Errorf("found %.2f of the labels wrong after a random drop, %.2f before", left, rate)
	}
}
