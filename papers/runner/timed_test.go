package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/features"
	"winnow/papers/studies"
	"winnow/run/config"
)

var few = timing{
	Inputs: 6, Dim: 4, Batch: "3x2", Classes: 4, Images: 5, Bank: 8, Centers: 2, Rate: 0.4, Steps: 3, Repeat: 2,
	seed:     1,
	variants: []studies.Names{{"mcl", "none"}, {"mcl", "vmf"}, {"soft_triple", "none"}, {"soft_triple", "proxysim"}},
}

// Every variant is timed, and those that judge by the bank have one.
func TestStepMillis(t *testing.T) {
	millis, err := few.stepMillis(t.Context())
	if err != nil || len(millis) != len(few.variants) {
		t.Fatal(err, millis)
	}
	configs, err := few.listVariantConfigs()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range few.variants {
		bank, filter := configs[i].Bank.Size, configs[i].Filter.Scorer
		if !(millis[i] > 0) || (bank == 8) != (v[0] == "mcl") || filter != v[1] {
			t.Errorf("%v: %v ms, a bank of %d, the filter %s", v, millis[i], bank, filter)
		}
	}
}

func TestTimingRefuses(t *testing.T) {
	for want, change := range map[string]func(*timing){
		"circle": func(o *timing) { o.variants = []studies.Names{{"circle", "none"}} },
		"nix":    func(o *timing) { o.variants = []studies.Names{{"mcl", "nix"}} },
		"steps":  func(o *timing) { o.Steps = 0 },
		"batch":  func(o *timing) { o.Batch = "3" },
		"make":   func(o *timing) { o.Inputs, o.Classes, o.Images = 1<<12, 1<<12, 1<<12 },
		"rate":   func(o *timing) { o.Rate = 1 },
	} {
		bad := few
		change(&bad)
		if _, err := bad.listVariantConfigs(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v", want, err)
		}
	}
}

// Timing ends a training after enough steps without an error, unless the caller cancels it.
func TestTimeStops(t *testing.T) {
	configs, err := few.listVariantConfigs()
	if err != nil {
		t.Fatal(err)
	}
	cfg, data := configs[0], few.drawClasses()
	cfg.Length = config.LastsSteps(1000)
	found, err := timeTraining(t.Context(), cfg, data, 2, 3)
	if err != nil || len(found.Seconds) != 3 || found.Kept != 1 {
		t.Errorf("found %v: %d steps timed, %v kept", err, len(found.Seconds), found.Kept)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := timeTraining(ctx, cfg, data, 2, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that the caller cancels", err)
	}
}

// The rate's share of labels is drawn at random, the same for the same seed.
func TestDraw(t *testing.T) {
	o := few
	o.Images, o.Classes = 400, 10
	a, b := o.drawClasses(), o.drawClasses()
	wrong := 0
	for i, label := range a.Train.Labels {
		if label != i/o.Images {
			wrong++
		}
		if label != b.Train.Labels[i] || a.Train.Row(i)[0] != b.Train.Row(i)[0] {
			t.Fatalf("row %d differs from the same seed", i)
		}
	}
	// a tenth of the drawn labels is right
	if share := float64(wrong) / float64(a.Train.Len()); share < 0.3 || share > 0.42 {
		t.Errorf("found %v wrong, expected about 0.36", share)
	}
	if i := a.Train.Len() - 1; a.Train.IDs[i] != i || a.Train.Labels[i] == features.Unlabelled {
		t.Errorf("found ID %d and label %d", a.Train.IDs[i], a.Train.Labels[i])
	}
}
