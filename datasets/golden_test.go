package datasets

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/testing/reference"
)

func TestMain(m *testing.M) { reference.Main(m) }

func TestGolden(t *testing.T) {
	reference.Check(t, "noise", reference.Checks{
		"bspml_noise":          goldenStratified,
		"small_cluster_stop":   goldenDissolved,
		"human_like":           goldenHumanLike,
		"reference_statistics": goldenLists,
	})
}

// known fails the test if the case has a parameter that its check does not use.
func known(t *testing.T, c reference.Case, names ...string) {
	t.Helper()
	for key := range c.Params {
		if !slices.Contains(names, key) {
			t.Fatalf("parameter %q is not known", key)
		}
	}
}

func near(t *testing.T, what string, got, want, absolute float64) {
	t.Helper()
	if !(math.Abs(got-want) <= absolute) {
		t.Errorf("%s: found %v, expected %v", what, got, want)
	}
}

func goldenStratified(t *testing.T, c reference.Case) {
	known(t, c, "p")
	var flips []int
	for _, n := range c.Ints(t, "class_sizes") {
		flips = append(flips, Stratified{c.Param("p", 0)}.countFlips(n))
	}
	if diff := cmp.Diff(c.Ints(t, "flips"), flips); diff != "" {
		t.Errorf("flips (-want +got):\n%s", diff)
	}
}

func goldenDissolved(t *testing.T, c reference.Case) {
	known(t, c, "p")
	sizes, order := c.Ints(t, "class_sizes"), c.Ints(t, "order")
	n := countDissolved(sizes, order, c.Param("p", 0))
	if diff := cmp.Diff(c.Ints(t, "dissolved"), order[:n]); diff != "" {
		t.Errorf("dissolved (-want +got):\n%s", diff)
	}
	var kept int
	c.Decode(t, "kept_classes", &kept)
	if len(order)-n != kept {
		t.Errorf("%d classes stay, expected %d", len(order)-n, kept)
	}
	moved, all := 0, 0
	var clusters []int
	for _, size := range sizes {
		all += size
		clusters = append(clusters, Clusters(size))
	}
	for _, class := range order[:n] {
		moved += sizes[class]
	}
	near(t, "realised rate", float64(moved)/float64(all), c.Float(t, "realised_rate"), 1e-12)
	if diff := cmp.Diff(c.Ints(t, "clusters_per_class"), clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}

func goldenHumanLike(t *testing.T, c reference.Case) {
	known(t, c, "top_m", "t_h", "tau")
	h := HumanLike{Rate: c.Param("tau", math.NaN()), Similar: int(c.Param("top_m", 0)),
		Temperature: c.Param("t_h", 0)}.fillDefaults()
	z, labels := c.Matrix(t, "embeddings"), c.Ints(t, "labels")
	for i := range z {
		scaleToOne(z[i])
	}
	cosines := c.Matrix(t, "class_mean_similarity")
	means, err := classMeans(z, labels, len(cosines))
	if err != nil {
		t.Fatal(err)
	}
	transition := c.Matrix(t, "transition")
	for class := range cosines {
		got := make([]float64, len(cosines))
		row := make([]float64, len(cosines))
		for k := range got {
			got[k] = multiplyMeans(means[class], means[k])
			near(t, "similarity of class means", got[k], cosines[class][k], 1e-10)
		}
		candidates, chances := h.findConfusion(class, got)
		row[class] = 1 - h.Rate
		for j, k := range candidates {
			row[k] = h.Rate * chances[j]
		}
		for k := range row {
			near(t, fmt.Sprintf("transition %d → %d", class, k), row[k], transition[class][k], 1e-10)
		}
	}
	for i, row := range c.Matrix(t, "ambiguity") {
		for k, want := range row {
			near(t, "ambiguity", measureAmbiguity(z[i], means[labels[i]], means[k]), want, 1e-10)
		}
	}
}

// goldenLists compares PRISM's released lists, read with ReadManifest, with the reference report.
func goldenLists(t *testing.T, c reference.Case) {
	known(t, c)
	archive := reference.Asset(t, "data/prism-lists.zip")
	var rows [][]any
	c.Decode(t, "rows", &rows)
	if diff := cmp.Diff([]any{"list", "n", "classes", "labels_after", "fraction_flipped", "per_class_rate_sd",
		"binomial_sd"}, rows[0]); diff != "" {
		t.Fatalf("columns (-want +got):\n%s", diff)
	}
	for _, row := range rows[1:] {
		name := strings.Fields(row[0].(string)) // "CARS sym 0.1"
		rate, err := strconv.ParseFloat(name[2], 64)
		if err != nil || name[1] != "sym" && name[1] != "small" {
			t.Fatalf("list %q is not known", row[0])
		}
		kind := map[string]string{"sym": "noised", "small": "smallclusternoised"}[name[1]]
		d := twoLists(t, archive, name[0]+"_train.csv", fmt.Sprintf("%s_%s%s_train.csv", name[0], name[2], kind))
		if name[1] == "small" { // these lists renumber classes: a class is dissolved if its images get different labels
			intact(d)
		}
		r := d.Noise(Train)
		for k, got := range []float64{float64(r.Samples), float64(r.Classes), float64(r.Labels)} {
			near(t, fmt.Sprintf("%s: %s", row[0], rows[0][k+1]), got, row[k+1].(float64), 0)
		}
		near(t, fmt.Sprintf("%s: rate", row[0]), r.Rate, row[4].(float64), 5.1e-5)
		if row[5] != nil {
			near(t, fmt.Sprintf("%s: deviation of the classes' rates", row[0]), r.ClassDeviation, row[5].(float64),
				5.1e-5)
			near(t, fmt.Sprintf("%s: binomial deviation", row[0]), binomialDeviation(rate, r.Samples, r.Classes),
				row[6].(float64), 5.1e-5)
		}
	}
}

// twoLists reads a noisy list; the labels of a clean list are the true labels.
func twoLists(t *testing.T, archive, clean, noisy string) *Dataset {
	t.Helper()
	truth := make(map[string]string)
	var rows []row
	for k, name := range []string{clean, noisy} {
		list, err := ReadManifest(bytes.NewReader(unzip(t, archive, name)), name,
			ReadOptions{Format: PRISM, StripPrefix: "/", Split: Train})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Samples {
			s := &list.Samples[i]
			if k == 0 {
				truth[s.Path] = list.className(s.Label)
				continue
			}
			was, ok := truth[s.Path]
			if !ok {
				t.Fatalf("%s: %s is not in %s", noisy, s.Path, clean)
			}
			rows = append(rows, row{path: s.Path, label: list.className(s.Label), truth: was, split: Train})
		}
	}
	return buildDataset(rows, nil)
}

// intact sets the true label of each class whose images all have one new label to that label. All other images get a
// true label that no image has as its given label.
func intact(d *Dataset) {
	label := make(map[int]int)
	for i := range d.Samples {
		s := &d.Samples[i]
		if was, ok := label[s.True]; ok && was != s.Label {
			label[s.True] = -2
		} else if !ok {
			label[s.True] = s.Label
		}
	}
	for i := range d.Samples {
		s := &d.Samples[i]
		if to := label[s.True]; to >= 0 {
			s.True = to
		} else {
			s.True += len(d.Classes)
		}
	}
}
