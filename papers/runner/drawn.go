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
	"winnow/internal/spread"
	"winnow/papers/studies"
	"winnow/papers/theory"
	"winnow/run/config"
)

// drawnData describes the data of a study without files.
const drawnData = "data drawn from the seed"

// drawCell computes a cell of a study without data: the error of an estimate of a concentration (PRISM's Fig. 4). All
// estimators use the same draws.
func (r *reproduction) drawCell(ctx context.Context, o *studies.Outcome, cell studies.Cell) error {
	s, err := r.newConcentration(cell)
	if err != nil {
		return err
	}
	start := time.Now()
	errors, err := theory.EstimateConcentration(ctx, s)
	for _, e := range errors {
		if e.Estimator == r.Study.Rows[cell.Row].Estimator {
			o.Measures[studies.RMSE], o.Measures[studies.Bias] = e.RMSE, e.Bias
		}
	}
	o.Data, o.Seconds, o.Settings = drawnData, time.Since(start).Seconds(), r.settingsDrawn(cell)
	return err
}

// newConcentration returns the settings of a cell's draws.
func (r *reproduction) newConcentration(cell studies.Cell) (s theory.Concentration, err error) {
	settings := r.settingsDrawn(cell)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s: %s\n", key, settings[key])
	}
	if err := yaml.UnmarshalWithOptions([]byte(text.String()), &s, yaml.Strict()); err != nil {
		return s, hint.Misused("settings: %s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	s.Seed = cell.Seed
	return s, s.Check()
}

// settingsDrawn returns the settings of a cell as texts: the study's, then the column's, then the given settings. Later
// settings replace earlier ones.
func (r *reproduction) settingsDrawn(cell studies.Cell) map[string]string {
	all := map[string]string{}
	for _, s := range slices.Concat(r.Study.Set, r.Study.Columns[cell.Column].Set, r.Set) {
		key, value, _ := strings.Cut(s, "=")
		all[key] = value
	}
	return all
}

// hashDrawn does the work of hashCell for a cell of a study without data.
func (r *reproduction) hashDrawn(cell studies.Cell) (string, error) {
	s, err := r.newConcentration(cell)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d concentration %+v %s\n", cellVersion, s,
		r.Study.Rows[cell.Row].Estimator))
	return hex.EncodeToString(sum[:])[:24], err
}

// timesSteps reports whether the study times the steps of trainings (PRISM's Tables V and VI). No other job may run
// while steps are timed.
func (r *reproduction) timesSteps() bool {
	return slices.Contains(r.Study.Measures, studies.Seconds5000)
}

// timedSteps is the number of timed steps. They follow the steps that fill the bank.
const timedSteps = 200

// timeCell times the steps of a cell's training. It uses the lower quartile as the time of an undisturbed step.
func (r *reproduction) timeCell(ctx context.Context, o *studies.Outcome, cell studies.Cell) error {
	t, on, err := r.resolveBrief(ctx, cell)
	if err != nil {
		return err
	}
	defer on.Close()
	start := time.Now()
	o.Data, o.Settings = t.from.name, config.Flatten(t.cfg)
	o.Inputs = map[string]string{"features": t.data.StoreSum, "images": t.data.Sum}
	fill := t.cfg.Bank.Size/max(t.cfg.Sampler.Classes*t.cfg.Sampler.Images, 1) + 1
	timed, err := on.Time(ctx, fill, timedSteps)
	if err == nil && len(timed.Seconds) == 0 {
		err = fmt.Errorf("the training ends after %d steps, before its bank is full", on.Steps)
	}
	if err != nil {
		return err
	}
	o.Steps, o.Seconds = fill+len(timed.Seconds), time.Since(start).Seconds()
	o.Measures[studies.Seconds5000] = 5000 * spread.New(timed.Seconds).Q1
	return nil
}
