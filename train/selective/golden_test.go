package selective

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/reference"
)

func TestMain(m *testing.M) { reference.Main(m) }

func TestGolden(t *testing.T) {
	reference.Check(t, "detectors", reference.Checks{"selcl_selection": goldenSelCL, "tcl_detect": goldenTCL})
}

// onlyParams fails if the case has a parameter that the check does not map to a setting.
func onlyParams(t *testing.T, c reference.Case, known ...string) {
	t.Helper()
	for name := range c.Params {
		if !slices.Contains(known, name) {
			t.Fatalf("parameter %q is not known: known are %v", name, known)
		}
	}
}

// goldenSet returns the case's rows in float32, with its given labels.
func goldenSet(t *testing.T, c reference.Case) features.Set {
	t.Helper()
	x := c.Matrix(t, "embeddings")
	z := features.NewSet(len(x), len(x[0]))
	z.Labels = c.Ints(t, "labels")
	for i, row := range x {
		for j, v := range row {
			z.Row(i)[j] = float32(v)
		}
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	return z
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(math.Abs(want), 1e-2)) {
		t.Errorf("%s: found %v, expected %v", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, what, got[i], want[i], tolerance)
	}
}

func goldenSelCL(t *testing.T, c reference.Case) {
	onlyParams(t, c, "k", "alpha", "beta", "num_classes")
	z, classes := goldenSet(t, c), int(c.Param("num_classes", -1))
	cfg := selclDetector{K: int(c.Param("k", 0)), Alpha: c.Param("alpha", 0.5), Beta: c.Param("beta", 0.5)}
	s, err := cfg.selectRows(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	votes := make([]float64, classes)
	for i, want := range c.Matrix(t, "votes_round1") {
		s.Neighbours.vote(votes, i, z.Labels)
		nearAll(t, "first vote", votes, want, 1e-12)
	}
	for i, want := range c.Matrix(t, "votes_round2") {
		s.Neighbours.vote(votes, i, s.Pseudo)
		nearAll(t, "second vote", votes, want, 1e-12)
	}
	if want := c.Ints(t, "pseudo_labels"); !slices.Equal(s.Pseudo, want) {
		t.Errorf("pseudo labels: found %v, expected %v", s.Pseudo, want)
	}
	nearAll(t, "discrepancy", s.Discrepancy, c.Floats(t, "discrepancy"), 1e-8)
	near(t, "quota", s.Quota, c.Float(t, "quota"), 1e-12)
	for key, got := range map[string][]bool{"agree": s.Agree, "selected": s.Selected} {
		var want []bool
		c.Decode(t, key, &want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %v, expected %v", key, got, want)
		}
	}
	p := s.findPairs()
	near(t, "threshold of pairs", p.Threshold, c.Float(t, "pair_threshold"), 1e-5) // the width of a bin
	total, perRow := 0, make([]int, z.Len())
	for i := range perRow {
		for j := range perRow {
			if p.isConfident(i, j) {
				perRow[i]++
				total++
			}
		}
	}
	if want := c.Ints(t, "pairs_per_row"); !slices.Equal(perRow, want) || total != int(c.Float(t, "num_pairs")) {
		t.Errorf("pairs: found %d, %v, expected %v, %v", total, perRow, c.Float(t, "num_pairs"), want)
	}
}

// goldenTCL checks the float32 path with a tolerance for float32, and the mixture with a separate tolerance. Then it
// checks each step by itself in float64, with the case's numbers as input.
func goldenTCL(t *testing.T, c reference.Case) {
	onlyParams(t, c, "temperature", "num_classes")
	z, classes := goldenSet(t, c), int(c.Param("num_classes", -1))
	cfg, p := tclDetector{Temperature: c.Param("temperature", 0.25)}, c.Matrix(t, "class_probabilities")
	d := cfg.detectClean(z, classes, func(dst blas32.General, _ features.Set, from int) {
		for i := range dst.Rows {
			for k, v := range p[from+i] {
				features.Row(dst, i)[k] = float32(v)
			}
		}
	})
	wide := c.Matrix(t, "centers")
	for k, row := range wide {
		for j, v := range row {
			near(t, "centre", float64(features.Row(d.Centres, k)[j]), v, 1e-4)
		}
	}
	loss, clean := c.Floats(t, "normalized_loss"), c.Floats(t, "clean_confidence")
	nearAll(t, "loss", d.Loss, loss, 1e-4)
	tolerance := c.Param("tolerance", 1e-3)
	if c.Has("tolerance") {
		tolerance = c.Float(t, "tolerance")
	}
	checkClean(t, d.Clean, clean, tolerance)
	m := d.Mixtures[0]
	nearAll(t, "means", m.Mean[:], c.Floats(t, "gmm_means"), tolerance)
	nearAll(t, "variances", m.Variance[:], c.Floats(t, "gmm_variances"), tolerance)
	nearAll(t, "weights", m.Weight[:], c.Floats(t, "gmm_weights"), tolerance)

	x, labels := c.Matrix(t, "embeddings"), z.Labels
	alone := &detection{Loss: make([]float64, len(x)), Clean: make([]float64, len(x))}
	for i, want := range c.Matrix(t, "assignments") {
		l := make([]float64, classes)
		for k := range l {
			for j, v := range x[i] {
				l[k] += v * wide[k][j] / cfg.Temperature
			}
		}
		features.Softmax(l, l)
		nearAll(t, "assignment", l, want, 1e-8)
		alone.Loss[i] = -l[labels[i]]
	}
	alone.scaleLosses(labels)
	nearAll(t, "loss in float64", alone.Loss, loss, 1e-8)
	copy(alone.Loss, loss)
	alone.mixClean(labels, classes, false)
	checkClean(t, alone.Clean, clean, tolerance)
}

// checkClean compares probabilities with an absolute tolerance.
func checkClean(t *testing.T, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("P(clean) of row %d: found %v, expected %v", i, got[i], want[i])
		}
	}
}

// vote fills dst, one entry per class, with the share of row i's neighbours that have each label. Negative
// labels vote for no class, so that the shares sum to 1 only if all neighbours have a label.
func (n *neighbours) vote(dst []float64, i int, labels []int) {
	clear(dst)
	for _, j := range n.neighboursOf(i) {
		if y := labels[j]; y >= 0 {
			dst[y]++
		}
	}
	for c := range dst {
		dst[c] /= float64(max(n.K, 1))
	}
}
