package theory

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

func TestMain(m *testing.M) { reference.Main(m) }

func TestGolden(t *testing.T) {
	reference.Check(t, "theory", reference.Checks{
		"pair_noise": func(t *testing.T, c reference.Case) {
			checkRows(t, c, classCount(t, c, "K"), pairColumns)
		},
		"fp_fn": func(t *testing.T, c reference.Case) {
			checkRows(t, c, classCount(t, c, "C"), contrastiveColumns)
		},
		"marginal_bound":     goldenMarginal,
		"triplet_bound":      goldenTriplet,
		"unhinged_bound":     goldenUnhinged,
		"inverse_pair_noise": goldenInverse,
		"one_to_one_weights": goldenOneToOne,
		"triplet_cases":      goldenLatent,
	})
}

// column computes an entry of a table's column from the row's first entry x and the number of classes k.
type column func(x float64, k int) float64

var pairColumns = map[string]column{
	"p":              func(p float64, _ int) float64 { return p },
	"q_minus":        func(p float64, k int) float64 { return Pairs(p, k).Negative },
	"q_plus":         func(p float64, k int) float64 { return Pairs(p, k).Positive },
	"q_plus_printed": func(p float64, k int) float64 { return pairsPrinted(p, k).Positive },
	"Q":              func(p float64, k int) float64 { return computeMargin(Pairs(p, k), float64(k)) },
	"Q_printed":      func(p float64, k int) float64 { return computeMargin(pairsPrinted(p, k), float64(k)) },
	"q_plus_large_K": func(p float64, _ int) float64 { return largeK(p) },
}

var contrastiveColumns = map[string]column{
	"tau":          func(tau float64, _ int) float64 { return tau },
	"P_FP":         func(p float64, classes int) float64 { return Pairs(p, classes).Positive },
	"P_FP_printed": falsePositivePrinted,
	"P_FN":         func(p float64, classes int) float64 { return Pairs(p, classes).Negative },
	"P_FN_printed": falseNegativePrinted,
}

var marginalColumns = map[string]column{
	"gamma":             func(gamma float64, _ int) float64 { return gamma },
	"p_bound_eq37":      func(gamma float64, _ int) float64 { return marginalBoundLimit(gamma, 0) },
	"p_bound_Q_ge_half": func(gamma float64, _ int) float64 { return marginalBoundLimit(gamma, 0.5) },
	"z":                 func(gamma float64, _ int) float64 { return noisyPerClean(gamma) },
}

// classCount returns the case's only parameter, a number of classes.
func classCount(t *testing.T, c reference.Case, name string) int {
	t.Helper()
	known(t, c, name)
	return int(c.Param(name, 0))
}

// known fails the test if the case has a parameter outside names.
func known(t *testing.T, c reference.Case, names ...string) {
	t.Helper()
	for key := range c.Params {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+key+" ") {
			t.Fatalf("parameter %q is not known", key)
		}
	}
}

// checkRows compares every column of a table with the function of the row's first entry that computes the column.
func checkRows(t *testing.T, c reference.Case, classes int, columns map[string]column) {
	t.Helper()
	var names []string
	c.Decode(t, "columns", &names)
	for _, row := range c.Matrix(t, "rows") {
		for j, name := range names {
			f := columns[name]
			if f == nil {
				t.Fatalf("column %q is not known", name)
			}
			near(t, fmt.Sprintf("%s at %v", name, row[0]), f(row[0], classes), row[j])
		}
	}
}

func goldenMarginal(t *testing.T, c reference.Case) {
	known(t, c)
	checkRows(t, c, 0, marginalColumns)
}

func goldenTriplet(t *testing.T, c reference.Case) {
	known(t, c, "K_finite")
	columns := map[string]column{
		"eta":          func(eta float64, _ int) float64 { return eta },
		"p_bound_eq27": func(eta float64, _ int) float64 { return tripletBoundLimit(eta) },
	}
	for _, k := range c.Params["K_finite"].([]any) {
		classes := int(k.(float64))
		columns[fmt.Sprintf("p_root_K%d", classes)] = func(eta float64, _ int) float64 {
			return tripletBound(classes, eta)
		}
	}
	checkRows(t, c, 0, columns)
}

func goldenUnhinged(t *testing.T, c reference.Case) {
	k := classCount(t, c, "K")
	near(t, "bound", unhingedBound(k), c.Float(t, "p_max"))
	near(t, "bound with the printed q₊", root(pairsPrinted, k, float64(k), 1/float64(k), 0),
		c.Float(t, "p_max_printed"))
}

func goldenInverse(t *testing.T, c reference.Case) {
	known(t, c)
	want := c.Floats(t, "p")
	for i, q := range c.Floats(t, "q") {
		near(t, fmt.Sprintf("p of q = %v", q), labelNoise(q), want[i])
	}
}

func goldenOneToOne(t *testing.T, c reference.Case) {
	known(t, c, "K", "s")
	got := countPairs(int(c.Param("K", 0)), int(c.Param("s", 0)))
	for name, v := range map[string]float64{
		"positive_pairs": float64(got.PositivePairs), "negative_pairs": float64(got.NegativePairs),
		"all_triplets":       float64(got.Triplets),
		"n_per_positive_all": float64(got.NegativesPerPositive),
		"n_per_negative_all": float64(got.PositivesPerNegative),
		"w_negative_exact":   got.Weight, "w_negative_paper": got.WeightPrinted,
	} {
		near(t, name, v, c.Float(t, name))
	}
}

func goldenLatent(t *testing.T, c reference.Case) {
	known(t, c, "K", "p")
	got := latentTriplet(c.Param("p", -1), int(c.Param("K", 0)))
	for name, v := range map[string]float64{
		"clean": got.Clean, "all_same": got.AllSame, "all_different": got.AllDifferent, "inverted": got.Inverted,
		"other": got.Other,
	} {
		near(t, name, v, c.Float(t, name))
	}
}

// near compares numbers with a relative tolerance of 1e-9 and an absolute one of 1e-12. If want is undefined, got must
// be NaN or infinite.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got == want || math.IsNaN(want) && (math.IsNaN(got) || math.IsInf(got, 0)) ||
		math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-12 {
		return
	}
	t.Errorf("%s: found %v, expected %v", what, got, want)
}
