package published

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/internal/testing/reference"
)

// voted returns one suspect of the label-errors project.
func voted(id, given, guessed int, votes string) string {
	return fmt.Sprintf(`{"id": %d, "given_original_label": %d, "our_guessed_label": %d, "mturk": {%s}}`, id, given,
		guessed, votes)
}

// TestCorrected: images get the label most people saw, or none without a majority, and keep the published one in a
// column.
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
	if want := "test: of 6 suspects 2 keep their label, 1 get another, 3 have no single right label and are not " +
		"evaluated"; len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q, expected %q", r.Notes, want)
	}
	// An array of all labels; only image 9 differs.
	all := npyFile("|u1", "10,", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x00")
	r = imported(t, "cifar10", cifarTen(), Options{Corrected: &File{"all.npy", []byte(all)}})
	if got := names(r.Dataset, 29); got != "test/00009.bmp airplane - test truck" ||
		r.Notes[0] != "test: 1 of 10 labels differ from the published ones" {
		t.Errorf("found %q, notes %q", got, r.Notes)
	}
}

func TestCorrectedRefuses(t *testing.T) {
	p, _ := Find("cifar10")
	for want, text := range map[string]string{
		"c: expected the label-errors project's JSON or npy: ":                         "{",
		"c: element 0: expected id, given_original_label, our_guessed_label and mturk": `[{"id": 1}]`,
		"element 0: id 10, expected 0 to 9: the test set has 10 images": "[" +
			voted(10, 1, 2, `"given": 5`) + "]",
		"element 0: image 1 has the label 1 here, the file says 2: the file is for another dataset": "[" +
			voted(1, 2, 3, `"given": 5`) + "]",
		"element 1: image 1 appears twice": "[" + voted(1, 1, 3, `"given": 5`) + "," + voted(1, 1, 3, `"given": 5`) +
			"]",
		`element 0: image 1 has -5 votes for "given"`: "[" +
			voted(1, 1, 3, `"given": -5`) + "]",
		"c: image 1: label 77 is not in the test set":             "[" + voted(1, 1, 77, `"guessed": 5`) + "]",
		"c: found 2 labels, expected 10: one for each test image": npyFile("|u1", "2,", "\x00\x01"),
		"c: 9 of 10 labels differ from the published ones: the file is for another dataset or a": npyFile("|u1",
			"10,", strings.Repeat("\x03", 10)),
		"c: image 0: label -1 is not in the test set": npyFile("|i1", "10,",
			"\xff\x01\x02\x03\x04\x05\x06\x07\x08\x00"),
	} {
		_, err := p.Dataset(cifarTen(), Options{Corrected: &File{"c", []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestCorrectedReal: the published votes give the published counts: of MNIST's 100 suspects 15 are wrong (10 with a
// known right label), of CIFAR-10's 275 54 (18), of CIFAR-100's 2,235 585 (318).
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
		"mnist": "test: of 100 suspects 85 keep their label, 10 get another, 5 have no single right label and are " +
			"not evaluated",
		"cifar10": "test: of 275 suspects 221 keep their label, 18 get another, 36 have no single right label and " +
			"are not evaluated",
		"cifar100": "test: of 2235 suspects 1650 keep their label, 318 get another, 267 have no single right label " +
			"and are not evaluated",
	} {
		labels, err := readNPYLabels(file("original_test_labels/" + name + "_test_set_original_labels.npy").Data)
		if err != nil {
			t.Fatal(err)
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

// FuzzCorrected: for any file, every label stays a class or becomes none.
func FuzzCorrected(f *testing.F) {
	f.Add([]byte("[" + voted(1, 1, 3, `"given": 5`) + "]"))
	f.Add([]byte(npyFile("|u1", "10,", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var samples []sample
		for class := range 10 {
			samples = append(samples, sample{Class: class, Label: fmt.Sprint(class), Split: datasets.Test})
		}
		if correctLabels(samples, File{"c", data}, 0, Options{}) != nil {
			return
		}
		for i, s := range samples {
			if s.Extra[0] != fmt.Sprint(i) || s.Label != "" && s.Label != fmt.Sprint(s.Class) {
				t.Errorf("image %d: %+v", i, s)
			}
		}
	})
}
