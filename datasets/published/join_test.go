package published

import (
	"archive/zip"
	"fmt"
	"testing"

	"winnow/datasets"
	"winnow/internal/reference"
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
func prismList(t *testing.T, r *zip.ReadCloser, name, split string) *datasets.Dataset {
	t.Helper()
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := datasets.ReadManifest(f, name, datasets.ReadOptions{Format: datasets.PRISM, Split: split, StripPrefix: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestJoinPrism joins every released list to the clean one: the share of wrong labels is what the lists hold.
func TestJoinPrism(t *testing.T) {
	lists := prismLists(t)
	for _, c := range []struct {
		data  string
		rates [5]string // 0.1, 0.2, 0.5 symmetric; 0.25, 0.5 small-cluster
	}{
		{"CUB", [5]string{"9.69", "19.59", "49.68", "25.26", "50.27"}},
		{"CARS", [5]string{"10.72", "20.21", "49.93", "25.64", "50.25"}},
		{"SOP", [5]string{"9.93", "20.10", "49.93", "", ""}},
	} {
		clean := datasets.Merge(prismList(t, lists, c.data+"_train.csv", "train"), prismList(t, lists, c.data+"_test.csv", "test"))
		for k, kind := range []string{"0.1noised", "0.2noised", "0.5noised", "0.25smallclusternoised", "0.5smallclusternoised"} {
			noisy := prismList(t, lists, c.data+"_"+kind+"_train.csv", "train")
			j, err := Join(clean, noisy)
			if err != nil {
				t.Errorf("%s %s: %v", c.data, kind, err)
				continue
			}
			n := j.Dataset.Noise(datasets.Train)
			t.Log(c.data, kind, j.How, j.Rows, j.LeftOut, fmt.Sprintf("%.2f", 100*n.Rate), n.Classes, n.Labels, c.rates[k])
		}
	}
}
