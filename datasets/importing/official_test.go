package importing

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/datasets"
)

// TestOfficialFiles reads the real lists: every protocol has the published counts.
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

// TestCUBIsPRISM: PRISM's own lists hold the same images in the same splits with the same numbers.
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
func prismCars(t *testing.T) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, file := range []string{"CARS_train.csv", "CARS_test.csv"} {
		for _, s := range released(t, file).Samples {
			fsys[strings.TrimPrefix(s.Path, "data/cars196/")] = &fstest.MapFile{}
		}
	}
	return fsys
}

// prismDevkit returns the devkit with its real training annotations and class names. The published test labels are
// not available here: the test annotations are the images of PRISM's folders that are not training images.
func prismDevkit(t *testing.T) fstest.MapFS {
	real := official(t, "cars196")
	fsys := fstest.MapFS{}
	for _, name := range []string{"cars_meta.mat", "cars_train_annos.mat"} {
		f, err := real.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, info.Size())
		for n := 0; n < len(data); {
			k, err := f.Read(data[n:])
			if n += k; err != nil && n < len(data) {
				t.Fatal(err)
			}
		}
		f.Close()
		fsys["devkit/"+name] = &fstest.MapFile{Data: data}
	}
	names, err := readMatVariable(fsys, "devkit/cars_meta.mat", "class_names")
	if err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for i, c := range names.cells {
		number[strings.ReplaceAll(c.text, "/", "-")] = i + 1
	}
	train, err := readMatVariable(fsys, "devkit/cars_train_annos.mat", "annotations")
	if err != nil {
		t.Fatal(err)
	}
	training := map[string]bool{}
	for i := range train.count {
		folder := strings.ReplaceAll(names.cells[train.fieldOf(i, "class").integer()-1].text, "/", "-")
		training[folder+"/"+train.fieldOf(i, "fname").text] = true
	}
	var tests []map[string]any
	for p := range prismCars(t) {
		if key := strings.TrimPrefix(p, "images/"); !training[key] {
			tests = append(tests, car(number[path.Dir(key)], "fname", strings.Replace(path.Base(key), "_2", "", 1), 0))
		}
	}
	fsys["devkit/cars_test_annos_withlabels.mat"] = mat(matOf("annotations", tests))
	return fsys
}

// TestCarsCounts: both forms give the published counts in every protocol they have.
func TestCarsCounts(t *testing.T) {
	folders, devkit := prismCars(t), prismDevkit(t)
	for _, protocol := range []string{half, prism, Official} {
		for form, fsys := range map[string]fstest.MapFS{"folders": folders, "devkit": devkit} {
			if form == "folders" && protocol == Official {
				continue // that folder has no official split
			}
			r, err := cars196.Dataset(fsys, Options{Protocol: protocol})
			if err != nil {
				t.Errorf("%s, %s: %v", form, protocol, err)
				continue
			}
			if w := unlike(r); w != "" || r.LeftOut != 0 {
				t.Errorf("%s, %s: %v, %d left out", form, protocol, w, r.LeftOut)
			}
		}
	}
}

// TestReleasedLists: the noise of PRISM's lists has the rates counted on them in every form of the dataset, and a
// small-cluster label means what the list without the wrong labels says.
func TestReleasedLists(t *testing.T) {
	cub, cars := official(t, "cub200-2011"), prismCars(t)
	devkit := prismDevkit(t)
	for list, percent := range map[string]float64{
		"CUB_0.1noised": 9.69, "CUB_0.2noised": 19.59, "CUB_0.5noised": 49.68,
		"CUB_0.25smallclusternoised": 25.26, "CUB_0.5smallclusternoised": 50.27,
		"CARS_0.1noised": 10.72, "CARS_0.2noised": 20.21, "CARS_0.5noised": 49.93,
		"CARS_0.25smallclusternoised": 25.64, "CARS_0.5smallclusternoised": 50.25,
	} {
		noisy, cleaned := released(t, list+"_train.csv"), released(t, list+"_cleaned_train.csv")
		roots := []func(o Options) (*Result, error){func(o Options) (*Result, error) { return cub200.Dataset(cub, o) }}
		if strings.HasPrefix(list, "CARS") {
			roots = []func(o Options) (*Result, error){
				func(o Options) (*Result, error) { return cars196.Dataset(devkit, o) },
				func(o Options) (*Result, error) { return cars196.Dataset(cars, o) },
			}
			if !strings.Contains(list, "0.25") { // a MapFS of 16,185 files lists its folders slowly
				roots = roots[:1]
			}
		}
		for form, root := range roots {
			r, err := root(Options{Protocol: prism, Given: noisy})
			if err != nil {
				t.Errorf("%s, form %d: %v", list, form, err)
				continue
			}
			n := r.Dataset.Noise(datasets.Train)
			if math.Abs(100*n.Rate-percent) > 0.005 || n.Samples != len(noisy.Samples) || r.NotListed != 0 {
				t.Errorf("%s, form %d: found %.3f %% of %d, expected %.2f of %d", list, form, 100*n.Rate, n.Samples,
					percent, len(noisy.Samples))
			}
			if n.Samples-n.Corrupted != len(cleaned.Samples) {
				t.Errorf("%s, form %d: %d right labels, the cleaned list has %d", list, form, n.Samples-n.Corrupted,
					len(cleaned.Samples))
			}
			r, err = root(Options{Protocol: prism, Given: cleaned})
			if err != nil {
				t.Errorf("%s, form %d: cleaned: %v", list, form, err)
				continue
			}
			if n := r.Dataset.Noise(datasets.Train); n.Corrupted != 0 || n.Samples != len(cleaned.Samples) ||
				r.NotListed != len(noisy.Samples)-n.Samples {
				t.Errorf("%s, form %d: cleaned: %d of %d labels wrong, %d not listed", list, form, n.Corrupted,
					n.Samples, r.NotListed)
			}
		}
	}
}
