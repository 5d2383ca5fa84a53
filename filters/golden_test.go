package filters

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// goldens maps each method of the golden topic prism to its check; an unknown method fails the test.
var goldens = map[string]func(*testing.T, reference.Case){
	"vmf_log_normalizer": goldenNormalizer,
	"kappa":              goldenKappa,
	"pclean":             goldenPClean,
	"thresholds":         goldenThresholds,
	"fifo":               goldenFIFO,
	"prism_trace":        goldenTrace,
	"ema":                goldenEMA,
}

func TestGolden(t *testing.T) { reference.Check(t, "prism", goldens) }

func TestMain(m *testing.M) { reference.Main(m) }

// onlyParams fails if the case has a parameter that its check does not map to a setting.
func onlyParams(t *testing.T, c reference.Case, known ...string) {
	t.Helper()
	for name := range c.Params {
		if !slices.Contains(known, name) {
			t.Fatalf("unknown parameter %q, expected one of %v", name, known)
		}
	}
}

// table reads the rows of a case and checks their columns.
func table(t *testing.T, c reference.Case, columns ...string) [][]float64 {
	t.Helper()
	var names []string
	c.Decode(t, "columns", &names)
	if !slices.Equal(names, columns) {
		t.Fatalf("columns are %v, expected %v", names, columns)
	}
	return c.Matrix(t, "rows")
}

// limits returns the limits of a case, or the default.
func limits(c reference.Case) Limits {
	most := DefaultLimits()
	return Limits{Length: c.Param("r_max", most.Length), Kappa: c.Param("kappa_max", most.Kappa)}
}

func goldenNormalizer(t *testing.T, c reference.Case) {
	onlyParams(t, c, "D")
	dim := int(c.Param("D", 0))
	for _, row := range table(t, c, "kappa", "log_C_D", "log_I_{D/2-1}", "A_D=I_{D/2}/I_{D/2-1}") {
		kappa := row[0]
		near(t, "log C_D", logNormalizer(dim, kappa), row[1], 1e-10, 1e-10)
		if !math.IsNaN(row[2]) {
			near(t, "log I", LogBesselI(float64(dim)/2-1, kappa), row[2], 1e-10, 1e-10)
		}
		near(t, "A_D", meanLength(dim, kappa), row[3], 1e-9, 1e-12)
	}
}

func goldenKappa(t *testing.T, c reference.Case) {
	onlyParams(t, c, "D", "r_max", "kappa_max")
	dim, most := int(c.Param("D", 0)), limits(c)
	for _, row := range table(t, c, "rbar", "kappa_banerjee", "kappa_printed", "kappa_sra2", "kappa_mle") {
		near(t, "banerjee", KappaBanerjee(dim, row[0], most), row[1], 1e-8, 1e-10)
		near(t, "printed", KappaPrinted(dim, row[0], most), row[2], 1e-8, 1e-10)
		near(t, "sra", KappaSra(dim, row[0], most), row[3], 1e-8, 1e-10)
		if row[1] < most.Kappa && row[0] < most.Length { // beyond the limits, the steps start from the clamped value
			near(t, "sra and the exact MLE", KappaSra(dim, row[0], most), row[4], 1e-4, 1e-10)
		}
	}
}

// The vectors of the bank and the products are float32. So the relative tolerance is 1e-4 where log densities of some
// hundreds are subtracted, and 1e-6 for similarities and probabilities near 1/C.
func goldenPClean(t *testing.T, c reference.Case) {
	onlyParams(t, c, "num_classes", "H", "min_count", "r_max", "kappa_max")
	z := unitSet(t, c.Matrix(t, "embeddings"), c.Ints(t, "labels"))
	memory := unitSet(t, c.Matrix(t, "memory"), c.Ints(t, "memory_labels"))
	classes := int(c.Param("num_classes", 0))
	bank := features.NewBank(memory.Len(), memory.Dim(), classes)
	bank.Push(memory)

	want := part(t, c, "avgsim")
	for _, s := range []struct{ plain, all Scorer }{{&AvgSim{}, &AvgSim{All: true}},
		{&AvgSimDirect{}, &AvgSimDirect{All: true}}} {
		nearAll(t, "avgsim", s.plain.Score(nil, z, bank, false), want.Floats(t, "p_clean"), 1e-6, 0)
		nearAll(t, "avgsim all", s.all.Score(nil, z, bank, false), want.Floats(t, "p_clean_all_zero_centres"), 1e-6, 0)
	}
	counts := want.Ints(t, "counts")
	for i, row := range want.Matrix(t, "class_mean_similarity") {
		for k, sim := range row {
			if counts[k] != bank.Count(k) {
				t.Errorf("class %d has %d members, expected %d", k, bank.Count(k), counts[k])
			}
			sum, _ := dotProducts(bank.Sum(k), z.Row(i))
			near(t, "T(x,k)", sum/math.Max(1, float64(bank.Count(k))), sim, 1e-6, 1e-7)
		}
	}

	want = part(t, c, "vmfsim")
	vmf := &VMF{Kappa: KappaBanerjee} // all cases use our min_count, r_max and kappa_max
	nearAll(t, "vmfsim", vmf.Score(nil, z, bank, false), want.Floats(t, "p_clean"), 2e-4, 1e-12)
	goldenFits(t, want, vmf, z, bank)

	want = part(t, c, "proxysim")
	var raw [][][]float64
	c.Decode(t, "proxies", &raw)
	perClass := int(c.Param("H", float64(len(raw[0]))))
	proxies := features.NewParam("proxies", classes*perClass, z.Dim())
	for k, group := range raw {
		for h, p := range group {
			for j, x := range p {
				proxies.Data[((k*perClass)+h)*z.Dim()+j] = float32(x)
			}
		}
	}
	proxySim := &ProxySim{Proxies: proxies, PerClass: perClass}
	nearAll(t, "proxysim", proxySim.Score(nil, z, nil, false), want.Floats(t, "p_clean"), 1e-6, 0)

	want = part(t, c, "ablations")
	nearAll(t, "batch positive", BatchPositive{}.Score(nil, z, nil, false),
		want.Floats(t, "batch_positive"), 1e-6, 1e-7)
	nearAll(t, "memory positive", MemoryPositive{}.Score(nil, z, bank, false), want.Floats(t, "memory_positive"), 1e-6,
		1e-7)
}

// goldenFits checks vMF-Sim's estimates for every class after a batch.
func goldenFits(t *testing.T, want reference.Case, v *VMF, z features.Set, bank *features.Bank) {
	p, _ := v.refreshFits(bank)
	common := v.spreadOf(bank.Dim(), p.weight/float64(p.members))
	near(t, "pooled kappa", common.kappa, want.Float(t, "kappa_pooled"), 1e-5, 0)
	lengths, kappas, logs := want.Floats(t, "rbar"), want.Floats(t, "kappa"), want.Floats(t, "log_normalizer")
	for k, f := range v.fits {
		near(t, "rbar", f.length, lengths[k], 1e-6, 1e-12)
		s := f.spread
		if f.members < leastImages {
			s = common
		}
		near(t, "kappa", s.kappa, kappas[k], 1e-5, 0)
		near(t, "log C_D", s.logC, logs[k], 1e-5, 1e-4)
	}
	v.classes = knownClasses(nil, bank, true)
	for i, row := range want.Matrix(t, "log_density") {
		tt := make([]float32, bank.Classes())
		for k := range tt {
			sum, _ := dotProducts(bank.Sum(k), z.Row(i))
			tt[k] = float32(sum / math.Max(1, float64(bank.Count(k))))
		}
		v.fillLogits(tt, common)
		nearAll(t, "log density", v.logits, row, 1e-5, 1e-4)
	}
}

func goldenThresholds(t *testing.T, c reference.Case) {
	onlyParams(t, c, "R", "tau", "n")
	rate := c.Param("R", Default().Rate)
	trm, strm := &TopR{Rate: rate, Size: 1}, &TopR{Rate: rate, Size: int(c.Param("tau", float64(Default().Window)))}
	for i, step := range steps(t, c) {
		p := step.Floats(t, "p_clean")
		equal(t, i, "TRM keeps", trm.Keep(p), rowsOf(t, step, "trm_keep"))
		nearBar(t, "TRM threshold", trm.Threshold(), step.Float(t, "trm_threshold"), 1e-12)
		equal(t, i, "sTRM keeps", strm.Keep(p), rowsOf(t, step, "strm_keep"))
		nearBar(t, "sTRM threshold", strm.Threshold(), step.Float(t, "strm_threshold"), 1e-12)
		nearAll(t, "window", strm.Window(), step.Floats(t, "window"), 1e-12, 0)
	}
}

func goldenFIFO(t *testing.T, c reference.Case) {
	onlyParams(t, c, "capacity")
	bank := features.NewBank(int(c.Param("capacity", 0)), 1, 1)
	for i, step := range steps(t, c) {
		ids := step.Ints(t, "enqueue")
		z := features.NewSet(len(ids), 1)
		copy(z.IDs, ids)
		bank.Push(z)
		equal(t, i, "oldest first", oldestFirst(bank), step.Ints(t, "content_oldest_first"))
	}
}

func goldenTrace(t *testing.T, c reference.Case) {
	onlyParams(t, c, "num_classes", "R", "tau", "capacity")
	classes := int(c.Param("num_classes", 0))
	config := Default()
	config.Threshold = ThresholdPaper
	config.Scorer, config.Rate, config.Window = "avgsim", c.Param("R", config.Rate),
		int(c.Param("tau", float64(config.Window)))
	var bank *features.Bank
	var f *Filter
	for i, step := range steps(t, c) {
		z := unitSet(t, step.Matrix(t, "embeddings"), step.Ints(t, "labels"))
		if i == 0 {
			var err error
			if f, err = New(config, Env{Dim: z.Dim(), Classes: classes}); err != nil {
				t.Fatal(err)
			}
			bank = features.NewBank(int(c.Param("capacity", 0)), z.Dim(), classes)
		}
		equal(t, i, "bank before", bank.Len(), int(step.Float(t, "memory_size_before")))
		kept, scores := f.Keep(z, bank)
		nearAll(t, "p_clean", scores, step.Floats(t, "p_clean"), 1e-6, 0)
		equal(t, i, "kept", kept, rowsOf(t, step, "keep"))
		nearBar(t, "threshold", f.Threshold(), step.Float(t, "threshold"), 1e-6)
		bank.Push(z.Rows(kept))
	}
}

func goldenEMA(t *testing.T, c reference.Case) {
	onlyParams(t, c, "weight")
	nearAll(t, "ema", Smooth(c.Param("weight", 0.7), c.Floats(t, "x")), c.Floats(t, "y"), 1e-12, 0)
}

// part returns a sub-object of a case.
func part(t *testing.T, c reference.Case, key string) reference.Case {
	t.Helper()
	sub := reference.Case{Topic: c.Topic, Name: c.Name + "/" + key}
	c.Decode(t, key, &sub.Fields)
	return sub
}

// steps returns the sub-objects of a case with a history.
func steps(t *testing.T, c reference.Case) []reference.Case {
	t.Helper()
	var fields []map[string]json.RawMessage
	c.Decode(t, "steps", &fields)
	list := make([]reference.Case, len(fields))
	for i, f := range fields {
		list[i] = reference.Case{Topic: c.Topic, Name: fmt.Sprintf("%s/step %d", c.Name, i), Fields: f}
	}
	return list
}

// rowsOf turns a list of booleans into the positions that are true.
func rowsOf(t *testing.T, c reference.Case, key string) []int {
	t.Helper()
	var keep []bool
	c.Decode(t, key, &keep)
	rows := []int{}
	for i, k := range keep {
		if k {
			rows = append(rows, i)
		}
	}
	return rows
}

// oldestFirst returns the ids in a bank in the order of arrival.
func oldestFirst(b *features.Bank) []int {
	ids := b.Set().IDs
	if b.Len() == b.Cap() {
		next := b.State().Next
		ids = slices.Concat(ids[next:], ids[:next])
	}
	return slices.Clone(ids)
}

func unitSet(t *testing.T, rows [][]float64, labels []int) features.Set {
	t.Helper()
	z := features.NewSet(len(rows), len(rows[0]))
	for i, row := range rows {
		var norm float64
		for _, x := range row {
			norm += x * x
		}
		for j, x := range row {
			z.Row(i)[j] = float32(x / math.Sqrt(norm))
		}
	}
	copy(z.Labels, labels)
	return z
}

func equal(t *testing.T, step int, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("step %d: %s (-want +got):\n%s", step, what, diff)
	}
}

func near(t *testing.T, what string, got, want, relative, absolute float64) {
	t.Helper()
	if !isNear(got, want, relative, absolute) {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

// nearBar compares thresholds. If ranks decided because the window was empty, the golden threshold may be undefined.
func nearBar(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.IsNaN(want) && math.IsInf(got, -1)) {
		near(t, what, got, want, relative, 0)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, relative, absolute float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, expected %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, fmt.Sprintf("%s[%d]", what, i), got[i], want[i], relative, absolute)
	}
}

func isNear(got, want, relative, absolute float64) bool {
	return got == want || math.Abs(got-want) <= relative*math.Abs(want)+absolute
}
