package published

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/internal/testing/reference"
)

// prismLists opens PRISM's released lists.
func prismLists(t *testing.T) *zip.ReadCloser {
	t.Helper()
	r, err := zip.OpenReader(reference.Asset(t, "data/prism-lists.zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// prismList reads one of the lists.
func prismList(t *testing.T, r *zip.ReadCloser, name string) *datasets.Dataset {
	t.Helper()
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := readList(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestJoinPrism joins every released list with PRISM's own clean one; rates, true classes and given classes are
// those of the lists.
func TestJoinPrism(t *testing.T) {
	lists := prismLists(t)
	kinds := []string{"0.1noised", "0.2noised", "0.5noised", "0.25smallclusternoised", "0.5smallclusternoised"}
	for data, want := range map[string][]string{
		"CUB":  {"9.69 100 100", "19.59 100 101", "49.68 100 101", "25.26 100 75", "50.27 100 50"},
		"CARS": {"10.72 98 98", "20.21 98 98", "49.93 98 98", "25.64 98 73", "50.25 98 48"},
		"SOP":  {"9.93 11318 11309"}, // more of them as a preset: TestReleasedLists
	} {
		clean, test := prismList(t, lists, data+"_train.csv"), prismList(t, lists, data+"_test.csv")
		for i := range test.Samples {
			test.Samples[i].Split = datasets.Test
		}
		clean = datasets.Merge(clean, test)
		for k, kind := range kinds[:len(want)] {
			r, err := Join(clean, prismList(t, lists, data+"_"+kind+"_train.csv"))
			if err != nil {
				t.Errorf("%s %s: %v", data, kind, err)
				continue
			}
			n := r.Dataset.Noise(datasets.Train)
			if got := fmt.Sprintf("%.2f %d %d", 100*n.Rate, n.Classes, n.Labels); got != want[k] || r.NotListed != 0 {
				t.Errorf("%s %s: found %s, expected %s; %d not listed", data, kind, got, want[k], r.NotListed)
			}
			if got := len(r.Dataset.Select(datasets.Test)); got != len(test.Samples) {
				t.Errorf("%s %s: %d test images, expected %d", data, kind, got, len(test.Samples))
			}
			if strings.HasPrefix(kind, "0.2n") && data == "CUB" &&
				fmt.Sprint(r.Warnings) != "[6 training image(s) are given the label 101 (101), which no training "+
					"image truly has]" {
				t.Errorf("CUB 0.2: warnings %q", r.Warnings)
			}
		}
		r, err := Join(clean, prismList(t, lists, data+"_0.5noised_cleaned_train.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if n, left := r.Dataset.Noise(datasets.Train), map[string]int{"CUB": 5864 - 2951, "CARS": 8054 - 4033,
			"SOP": 59551 - 29815}[data]; n.Corrupted != 0 || r.NotListed != left {
			t.Errorf("%s cleaned: %d labels wrong, %d left out, expected 0 and %d", data, n.Corrupted, r.NotListed,
				left)
		}
	}
}

// manifest returns a dataset of lines path,label,split.
func manifest(t *testing.T, text string) *datasets.Dataset {
	t.Helper()
	d, err := datasets.ReadManifest(strings.NewReader("path,label,split,true_label\n"+text), "m.csv",
		datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestJoin: classes with names are numbered in their order; images that are not in the list are left out; test
// stays.
func TestJoin(t *testing.T) {
	clean := manifest(t, "img/b/1.jpg,b,train,\nimg/a/1.jpg,a,train,\nimg/a/2.jpg,a,train,\nimg/c/1.jpg,c,test,\n")
	list, err := readList(strings.NewReader("/data/x/a/1.jpg,2\n/data/x/b/1.jpg,2\n"), "list.csv")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Join(clean, list)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i := range r.Dataset.Samples {
		got += names(r.Dataset, i) + "\n"
	}
	if want := "img/b/1.jpg b b train\nimg/a/1.jpg b a train\nimg/c/1.jpg c - test\n"; got != want || r.NotListed != 1 {
		t.Errorf("found\n%s%d not listed, expected\n%s", got, r.NotListed, want)
	}
	for want, text := range map[string]string{
		"training image x/1.jpg has no label":                            "x/1.jpg,,train,\n",
		`has the label "a" and the true label "b", expected a clean`:     "x/1.jpg,a,train,b\n",
		"several class names are the same number":                        "x/1.jpg,1,train,\nx/2.jpg,01,train,\n",
		"found none of the list's 2 images (the first is data/x/a/1.jpg": "y/1.jpg,a,train,\n",
	} {
		if _, err := Join(manifest(t, text), list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
