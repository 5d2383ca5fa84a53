package runner

import (
	"testing"

	"winnow/features"
	"winnow/papers/studies"
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
