package importing

import (
	"path"
	"strings"
	"testing"

	"winnow/datasets"
)

// given reads a list of images in the folder of birds; @ stands for the start of the paths.
func given(t *testing.T, text string) *datasets.Dataset {
	t.Helper()
	list, err := readList(strings.NewReader(strings.ReplaceAll(text, "@", "/data/CUB_200_2011/images/")), "list")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestGiven checks that the list gives the given labels and the dataset the true labels, and changes nothing else.
func TestGiven(t *testing.T) {
	list := given(t, "@001.Bird/Bird_0001.jpg,1\n@001.Bird/Bird_0002.jpg,100\n"+
		"@100.Bird/Bird_0003.jpg,101\n@999.Bird/none.jpg,1\n")
	r, err := cub200.Dataset(birds(), Options{Protocol: prism, Given: list})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Dataset
	got := ""
	for _, i := range d.Select(datasets.Train) {
		got += path.Base(d.Samples[i].Path) + " " + d.Classes[d.Samples[i].Label] + " " +
			d.Classes[d.Samples[i].True] + "\n"
	}
	if want := "Bird_0001.jpg 001.Bird 001.Bird\nBird_0002.jpg 100.Bird 001.Bird\nBird_0003.jpg 101.Bird " +
		"100.Bird\n"; got != want {
		t.Errorf("found\n%s, expected\n%s", got, want)
	}
	if r.NotListed != 1 || len(d.Samples) != 11 || d.Samples[10].True != datasets.Unlabelled {
		t.Errorf("found %d samples, %d not listed, %+v", len(d.Samples), r.NotListed, d.Samples[10])
	}
	text := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"1 of the list's 4 images are not in the dataset",
		"1 training image(s) have the label 101 (101.Bird)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestGivenDissolved checks labels from 0, which are clusters: each is named after the class that it contains fully.
func TestGivenDissolved(t *testing.T) {
	list := given(t, "@001.Bird/Bird_0001.jpg,7\n@001.Bird/Bird_0002.jpg,0\n"+
		"@100.Bird/Bird_0003.jpg,0\n@100.Bird/Bird_0004.jpg,0\n")
	r, err := cub200.Dataset(birds(), Options{Given: list})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Dataset
	var got []string
	for _, i := range d.Select(datasets.Train) {
		got = append(got, d.Classes[d.Samples[i].Label])
	}
	if want := "001.Bird 100.Bird 100.Bird 100.Bird"; strings.Join(got, " ") != want {
		t.Errorf("found %v, expected %s", got, want)
	}
	// Two labels belong to one class: the second cannot have the class's name.
	list = given(t, "@001.Bird/Bird_0001.jpg,3\n@001.Bird/Bird_0002.jpg,0\n")
	if r, err = cub200.Dataset(birds(), Options{Given: list}); err != nil ||
		r.Dataset.Noise(datasets.Train).Corrupted != 1 {
		t.Errorf("found %+v, %v, expected one image under another name", r, err)
	}
}

func TestGivenRefused(t *testing.T) {
	for text, want := range map[string]string{
		"@001.Bird/Bird_0001.jpg,17\n": "the list gives the label 17, " +
			"which is not the number of a class",
		"@001.Bird/Bird_0001.jpg,-1\n":                             `the label "-1", expected a number from 0`,
		"@001.Bird/Bird_0001.jpg,1\n@001.Bird/Bird_0001.jpg,100\n": "001.Bird/Bird_0001.jpg the labels 1 and 100",
		"@101.Bird/Bird_0005.jpg,1\n":                              "which is in the split test of this protocol",
		"@cars/1.jpg,1\n":                                          "found none of the list's 1 images",
	} {
		_, err := cub200.Dataset(birds(), Options{Given: given(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected %q", err, want)
		}
	}
}
