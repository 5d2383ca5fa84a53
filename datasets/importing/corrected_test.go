package importing

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/datasets"
	"winnow/internal/testing/reference"
)

// voted returns one suspect in the format of the label-errors project.
func voted(id, given, guessed int, votes string) string {
	return fmt.Sprintf(`{"id": %d, "given_original_label": %d, "our_guessed_label": %d, "mturk": {%s}}`, id, given,
		guessed, votes)
}

// TestCorrected checks that images get the majority's label, or no label without a majority, and that a column keeps
// the published label.
func TestCorrected(t *testing.T) {
	votes := "[" + strings.Join([]string{
		voted(0, 0, 3, `"given": 3, "guessed": 2, "neither": 0`),
		voted(1, 1, 4, `"given": 1, "guessed": 3, "neither": 1, "both": 0`),
		voted(2, 2, 5, `"given": 2, "guessed": 2, "neither": 1`),
		voted(3, 3, 5, `"given": 1, "guessed": 0, "neither": 4`),
		voted(4, 4, 5, `"given": 1, "guessed": 1, "neither": 0, "both": 3`),
		voted(5, 5, 5, `"given": 4, "guessed": 4, "neither": 2`),
	}, ",") + "]"
	r := imported(t, "cifar10", cifarTen(), Options{Corrected: &File{"votes.json", []byte(votes)}})
	for i, want := range []string{"airplane - test airplane", "deer - test automobile", "- - test bird",
		"- - test cat", "- - test deer", "dog - test dog", "frog - test frog"} {
		if got := names(r.Dataset, 20+i); got != fmt.Sprintf("test/%05d.bmp %s", i, want) {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
	if got := names(r.Dataset, 3); got != "train/00003.bmp cat - train" {
		t.Errorf("a training image became %q", got)
	}
	if want := "test: of 6 suspects 2 keep their label, 1 get another label, 3 have no single right label and are " +
		"not " +
		"evaluated"; len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q, expected %q", r.Notes, want)
	}
}

// TestCorrectedReal checks the published counts of the published votes: 15 of MNIST's 100 suspects are wrong (10 with a
// known right label), 54 of CIFAR-10's 275 (18), and 585 of CIFAR-100's 2,235 (318).
func TestCorrectedReal(t *testing.T) {
	archive, err := zip.OpenReader(reference.Asset(t, "data/label-errors-mnist-cifar.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	file := func(name string) File {
		data, err := fs.ReadFile(archive, name)
		if err != nil {
			t.Fatal(err)
		}
		return File{name, data}
	}
	mnist := os.DirFS(reference.Asset(t, "data/mnist"))
	for name, want := range map[string]string{
		"mnist": "test: of 100 suspects 85 keep their label, 10 get another label, 5 have no single right label and " +
			"are " +
			"not evaluated",
		"cifar10": "test: of 275 suspects 221 keep their label, 18 get another label, 36 have no single right label " +
			"and " +
			"are not evaluated",
		"cifar100": "test: of 2235 suspects 1650 keep their label, 318 get another label, 267 have no single right " +
			"label " +
			"and are not evaluated",
	} {
		var labels []int // 16-bit or 8-bit numbers after numpy's header of 128 bytes
		original := file("original_test_labels/" + name + "_test_set_original_labels.npy").Data[128:]
		for size := len(original) / 10000; len(original) > 0; original = original[size:] {
			labels = append(labels, int(original[0]))
		}
		votes := file("mturk/" + name + "_mturk.json")
		notes := []string{}
		if name == "mnist" {
			r := imported(t, name, mnist, Options{Corrected: &votes})
			notes = r.Notes
			for k, i := range r.Dataset.Select(datasets.Test) {
				if published := r.Dataset.Samples[i].Extra[0]; published != fmt.Sprint(labels[k]) {
					t.Fatalf("image %d: published label %s, expected %d", k, published, labels[k])
				}
			}
			if len(r.Warnings) != 0 {
				t.Errorf("warnings %q", r.Warnings)
			}
		} else {
			var samples []sample
			for _, class := range labels {
				samples = append(samples, sample{Class: class, Label: fmt.Sprint(class), Split: datasets.Test})
			}
			if err := correctLabels(samples, votes, 0, Options{notes: &notes}); err != nil {
				t.Fatal(err)
			}
		}
		if len(notes) != 1 || notes[0] != want {
			t.Errorf("%s: found %q, expected %q", name, notes, want)
		}
	}
}

// cifarTen is the binary version of CIFAR-10 with 20 training and 10 test images.
func cifarTen() fstest.MapFS {
	record := func(class int) []byte { return append([]byte{byte(class)}, make([]byte, 3072)...) }
	var train, test []byte
	for i := range 20 {
		train = append(train, record(i%10)...)
	}
	for i := range 10 {
		test = append(test, record(i)...)
	}
	return fstest.MapFS{"data_batch_1.bin": {Data: train}, "test_batch.bin": {Data: test},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n")}}
}

// humanLabels returns the classes 0 to 9 twice as CSV; every fifth label in aggre and every second in worse is wrong.
func humanLabels() string {
	text := "index,clean_label,aggre_label,worse_label\n"
	for i := range 20 {
		c := i % 10
		aggre, worse := c, c
		if i%5 == 0 {
			aggre = (c + 1) % 10
		}
		if i%2 == 0 {
			worse = (c + 3) % 10
		}
		text += fmt.Sprintf("%d,%d,%d,%d\n", i, c, aggre, worse)
	}
	return text
}

func TestCIFAR10N(t *testing.T) {
	folder := cifarTen()
	folder["cifar10n.csv"] = &fstest.MapFile{Data: []byte(humanLabels())}
	r := imported(t, "cifar10n", folder, Options{})
	if got, want := names(r.Dataset, 0), "train/00000.bmp automobile airplane train"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if got, want := names(r.Dataset, 20), "test/00000.bmp airplane - test"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if n := r.Dataset.Noise(datasets.Train); n.Samples != 20 || n.Corrupted != 4 {
		t.Errorf("found %+v, expected 4 of 20 labels wrong", n)
	}
	if want := "train: 4 of 20 labels differ from CIFAR's (20.00 %), label set aggre"; len(r.Notes) != 1 ||
		r.Notes[0] != want {
		t.Errorf("notes %q, expected %q", r.Notes, want)
	}
	r = imported(t, "cifar10n", folder, Options{Human: "worse", Labels: &File{"mine.csv", []byte(humanLabels())}})
	if n := r.Dataset.Noise(datasets.Train); n.Corrupted != 10 {
		t.Errorf("found %+v, expected 10 of 20 labels wrong", n)
	}
	p, _ := Find("cifar10n")
	for want, text := range map[string]string{
		"the images are in another order":        strings.Replace(humanLabels(), "\n3,3,", "\n3,9,", 1),
		"found 1 labels, expected 20":            "aggre_label\n1\n",
		"found the label sets a, expected aggre": "a\n1\n",
		"x: label of image 0 is 10":              "aggre_label\n" + strings.Repeat("10\n", 20),
		"x: 90 % of the labels differ":           "aggre_label\n" + strings.Repeat("3\n", 20),
		"row 2: aggre_label":                     "aggre_label\nx\n",
		"is a PyTorch file, expected CSV":        "PK",
	} {
		_, err := p.Dataset(folder, Options{Labels: &File{"x", []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestHumanLabelsReal checks the noise rates of the published sets.
func TestHumanLabelsReal(t *testing.T) {
	for name, rates := range map[string]map[string]string{
		"cifar10n":  {"aggre": "9.01", "worse": "40.21", "random1": "17.23", "random2": "18.12", "random3": "17.64"},
		"cifar100n": {"noisy": "40.20"},
	} {
		data, err := os.ReadFile(reference.Asset(t, "data/"+name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		table, err := readLabelTable(data)
		if err != nil {
			t.Fatal(err)
		}
		for set, rate := range rates {
			var samples []sample
			for _, class := range table["clean_label"] {
				samples = append(samples, sample{Class: class, Label: fmt.Sprint(class), Split: datasets.Train})
			}
			notes := []string{}
			if err := giveHuman(samples, table, Options{Human: set, notes: &notes}); err != nil {
				t.Fatal(err)
			}
			if want := "(" + rate + " %), label set " + set; len(notes) != 1 || !strings.HasSuffix(notes[0], want) {
				t.Errorf("%s: found %q, expected %q", name, notes, want)
			}
		}
	}
}
