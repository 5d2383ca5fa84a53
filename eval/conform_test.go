package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// subject is a metric with a function to measure it. Every metric of the catalog must pass the checks below.
type subject struct {
	entry   Entry
	measure func(in Input) (Result, error)
}

// subjects returns the metrics of the catalog with their defaults. Only a probe is fitted to a smaller tolerance,
// because rounding affects where its fit stops.
func subjects(t testing.TB) []subject {
	var list []subject
	for _, e := range Catalog {
		given := map[string]string{}
		if e.Name == probeEntry.Name {
			given["tolerance"] = "1e-5"
		}
		v, err := e.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		s := subject{e, func(in Input) (Result, error) { return e.Measure(context.Background(), in, v) }}
		if e.Measure == nil {
			s.measure = detects
		}
		list = append(list, s)
	}
	return list
}

// detects is a simple detector for Test: it scores a label by the distance to the nearest row of Train with that label.
// The truth is the cluster of the row. It is not optimal if Train has wrong labels.
func detects(in Input) (Result, error) {
	z, fit := keepLabelled(in.Test), keepLabelled(*in.Train)
	truth, err := FitClassMeans(fit).Predict(context.Background(), z.X, 0)
	if err != nil {
		return nil, err
	}
	scores, wrong, rate := make([]float64, z.Len()), make([]bool, z.Len()), 0.0
	for i, label := range z.Labels {
		scores[i] = -1
		for j, other := range fit.Labels {
			if other == label {
				scores[i] = max(scores[i], float64(blas32.Dot(vector(z.Row(i)), vector(fit.Row(j)))))
			}
		}
		if wrong[i] = truth[i] != label; wrong[i] {
			rate += 1 / float64(len(wrong))
		}
	}
	return Detect(scores, wrong, keepShare(scores, rate+1e-9))
}

func vector(row []float32) blas32.Vector { return blas32.Vector{N: len(row), Inc: 1, Data: row} }

const (
	conformDim     = 16
	conformClasses = 7
)

// conformInput returns rows of separate clusters, for testing and for fitting. wrong and fitWrong are the shares of
// them with the label of another cluster.
func conformInput(seed uint64, n int, wrong, fitWrong float64) Input {
	rng := rand.New(rand.NewPCG(seed, 31))
	all := blobs(seed, 2*n, conformDim, conformClasses, 0.15)
	var first, second []int
	for i := range all.Len() {
		if i < n {
			first = append(first, i)
		} else {
			second = append(second, i)
		}
	}
	train, test := all.Rows(first), all.Rows(second)
	for i := range test.Labels {
		if rng.Float64() < wrong {
			test.Labels[i] = (test.Labels[i] + 1 + rng.IntN(conformClasses-1)) % conformClasses
		}
		if rng.Float64() < fitWrong {
			train.Labels[i] = (train.Labels[i] + 1 + rng.IntN(conformClasses-1)) % conformClasses
		}
	}
	return Input{Test: test, Train: &train, Seed: seed}
}

// changed returns a copy of in with f applied to every set.
func changed(in Input, f func(features.Set) features.Set) Input {
	in.Test = f(in.Test)
	for _, set := range []**features.Set{&in.Gallery, &in.Train} {
		if *set != nil {
			s := f(**set)
			*set = &s
		}
	}
	return in
}

// withGallery uses half of the rows as queries and the other half as the gallery.
func withGallery(in Input) Input {
	n := in.Test.Len() / 2
	gallery := in.Test.Rows(allOf(n))
	rest := []int{}
	for i := n; i < in.Test.Len(); i++ {
		rest = append(rest, i)
	}
	in.Test, in.Gallery = in.Test.Rows(rest), &gallery
	return in
}

// sameAs compares the numbers of two results.
func sameAs(a, b Result, tolerance float64) error {
	x, y := a.Shown(), b.Shown()
	if len(x) != len(y) {
		return fmt.Errorf("%d numbers, then %d", len(x), len(y))
	}
	for i := range x {
		if !(math.Abs(x[i].Value-y[i].Value) <= tolerance) {
			return fmt.Errorf("%s is %v, then %v", x[i].Key, x[i].Value, y[i].Value)
		}
	}
	return nil
}

// unchanged checks that a change of the input has no effect on the result.
func (s subject) unchanged(tolerance float64, change func(Input) Input) error {
	for seed := range uint64(3) {
		in := conformInput(seed, 40*conformClasses, 0.3, 0.05)
		for _, in := range []Input{in, withGallery(in)} {
			before, err := s.measure(in)
			if err != nil {
				return err
			}
			after, err := s.measure(change(in))
			if err != nil {
				return err
			}
			if err := sameAs(before, after, tolerance); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
	}
	return nil
}

// roundings is the largest effect on MAP@R of a few similarities whose order changes in float32.
const roundings = 5e-5

func checkRenaming(s subject) error {
	names := rand.New(rand.NewPCG(5, 5)).Perm(3 * conformClasses)
	return s.unchanged(0, func(in Input) Input {
		return changed(in, func(set features.Set) features.Set {
			out := set.Rows(allOf(set.Len()))
			for i, label := range out.Labels {
				out.Labels[i] = names[label]
			}
			return out
		})
	})
}

func checkOrder(s subject) error {
	rng := rand.New(rand.NewPCG(6, 6))
	return s.unchanged(roundings, func(in Input) Input {
		return changed(in, func(set features.Set) features.Set { return set.Rows(rng.Perm(set.Len())) })
	})
}

func checkRotation(s subject) error {
	turn := rotation(rand.New(rand.NewPCG(7, 7)), conformDim)
	return s.unchanged(roundings, func(in Input) Input {
		return changed(in, func(set features.Set) features.Set {
			return features.Set{X: rotated(set.X, turn), Labels: set.Labels, IDs: set.IDs}
		})
	})
}

// rotation draws a random orthogonal matrix by the Gram-Schmidt process.
func rotation(rng *rand.Rand, d int) [][]float64 {
	var out [][]float64
	for len(out) < d {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for range 2 {
			for _, o := range out {
				dot := 0.0
				for j := range row {
					dot += row[j] * o[j]
				}
				for j := range row {
					row[j] -= dot * o[j]
				}
			}
		}
		norm := 0.0
		for _, v := range row {
			norm += v * v
		}
		for j := range row {
			row[j] /= math.Sqrt(norm)
		}
		out = append(out, row)
	}
	return out
}

func rotated(x blas32.General, turn [][]float64) blas32.General {
	out := features.NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		for j := range turn {
			sum := 0.0
			for k, v := range features.Row(x, i) {
				sum += turn[j][k] * float64(v)
			}
			features.Row(out, i)[j] = float32(sum)
		}
	}
	return out
}

// checkUnlabelled checks that rows without a label are ignored, whatever they contain.
func checkUnlabelled(s subject) error {
	return s.unchanged(1e-12, func(in Input) Input {
		return changed(in, func(set features.Set) features.Set {
			more := features.NewSet(set.Len()+9, set.Dim())
			copy(more.X.Data[9*set.Dim():], set.X.Data)
			copy(more.Labels[9:], set.Labels)
			for i := range 9 {
				copy(more.Row(i), set.Row(5*i+3))
				more.Labels[i] = features.Unlabelled
			}
			return more
		})
	})
}

// checkPerfect checks that every number is 1 if clusters and labels agree.
func checkPerfect(s subject) error {
	for seed := range uint64(3) {
		in := conformInput(seed, 30*conformClasses, 0, 0)
		if s.entry.Truth { // detection needs wrong labels
			in = conformInput(seed, 30*conformClasses, 0.2, 0)
		}
		got, err := s.measure(in)
		if err != nil {
			return err
		}
		for _, v := range got.Shown() {
			if strings.HasSuffix(v.Key, "_percent") { // the budget is too small, see TestRecallAtBudget
				continue
			}
			if !(math.Abs(v.Value-1) < 1e-9) {
				return fmt.Errorf("seed %d: %s is %v, expected 1", seed, v.Key, v.Value)
			}
		}
	}
	return nil
}

// checkChance checks that labels unrelated to the vectors give the result of guessing.
func checkChance(s subject) error {
	if s.entry.Truth {
		return nil // here the truth depends on the vectors: see TestDetectionByChance
	}
	const n, c = 100 * conformClasses, float64(conformClasses)
	for seed := range uint64(3) {
		in := conformInput(seed, n, 0, 0)
		rng := rand.New(rand.NewPCG(seed, 8))
		for i := range n {
			in.Test.Labels[i] = i % conformClasses
			in.Train.Labels[i] = i % conformClasses
		}
		for _, set := range []features.Set{in.Test, *in.Train} {
			for i := range set.X.Data {
				set.X.Data[i] = float32(rng.NormFloat64())
			}
			if err := features.Normalize(set.X); err != nil {
				return err
			}
		}
		got, err := s.measure(in)
		if err != nil {
			return err
		}
		for _, v := range got.Shown() {
			want, band := 1/c, 0.07
			switch v.Key {
			case "recall@2", "recall@4", "recall@8", "recall@16", "recall@32":
				var k float64
				if _, err := fmt.Sscanf(v.Key, "recall@%g", &k); err != nil {
					return err
				}
				want = 1 - math.Pow(1-1/c, k)
			case "map_at_r":
				want, band = 1/(c*c), 0.03
			case "nmi_arithmetic", "nmi_geometric":
				want, band = 0, 0.05
			case "ami", "ari":
				want, band = 0, 0.015
			case "fit_accuracy":
				want, band = 0.4, 0.2 // a classifier partly memorises even random labels
			}
			if !(math.Abs(v.Value-want) <= band) {
				return fmt.Errorf("seed %d: %s is %v, expected about %v", seed, v.Key, v.Value, want)
			}
		}
	}
	return nil
}

// checkDegenerate checks that for tiny or uniform inputs, numbers stay in their range or an error reports that the
// metric cannot be measured.
func checkDegenerate(s subject) error {
	base := conformInput(1, 6*conformClasses, 0.3, 0.05)
	labels := func(f func(i int) int) Input {
		return changed(base, func(set features.Set) features.Set {
			out := set.Rows(allOf(set.Len()))
			for i := range out.Labels {
				out.Labels[i] = f(i)
			}
			return out
		})
	}
	rows := func(list ...int) Input {
		return changed(base, func(set features.Set) features.Set { return set.Rows(list) })
	}
	for name, in := range map[string]Input{
		"one class":         labels(func(int) int { return 3 }),
		"all distinct":      labels(func(i int) int { return i }),
		"one row":           rows(4),
		"two equal rows":    rows(4, 4),
		"all rows the same": rows(2, 2, 2, 2, 2, 2, 2),
		"duplicates":        rows(1, 2, 3, 1, 2, 3, 9, 9, 16),
	} {
		got, err := s.measure(in)
		if errors.Is(err, ErrNoSharedClass) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, v := range got.Shown() {
			least := 0.0
			if v.Key == "ami" || v.Key == "ari" {
				least = -1
			}
			if !(v.Value >= least && v.Value <= 1+1e-9) {
				return fmt.Errorf("%s: %s is %v", name, v.Key, v.Value)
			}
		}
		if _, err := json.Marshal(got); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkRepetition checks that a second measurement gives the same bits and does not change vectors or labels.
func checkRepetition(s subject) error {
	in := conformInput(2, 20*conformClasses, 0.3, 0.05)
	was := changed(in, func(set features.Set) features.Set { return set.Rows(allOf(set.Len())) })
	first, err := s.measure(in)
	if err != nil {
		return err
	}
	second, err := s.measure(in)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(first, second); diff != "" {
		return fmt.Errorf("second measurement differs:\n%s", diff)
	}
	if diff := cmp.Diff(was, in); diff != "" {
		return fmt.Errorf("the input was changed:\n%s", diff)
	}
	return nil
}

// checkMonotone checks that more wrong labels give a worse result, except for the detection of wrong labels.
func checkMonotone(s subject) error {
	if s.entry.Truth {
		return nil
	}
	var before Result
	for _, wrong := range []float64{0, 0.15, 0.4} {
		got, err := s.measure(conformInput(3, 60*conformClasses, wrong, 0.05))
		if err != nil {
			return err
		}
		if before != nil {
			for i, v := range got.Shown() {
				saturated := v.Key == "fit_accuracy" || v.Key == "recall@32" || v.Key == "recall@16"
				if old := before.Shown()[i].Value; !(v.Value < old) && !saturated {
					return fmt.Errorf("%v of the labels wrong: %s is %v, with fewer %v", wrong, v.Key, v.Value, old)
				}
			}
		}
		before = got
	}
	return nil
}

// checkKeys checks that the shown numbers match the entry's list and the JSON.
func checkKeys(s subject) error {
	got, err := s.measure(conformInput(4, 10*conformClasses, 0.3, 0.05))
	if err != nil {
		return err
	}
	data, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	listed := map[string]string{}
	for _, n := range s.entry.Numbers {
		listed[n.Key] = n.Label
	}
	for _, v := range got.Shown() {
		var k int
		value, ok := fields[v.Key].(float64)
		if n, _ := fmt.Sscanf(v.Key, "recall@%d", &k); n == 1 && s.entry.Name == "retrieval" {
			value, ok = fields["recall"].(map[string]any)[fmt.Sprint(k)].(float64)
		} else if listed[v.Key] != v.Label {
			return fmt.Errorf("%s is shown as %q, listed as %q", v.Key, v.Label, listed[v.Key])
		}
		if !ok || math.Abs(value-v.Value) > 1e-12 {
			return fmt.Errorf("%s is shown as %v, in JSON it is %v", v.Key, v.Value, value)
		}
	}
	return nil
}

var conformChecks = []struct {
	name string
	run  func(subject) error
}{
	{"renaming", checkRenaming},
	{"order", checkOrder},
	{"rotation", checkRotation},
	{"unlabelled rows", checkUnlabelled},
	{"perfect", checkPerfect},
	{"chance", checkChance},
	{"degenerate", checkDegenerate},
	{"repetition", checkRepetition},
	{"monotone", checkMonotone},
	{"keys", checkKeys},
}

func TestConformance(t *testing.T) {
	for _, s := range subjects(t) {
		for _, check := range conformChecks {
			t.Run(s.entry.Name+"/"+check.name, func(t *testing.T) {
				if err := check.run(s); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Random scores detect wrong labels no better than guessing.
func TestDetectionByChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	const n = 20000
	scores, wrong, kept := make([]float64, n), make([]bool, n), make([]bool, n)
	for i := range scores {
		scores[i], wrong[i], kept[i] = rng.Float64(), rng.Float64() < 0.3, rng.Float64() < 0.6
	}
	d, err := Detect(scores, wrong, kept)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"auroc": 0.5, "ap": 0.3, "precision": 0.3, "recall": 0.4, "f1": 2 * 0.3 * 0.4 / 0.7,
		"filter_accuracy": 0.7, "keep_recall": 0.6,
		"recall_at_1_percent": 0.01, "recall_at_5_percent": 0.05, "recall_at_wrong": 0.3}
	for _, v := range d.Shown() {
		if math.Abs(v.Value-want[v.Key]) > 0.02 {
			t.Errorf("%s is %v, expected about %v", v.Key, v.Value, want[v.Key])
		}
	}
}
