package run

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"winnow/features"
	"winnow/run/config"
	"winnow/run/folder"
)

// screened draws 6 classes of 30 vectors, each class around a direction of its own, moves a share of the labels to the
// next class, and returns the data and the rows with wrong labels.
func screened(share float64) (Data, map[int]bool) {
	const classes, each, dim = 6, 30, 16
	rng := rand.New(rand.NewPCG(7, 7))
	d := Data{Train: features.NewSet(classes*each, dim)}
	wrong := map[int]bool{}
	for k := range classes {
		d.Classes, d.ClassIDs = append(d.Classes, string(rune('a'+k))), append(d.ClassIDs, k)
	}
	for i := range d.Train.Len() {
		k := i % classes
		for j, row := 0, d.Train.Row(i); j < dim; j++ {
			row[j] = 0.3 * float32(rng.NormFloat64())
			if j == k {
				row[j]++
			}
		}
		d.Train.Labels[i], d.Train.IDs[i] = k, i
		if rng.Float64() < share {
			d.Train.Labels[i], wrong[i] = (k+1+rng.IntN(classes-1))%classes, true
		}
		d.Paths = append(d.Paths, filepath.Join(d.Classes[k],
			string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10))))
	}
	d.Stored = d.Train
	return d, wrong
}

// Screening removes most wrong labels and few right labels, sets the filter's noise rate to the share of wrong labels
// left, and does not change the caller's data. A resumed run can apply the stored result.
func TestScreen(t *testing.T) {
	data, wrong := screened(0.3)
	given := append([]int(nil), data.Train.Labels...)
	cfg := config.Default()
	cfg.Screen = "fitted"
	now := data
	found, err := screenTraining(context.Background(), &cfg, &now, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone, right := 0, 0
	for i, y := range now.Train.Labels {
		if y == features.Unlabelled {
			gone++
			if !wrong[i] {
				right++
			}
		}
		if data.Train.Labels[i] != given[i] {
			t.Fatal("the caller's labels were changed")
		}
	}
	if gone != found.Wrong || found.Judged != len(given) || len(found.List) != gone {
		t.Errorf("%d labels were removed, but the result is %+v", gone, found.Screening)
	}
	if caught := gone - right; 10*caught < 9*len(wrong) || 20*right > gone {
		t.Errorf("of %d wrong labels %d were removed, and %d right labels", len(wrong), caught, right)
	}
	if rate := cfg.Filter.Rate.Share; rate != found.Left || rate > 0.1 {
		t.Errorf("the filter's rate is %v, expected the share left, %v, and at most 0.1", rate, found.Left)
	}
	if again, err := screenTraining(context.Background(), &cfg, &now, nil, nil); again != nil || err != nil {
		t.Errorf("screened data were screened again: %v, %v", again, err)
	}

	dir := t.TempDir()
	if _, err := folder.WriteScreening(dir, found.List); err != nil {
		t.Fatal(err)
	}
	list, err := folder.ReadScreening(dir)
	if err != nil {
		t.Fatal(err)
	}
	resumed := data
	if _, err := screenTraining(context.Background(), &cfg, &resumed, &screening{Screening: found.Screening,
		List: list},
		nil); err != nil {
		t.Fatal(err)
	}
	for i, y := range resumed.Train.Labels {
		if y != now.Train.Labels[i] {
			t.Fatalf("image %d has label %d after reading, expected %d", i, y, now.Train.Labels[i])
		}
	}
	if err := os.WriteFile(filepath.Join(dir, folder.ScreenedFile), []byte("path,label\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.ReadScreening(dir); err == nil {
		t.Error("a file with other columns was read without an error")
	}
}

// If all labels are right, screening removes almost none.
func TestScreenClean(t *testing.T) {
	data, _ := screened(0)
	cfg := config.Default()
	cfg.Screen = "fitted"
	found, err := screenTraining(context.Background(), &cfg, &data, nil, nil)
	if err != nil || found.Wrong > 4 {
		t.Errorf("found %+v, %v, expected at most 4 of 180", found, err)
	}
}

// If the vectors are unrelated to the labels, screening removes no label and leaves the filter's rate to be estimated.
func TestScreenBlind(t *testing.T) {
	data, _ := screened(0)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range data.Train.X.Data {
		data.Train.X.Data[i] = float32(rng.NormFloat64())
	}
	cfg := config.Default()
	cfg.Screen = "combined"
	found, err := screenTraining(context.Background(), &cfg, &data, nil, nil)
	if err != nil || !found.Blind || found.Wrong != 0 || !cfg.Filter.Rate.Auto {
		t.Errorf("found %+v, rate %v, %v, expected no flagged label and an open rate", found, cfg.Filter.Rate, err)
	}
}
