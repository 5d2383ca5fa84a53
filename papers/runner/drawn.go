package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"winnow/internal/hint"
	"winnow/papers/studies"
	"winnow/papers/theory"
	"winnow/run/config"
	"winnow/run/grid"
)

// drawnData names the data of a study without files.
const drawnData = "what is drawn from the seed"

// drawnColumn is the outcome of a column of a study without data, for a seed. One measurement makes all rows, because
// filters are timed in turns and estimators see the same draws.
type drawnColumn struct {
	rows    map[string]map[string]float64 // measures by row
	seconds float64                       // time of a row
}

// timesSteps reports whether the study's rows are times. Nothing else may run while they are measured.
func (r *reproduction) timesSteps() bool { return len(r.Study.Rows[0].Cost) > 0 }

// drawCell fills in a cell of a study without data.
func (r *reproduction) drawCell(ctx context.Context, o *studies.Outcome, cell studies.Cell) error {
	r.drawing.Lock()
	defer r.drawing.Unlock()
	at := [2]uint64{uint64(cell.Column), cell.Seed}
	column, ok := r.columns[at]
	if !ok {
		measure := r.compareEstimators
		if r.timesSteps() {
			measure = r.timeTrainingSteps
		}
		start := time.Now()
		rows, err := measure(ctx, cell)
		if err != nil {
			return err
		}
		column = drawnColumn{rows, time.Since(start).Seconds() / float64(len(rows))}
		if r.columns == nil {
			r.columns = map[[2]uint64]drawnColumn{}
		}
		r.columns[at] = column
	}
	o.Data, o.Measures, o.Seconds = drawnData, column.rows[o.Row], column.seconds
	o.Settings = r.settingsDrawn(cell)
	return nil
}

// timeTrainingSteps times the training steps of all wanted rows, in turns.
func (r *reproduction) timeTrainingSteps(
	ctx context.Context,
	cell studies.Cell,
) (map[string]map[string]float64, error) {
	t, err := r.newTiming(cell)
	if err != nil {
		return nil, err
	}
	millis, err := t.stepMillis(ctx)
	if err != nil {
		return nil, err
	}
	rows := map[string]map[string]float64{}
	for _, row := range r.Study.Rows {
		at := t.findVariant(row.Cost)
		if !row.Runs() || at < 0 {
			continue
		}
		found := map[string]float64{studies.Seconds5000: millis[at] / 1e3 * timedSteps}
		if row.Cost[1] != config.NoFilter {
			bare := millis[t.findVariant(studies.Names{row.Cost[0], config.NoFilter})]
			found[studies.Added], found[studies.AddedMillis] = millis[at]/bare-1, millis[at]-bare
		}
		rows[row.Name] = found
	}
	return rows, nil
}

// newTiming returns the trainings to time for a column: the wanted rows, and their losses without a filter.
func (r *reproduction) newTiming(cell studies.Cell) (t timing, err error) {
	if err := r.readDrawn(cell, &t); err != nil {
		return t, err
	}
	t.seed = cell.Seed
	for _, row := range r.Study.Rows {
		if !row.Runs() || !r.isRowWanted(row) {
			continue
		}
		for _, v := range []studies.Names{{row.Cost[0], config.NoFilter}, row.Cost} {
			if t.findVariant(v) < 0 {
				t.variants = append(t.variants, v)
			}
		}
	}
	_, err = t.listVariantConfigs()
	return t, err
}

// compareEstimators compares the study's estimates of a concentration with the truth.
func (r *reproduction) compareEstimators(
	ctx context.Context,
	cell studies.Cell,
) (map[string]map[string]float64, error) {
	s, err := r.newConcentration(cell)
	if err != nil {
		return nil, err
	}
	errors, err := theory.EstimateConcentration(ctx, s)
	if err != nil {
		return nil, err
	}
	rows := map[string]map[string]float64{}
	for _, row := range r.Study.Rows {
		for _, e := range errors {
			if e.Estimator == row.Estimator {
				rows[row.Name] = map[string]float64{studies.RMSE: e.RMSE, studies.Bias: e.Bias}
			}
		}
	}
	return rows, nil
}

// newConcentration returns the setting of a column's draws.
func (r *reproduction) newConcentration(cell studies.Cell) (s theory.Concentration, err error) {
	if err := r.readDrawn(cell, &s); err != nil {
		return s, err
	}
	if len(s.Samples) != 1 {
		return s, hint.Misused("setting samples: found %v, expected those of one column", s.Samples)
	}
	s.Seed = cell.Seed
	return s, s.Check()
}

// settingsDrawn returns the settings of a column as texts: the study's, then the column's, then those asked for. Later
// ones replace earlier ones.
func (r *reproduction) settingsDrawn(cell studies.Cell) map[string]string {
	all := map[string]string{}
	for _, s := range slices.Concat(r.Study.Set, r.Study.Columns[cell.Column].Set, r.Set) {
		key, value, _ := strings.Cut(s, "=")
		all[key] = value
	}
	return all
}

// readDrawn reads a column's settings into to.
func (r *reproduction) readDrawn(cell studies.Cell, to any) error {
	settings := r.settingsDrawn(cell)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s: %s\n", key, settings[key])
	}
	if err := yaml.UnmarshalWithOptions([]byte(text.String()), to, yaml.Strict()); err != nil {
		return hint.Misused("settings: %s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return nil
}

// keyDrawn is key for a cell of a study without data. Times also depend on the number of threads and the version.
func (r *reproduction) keyDrawn(cell studies.Cell) (string, error) {
	h := sha256.New()
	row := r.Study.Rows[cell.Row]
	if r.timesSteps() {
		t, err := r.newTiming(cell)
		if err != nil {
			return "", err
		}
		_, threads := grid.Share(1, r.Threads)
		fmt.Fprintf(h, "%d cost %+v %v on %d, %s\n", cellVersion, t, row.Cost, threads, r.Winnow)
	} else {
		s, err := r.newConcentration(cell)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d concentration %+v %s\n", cellVersion, s, row.Estimator)
	}
	return hex.EncodeToString(h.Sum(nil))[:24], nil
}
