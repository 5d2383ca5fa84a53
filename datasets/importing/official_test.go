package importing

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/datasets"
)

// TestOfficialFiles reads the real lists and checks the published counts of every protocol.
func TestOfficialFiles(t *testing.T) {
	for _, c := range []struct {
		preset Preset
		folder string
	}{{cub200, "cub200-2011"}, {flowers102, "flowers102"}} {
		fsys := official(t, c.folder)
		for name := range c.preset.Protocols {
			r, err := c.preset.Dataset(fsys, Options{Root: c.folder, Protocol: name})
			if err != nil {
				t.Errorf("%s, %s: %v", c.folder, name, err)
				continue
			}
			if w := unlike(r); w != "" || r.LeftOut != 0 {
				t.Errorf("%s, %s: %v, %d left out", c.folder, name, w, r.LeftOut)
			}
		}
	}
}

// TestCUBIsPRISM checks that PRISM's lists have the same images with the same splits and class numbers.
func TestCUBIsPRISM(t *testing.T) {
	r, err := cub200.Dataset(official(t, "cub200-2011"), Options{Protocol: half})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for split, file := range map[string]string{datasets.Train: "CUB_train.csv", datasets.Test: "CUB_test.csv"} {
		list := released(t, file)
		for _, s := range list.Samples {
			n, _ := strconv.Atoi(list.Classes[s.Label])
			want[strings.TrimPrefix(s.Path, "data/CUB_200_2011/")] = fmt.Sprintf("%s %03d.", split, n)
		}
	}
	d := r.Dataset
	for _, s := range d.Samples {
		if w, ok := want[s.Path]; !ok || !strings.HasPrefix(s.Split+" "+d.Classes[s.Label], w) {
			t.Fatalf("%s is %s of %s, PRISM says %q", s.Path, d.Classes[s.Label], s.Split, w)
		}
	}
	if len(want) != len(d.Samples) || len(want) != 11788 {
		t.Errorf("found %d images, PRISM has %d", len(d.Samples), len(want))
	}
}

// prismCars returns the folder that PRISM's lists refer to, with one folder per class.
func prismCars(t *testing.T) fs.FS {
	fsys := fstest.MapFS{}
	for _, file := range []string{"CARS_train.csv", "CARS_test.csv"} {
		for _, s := range released(t, file).Samples {
			fsys[strings.TrimPrefix(s.Path, "data/cars196/")] = &fstest.MapFile{}
		}
	}
	return fsys
}

// The devkit's real MATLAB files are read: the names, and 8,144 training annotations of 196 classes.
func TestDevkit(t *testing.T) {
	real := official(t, "cars196")
	names, err := readMatVariable(real, "cars_meta.mat", "class_names")
	if err != nil || names.count != 196 || names.cells[0].text != firstCar {
		t.Fatalf("%+v, %v", names, err)
	}
	annos, err := readMatVariable(real, "cars_train_annos.mat", "annotations")
	if err != nil || annos.count != 8144 || annos.fieldOf(0, "class").toInteger() != 14 ||
		annos.fieldOf(0, "fname").text != "00001.jpg" {
		t.Fatalf("%+v, %v", annos.fieldOf(0, "class"), err)
	}
}

// TestReleasedLists checks that PRISM's lists have the measured noise rates with every form of the dataset, and that
// the names of small-cluster labels agree with the cleaned lists.
func TestReleasedLists(t *testing.T) {
	cub, cars := official(t, "cub200-2011"), prismCars(t)
	for list, percent := range map[string]float64{
		"CUB_0.1noised": 9.69, "CUB_0.2noised": 19.59, "CUB_0.5noised": 49.68,
		"CUB_0.25smallclusternoised": 25.26, "CUB_0.5smallclusternoised": 50.27,
		"CARS_0.1noised": 10.72, "CARS_0.2noised": 20.21, "CARS_0.5noised": 49.93,
		"CARS_0.25smallclusternoised": 25.64, "CARS_0.5smallclusternoised": 50.25,
	} {
		noisy, cleaned := released(t, list+"_train.csv"), released(t, list+"_cleaned_train.csv")
		preset, root := cub200, cub
		if strings.HasPrefix(list, "CARS") {
			preset, root = cars196, cars
		}
		r, err := preset.Dataset(root, Options{Protocol: prism, Given: noisy})
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		n := r.Dataset.Noise(datasets.Train)
		if math.Abs(100*n.Rate-percent) > 0.005 || n.Samples != len(noisy.Samples) || r.NotListed != 0 ||
			n.Samples-n.Corrupted != len(cleaned.Samples) {
			t.Errorf("%s: found %.3f %% of %d, expected %.2f of %d, %d of them right", list, 100*n.Rate, n.Samples,
				percent, len(noisy.Samples), len(cleaned.Samples))
		}
		if r, err = preset.Dataset(root, Options{Protocol: prism, Given: cleaned}); err != nil {
			t.Errorf("%s: cleaned: %v", list, err)
			continue
		}
		if n := r.Dataset.Noise(datasets.Train); n.Corrupted != 0 || n.Samples != len(cleaned.Samples) ||
			r.NotListed != len(noisy.Samples)-n.Samples {
			t.Errorf("%s: cleaned: %d of %d labels wrong, %d not listed", list, n.Corrupted, n.Samples, r.NotListed)
		}
	}
}
