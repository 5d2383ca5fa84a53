package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
)

// writeBirds makes a CUB-200-2011 folder of two images of each of n classes, numbered from 1.
func writeBirds(t *testing.T, dir string, n int) {
	t.Helper()
	files := map[string]string{}
	for i := range 2 * n {
		class, path := i/2+1, fmt.Sprintf("%03d.Bird/Bird_%04d.jpg", i/2+1, i)
		files["images.txt"] += fmt.Sprintf("%d %s\n", i+1, path)
		files["image_class_labels.txt"] += fmt.Sprintf("%d %d\n", i+1, class)
		files["train_test_split.txt"] += fmt.Sprintf("%d %d\n", i+1, i%2)
		if i%2 == 0 {
			files["classes.txt"] += fmt.Sprintf("%d %03d.Bird\n", class, class)
		}
		files["images/"+path] = ""
	}
	writeTree(t, dir, files)
}

// TestProtocols imports a published dataset by every protocol. The counts are printed, with a warning for those that
// differ from the published ones.
func TestProtocols(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "m.csv")
	writeBirds(t, filepath.Join(dir, "CUB_200_2011"), 200)
	for protocol, c := range map[string]struct {
		counts, warning string
		first, last     string
	}{
		"half": {"train          200 images     100 classes", "train: found 200 images of 100 classes",
			datasets.Train, datasets.Test},
		"prism": {"validation     100 images      50 classes", "validation: found 100 images of 50 ", datasets.Train, datasets.Test},
		"official": {"test           200 images     200 classes", "test: found 200 images of 200 classes",
			datasets.Test, datasets.Train},
	} {
		code, stdout, errs := call(t.Context(), "data", "import", "--preset", "cub200", "--root",
			filepath.Join(dir, "CUB_200_2011"), "--protocol", protocol, "--out", out)
		if code != 0 || !strings.Contains(stdout, "CUB-200-2011 (Wah et al. 2011), protocol "+protocol+": ") ||
			!strings.Contains(stdout, c.counts) ||
			!strings.Contains(errs, "winnow: warning: cub200, "+protocol+": "+c.warning) {
			t.Errorf("%s: exit code %d: %s%s", protocol, code, stdout, errs)
		}
		d, err := datasets.ReadFile(out, datasets.ReadOptions{})
		if err != nil || len(d.Samples) != 400 || d.Samples[0].Split != c.first || d.Samples[399].Split != c.last ||
			d.Samples[399].Path != "images/200.Bird/Bird_0399.jpg" {
			t.Errorf("%s: found %+v, %v", protocol, d.Samples[0], err)
		}
	}
	code, _, errs := call(t.Context(), "data", "import", "--preset", "cub200", "--root", dir, "--out", out)
	if want := "images.txt"; code != 1 || !strings.Contains(errs, want) {
		t.Errorf("exit code %d: %s, expected %q", code, errs, want)
	}
	code, _, errs = call(t.Context(), "data", "import", "--preset", "cub200", "--root", dir, "--protocol", "third",
		"--out", out)
	if want := `--protocol: found "third", expected one that cub200 has: half, official, prism`; code != 2 ||
		!strings.Contains(errs, want) {
		t.Errorf("exit code %d: %s, expected %q", code, errs, want)
	}
}

// TestGivenList imports PRISM's released labels beside the true ones, and the noise is printed.
func TestGivenList(t *testing.T) {
	dir := t.TempDir()
	root, out, list := filepath.Join(dir, "cub"), filepath.Join(dir, "m.csv"), filepath.Join(dir, "CUB_noised.csv")
	writeBirds(t, root, 200)
	text := ""
	for i := range 198 { // two of the 200 training images are not listed; every third label is wrong
		label := i/2 + 1
		if i%3 == 0 {
			label = (label+49)%100 + 1
		}
		text += fmt.Sprintf("/data/CUB_200_2011/images/%03d.Bird/Bird_%04d.jpg,%d\n", i/2+1, i, label)
	}
	writeTree(t, dir, map[string]string{"CUB_noised.csv": text})
	code, stdout, errs := call(t.Context(), "data", "import", "--preset", "cub200", "--root", root, "--protocol",
		"prism", "--given", list, "--out", out)
	if code != 0 || !strings.Contains(stdout, "left out         2 training images, which "+list+" does not list\n") ||
		!strings.Contains(stdout, "train: 66 of 198 labels wrong (33.33 %;") {
		t.Errorf("exit code %d: %s%s", code, stdout, errs)
	}
	d, err := datasets.ReadFile(out, datasets.ReadOptions{})
	if err != nil || len(d.Samples) != 398 || d.Classes[d.Samples[0].Label] != "051.Bird" ||
		d.Classes[d.Samples[0].True] != "001.Bird" || !d.HasTruth(datasets.Train) {
		t.Errorf("found %+v, %v", d.Samples[0], err)
	}
	for want, args := range map[string][]string{
		"--validation does not go with --given": {"--preset", "cub200", "--root", root, "--given", list, "--validation",
			"0.1"},
		"nowhere.csv: no such file": {"--preset", "cub200", "--root", root, "--given",
			filepath.Join(dir, "nowhere.csv")},
		"with --preset": {root, "--given", list},
	} {
		code, _, errs := call(t.Context(), append([]string{"data", "import", "--out", out}, args...)...)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d: %s, expected %q", args, code, errs, want)
		}
	}
}
