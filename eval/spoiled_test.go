package eval

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// altered is a result with other numbers.
type altered struct {
	Result
	Values []Value
}

func (a altered) Shown() []Value { return a.Values }

// MarshalJSON writes the result as JSON.
func (a altered) MarshalJSON() ([]byte, error) { return json.Marshal(a.Result) }

// after changes the results of a metric.
func (s subject) after(f func(in Input, v Value) Value) subject {
	measure := s.measure
	s.measure = func(in Input) (Result, error) {
		got, err := measure(in)
		if err != nil {
			return nil, err
		}
		out := altered{got, nil}
		for _, v := range got.Shown() {
			out.Values = append(out.Values, f(in, v))
		}
		return out, nil
	}
	return s
}

// before changes the inputs of a metric.
func (s subject) before(f func(set features.Set) features.Set) subject {
	measure := s.measure
	s.measure = func(in Input) (Result, error) { return measure(changed(in, f)) }
	return s
}

// copied lets f change a copy.
func copied(f func(set features.Set)) func(features.Set) features.Set {
	return func(set features.Set) features.Set {
		out := set.Rows(allOf(set.Len()))
		f(out)
		return out
	}
}

// Every check detects a metric that is spoiled in the way it looks for.
func TestSpoiledMetricsAreSeen(t *testing.T) {
	spoils := map[string]struct {
		spoil func(subject) subject
		check func(subject) error
	}{
		"names count": {func(s subject) subject {
			return s.after(func(in Input, v Value) Value { v.Value *= 1 + 1e-6*float64(in.Test.Labels[0]); return v })
		}, checkRenaming},
		"rows forgotten": {func(s subject) subject {
			return s.before(func(set features.Set) features.Set { return set.Rows(allOf(max(1, set.Len()-15))) })
		}, checkOrder},
		"coordinates lost": {func(s subject) subject {
			return s.before(copied(func(set features.Set) {
				for i := range set.Len() {
					clear(set.Row(i)[1:])
				}
			}))
		}, checkRotation},
		"unlabelled rows are a class": {func(s subject) subject {
			return s.before(copied(func(set features.Set) {
				for i, label := range set.Labels {
					set.Labels[i] = max(label, 0)
				}
			}))
		}, checkUnlabelled},
		"a little more": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Value *= 1.001; return v })
		}, checkPerfect},
		"always the same": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Value = 1; return v })
		}, checkChance},
		"not adjusted for chance": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Value += 0.1; return v })
		}, checkChance},
		"NaN for one class": {func(s subject) subject {
			return s.after(func(in Input, v Value) Value {
				if classes, _ := classesOf(in.Test.Labels); len(classes) == 1 {
					v.Value = math.NaN()
				}
				return v
			})
		}, checkDegenerate},
		"drawn again": {func(s subject) subject {
			measure, call := s.measure, 0
			s.measure = func(in Input) (Result, error) {
				call++ // the state of its own random source
				in.Test = in.Test.Rows(allOf(in.Test.Len() - call))
				return measure(in)
			}
			return s
		}, checkRepetition},
		"the input changed": {func(s subject) subject {
			return s.after(func(in Input, v Value) Value { in.Test.Labels[0] = 0; in.Test.X.Data[3] = 0; return v })
		}, checkRepetition},
		"upside down": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Value = 1 - v.Value; return v })
		}, checkMonotone},
		"another number": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Value += 1e-6; return v })
		}, checkKeys},
		"another name": {func(s subject) subject {
			return s.after(func(_ Input, v Value) Value { v.Key += "s"; return v })
		}, checkKeys},
	}
	for _, s := range subjects(t) {
		for _, check := range conformChecks { // being wrapped must not fail a check
			if err := check.run(s.after(func(_ Input, v Value) Value { return v })); err != nil {
				t.Errorf("%s: %s: %v", s.entry.Name, check.name, err)
			}
		}
		for name, c := range spoils {
			err := c.check(c.spoil(s))
			if err == nil && !(s.entry.Truth && (name == "always the same" || name == "not adjusted for chance" ||
				name == "upside down")) {
				t.Errorf("%s: %s: not seen", s.entry.Name, name)
			}
		}
	}
}

// Random scores find as many wrong labels as guessing.
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
