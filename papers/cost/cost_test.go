package cost

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/features"
	"winnow/run/config"
)

var few = Options{Threads: 1, Inputs: 6, Dim: 4, Batch: "3x2", Classes: 4, Images: 5, Bank: 8, Centers: 2, Rate: 0.4, Steps: 3, Repeat: 2, Losses: []string{"mcl"}, Seed: 1}

// Every variant of the loss has a row, as many timings as repetitions, and is compared with the loss without a filter.
func TestRun(t *testing.T) {
	var done, of int
	r, err := Run(t.Context(), few, func(at, total int) { done, of = at, total })
	if err != nil {
		t.Fatal(err)
	}
	var filters []string
	for _, row := range r.Rows {
		filters = append(filters, row.Filter)
		if row.Loss != "mcl" || row.Bank != few.Bank || !(row.StepMillis.Least > 0) || row.StepMillis.N != few.Repeat || !(row.Kept > 0 && row.Kept <= 1) {
			t.Errorf("found %+v", row)
		}
	}
	if bare := r.Rows[0]; strings.Join(filters, " ") != "none avgsim avgsim_direct vmf" || done != 8 || of != 8 || bare.Ratio != 1 || bare.Added != 0 || bare.Kept != 1 || len(bare.Paper) != 0 {
		t.Errorf("found %v, %d of %d trainings and first %+v", filters, done, of, r.Rows[0])
	}
	if p, ok := r.Rows[3].Paper["SOP"]; ok || r.Rows[3].Paper["CUB"].Ratio < 1.39 || r.Rows[3].Paper["CUB"].Ratio > 1.4 {
		t.Errorf("found SOP %+v (the paper has none) and %+v", p, r.Rows[3].Paper)
	}
	if p := r.Rows[2].Paper["SOP"]; p.Ratio < 7.32 || p.Ratio > 7.33 || len(r.Rows[2].Paper) != 1 { // 12,294.76 s to 1,679.22 s
		t.Errorf("found %+v of AvgSim without centres", r.Rows[2].Paper)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "vmf") || strings.Count(text.String(), "\n") != 7 {
		t.Errorf("found %v:\n%s", err, text.String())
	}
}

func TestCheck(t *testing.T) {
	for change, o := range map[string]func(*Options){
		"--loss":  func(o *Options) { o.Losses = []string{"mcl", "circle"} },
		"--steps": func(o *Options) { o.Steps = 0 },
		"--batch": func(o *Options) { o.Batch = "3" },
		"make":    func(o *Options) { o.Inputs, o.Classes, o.Images = 1<<12, 1<<12, 1<<12 },
		"rate":    func(o *Options) { o.Rate = 1 },
	} {
		bad := few
		o(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), change) {
			t.Errorf("%s: found %v", change, err)
		}
	}
}

// Timing ends a training after enough steps without an error, and tells the caller's own end from that.
func TestTimeStops(t *testing.T) {
	_, configs, err := few.plan()
	if err != nil {
		t.Fatal(err)
	}
	cfg, data := configs[0], few.draw()
	cfg.Length = config.LastsSteps(1000)
	found, err := timed(t.Context(), cfg, data, 2, 3)
	if err != nil || len(found.Seconds) != 3 || found.Kept != 1 {
		t.Errorf("found %v: %d steps timed, %v kept", err, len(found.Seconds), found.Kept)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := timed(ctx, cfg, data, 2, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the caller's end", err)
	}
}

// The share of wrong labels that is asked for is drawn, and the same from the same seed.
func TestDraw(t *testing.T) {
	o := few
	o.Images, o.Classes = 400, 10
	a, b := o.draw(), o.draw()
	wrong := 0
	for i, label := range a.Train.Labels {
		if label != i/o.Images {
			wrong++
		}
		if label != b.Train.Labels[i] || a.Train.Row(i)[0] != b.Train.Row(i)[0] {
			t.Fatalf("row %d differs from the same seed", i)
		}
	}
	if share := float64(wrong) / float64(a.Train.Len()); share < 0.3 || share > 0.42 { // a tenth of those drawn is right
		t.Errorf("found %v wrong, expected about 0.36", share)
	}
	if i := a.Train.Len() - 1; a.Train.IDs[i] != i || a.Train.Labels[i] == features.Unlabelled {
		t.Errorf("found ID %d and label %d", a.Train.IDs[i], a.Train.Labels[i])
	}
}
