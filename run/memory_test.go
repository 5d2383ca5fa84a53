package run_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/models"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// Without a validation split a run's head is the average of the weights; the last state is as without an average.
func TestAverageIsLeft(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	training := features.NewSet(24, 6)
	for i := range training.X.Data {
		training.X.Data[i] = float32(rng.NormFloat64())
	}
	for i := range training.Labels {
		training.Labels[i] = i % 3
	}
	data, err := run.NewData(training, features.Set{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Head.Out, cfg.Length, cfg.Bank.Size = 4, config.LastsSteps(6), 24
	cfg.Filter.Scorer, cfg.Solver.LR = config.NoFilter, train.GivenLR(0.1)
	cfg.Sampler.Classes, cfg.Sampler.Images = 3, 2
	weights := func(horizon config.Span, left bool) []float32 {
		cfg.Average.Horizon = horizon
		o := run.Options{Dir: t.TempDir()}
		out, err := run.Train(t.Context(), cfg, run.Input{Data: &data}, o)
		if err != nil || out.OfAverage != (horizon.N > 0) {
			t.Fatalf("horizon %v: %v, %+v", horizon, err, out.Result)
		}
		if left {
			return out.Head.Params()[0].Data
		}
		last, _, err := models.ReadHead(filepath.Join(o.Dir, folder.LastHeadFile))
		if err != nil {
			t.Fatal(err)
		}
		return last.Params()[0].Data
	}
	plain := weights(config.Span{}, true)
	if !slices.Equal(plain, weights(config.Steps(4), false)) {
		t.Error("the last state differs from that of a run without an average")
	}
	if slices.Equal(plain, weights(config.Steps(4), true)) {
		t.Error("the head is the last state")
	}
	cfg.Average.Horizon = config.Epochs(0.01)
	if _, err := run.Train(t.Context(), cfg, run.Input{Data: &data}, run.Options{}); err == nil ||
		!strings.Contains(err.Error(), "average.horizon: found 0.01 epochs, 1 step of the 4 of an epoch") {
		t.Errorf("a horizon of a step: %v", err)
	}
}

func TestNewData(t *testing.T) {
	training, validation := features.NewSet(3, 2), features.NewSet(2, 2)
	copy(training.Labels, []int{2, features.Unlabelled, 0})
	data, err := run.NewData(training, validation)
	if err != nil {
		t.Fatal(err)
	}
	if data.Unlabelled != 1 || data.Views() != 1 || !slices.Equal(data.ClassIDs, []int{0, 1, 2}) ||
		!slices.Equal(data.Classes, []string{"0", "1", "2"}) ||
		!slices.Equal(data.Train.IDs, []int{0, 1, 2}) || !slices.Equal(data.Validation.IDs, []int{3, 4}) ||
		len(data.Paths) != 5 || data.Paths[4] != "4" {
		t.Errorf("%+v", data)
	}
	for want, sets := range map[string][2]features.Set{
		"0 vectors with 0 labels":                {},
		"3 vectors with 0 labels":                {{X: training.X}},
		"of 5 values for validation, expected 2": {training, features.NewSet(1, 5)},
		"row 1: found label -2":                  {{X: training.X, Labels: []int{0, -2, 1}}},
	} {
		if _, err := run.NewData(sets[0], sets[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
