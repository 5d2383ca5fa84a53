package losses

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

func TestNewSaysWhatIsWrong(t *testing.T) {
	env := testEnv(8, 4, 1)
	blind := env
	blind.Init, blind.Step = nil, nil
	var names []string
	for _, e := range Catalog {
		names = append(names, e.Name)
	}
	for _, c := range []struct {
		name     string
		settings map[string]any
		env      Env
		want     string
	}{
		{"contrastiv", nil, env, `losses: loss "contrastiv" is unknown (did you mean "contrastive"?): known are ` +
			strings.Join(names, ", ")},
		{"contrastive", map[string]any{"margn": 1, "zzz": 2}, env,
			`losses: contrastive: setting "margn" is unknown (did you mean "margin"?): known are form, margin (λ), eps (ε)`},
		{"contrastive", map[string]any{"margin": 1.5}, env,
			`losses: contrastive: margin: found 1.5, expected a number from -1 to 1`},
		{"contrastive", map[string]any{"margin": math.NaN()}, env,
			`losses: contrastive: margin: found NaN, expected a number from -1 to 1`},
		{"contrastive", map[string]any{"margin": "wide"}, env,
			`losses: contrastive: margin: found wide (string), expected a number from -1 to 1`},
		{"contrastive", map[string]any{"margin": nil}, env,
			`losses: contrastive: margin: found <nil> (<nil>), expected a number from -1 to 1`},
		{"contrastive", map[string]any{"form": "Spec"}, env,
			`losses: contrastive: form: found "Spec", expected spec | code`},
		{"contrastive", map[string]any{"form": 3}, env,
			`losses: contrastive: form: found 3 (int), expected spec | code`},
		{"triplet", map[string]any{"smooth": 1}, env, `losses: triplet: smooth: found 1 (int), expected true or false`},
		{"soft_triple", map[string]any{"centers": 2.5}, env,
			`losses: soft_triple: centers: found 2.5, expected a whole number from 0 to 1000`},
		{"soft_triple", nil, blind,
			`losses: soft_triple: Env.Init is nil, expected a random source for the initial parameters`},
		{"triplet", nil, blind, `losses: triplet: Env.Step is nil, expected a function that returns a random source`},
		{"contrastive", nil, Env{Dim: 0, Classes: 3},
			`losses: contrastive: found 0 dimensions and 3 classes, expected at least one of each`},
	} {
		if _, err := New(c.name, c.settings, c.env); err == nil || err.Error() != c.want {
			t.Errorf("found %v\nexpected %s", err, c.want)
		}
	}
}

// Resolve accepts the number types of all decoders.
func TestResolveTakesNumbersOfAnyType(t *testing.T) {
	var fromJSON map[string]any
	if err := json.Unmarshal([]byte(`{"centers": 3, "la": 10, "tau": 0.5}`), &fromJSON); err != nil {
		t.Fatal(err)
	}
	want := Values{"centers": 3, "la": 10.0, "gamma": 10.0, "margin": 0.01, "tau": 0.5, "init": "normal"}
	for _, given := range []map[string]any{
		fromJSON,
		{"centers": uint64(3), "la": int64(10), "tau": float32(0.5)},
		{"centers": int64(3), "la": uint64(10), "tau": 0.5},
		{"centers": 3, "la": 10, "tau": 0.5},
	} {
		got, err := Resolve("soft_triple", given)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	again, err := Resolve("soft_triple", want) // a run can read the settings that it has written
	if diff := cmp.Diff(want, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestSoftTripleCentresByClasses(t *testing.T) {
	for classes, want := range map[int]int{4: 10, 499: 10, 500: 2} {
		l := mustNew(t, "soft_triple", nil, testEnv(4, classes, 1)).(Proxied)
		if p, k := l.Proxies(); k != want || p.Rows != want*classes || !p.NoDecay || p != l.Params()[0] {
			t.Errorf("%d classes: %d centres and %d rows, expected %d centres", classes, k, p.Rows, want)
		}
	}
}

func TestProxiesAreDrawnFromTheSeed(t *testing.T) {
	draw := func(kind string, seed uint64) []float32 {
		l := mustNew(t, "soft_triple", map[string]any{"init": kind}, testEnv(64, 100, seed)).(Proxied)
		return l.Params()[0].Data
	}
	for kind, deviation := range map[string]float64{"normal": 1, "uniform": 1 / math.Sqrt(3*64)} {
		data := draw(kind, 1)
		if !slices.Equal(data, draw(kind, 1)) || slices.Equal(data, draw(kind, 2)) {
			t.Errorf("%s: equal seeds give different proxies, or different seeds give equal ones", kind)
		}
		var sum, square float64
		for _, v := range data {
			sum += float64(v)
			square += float64(v) * float64(v)
		}
		n := float64(len(data))
		if math.Abs(sum/n) > 5*deviation/math.Sqrt(n) || !near(math.Sqrt(square/n), deviation, 0.02, 0) {
			t.Errorf("%s: mean %v, deviation %v, expected 0 and %v", kind, sum/n, math.Sqrt(square/n), deviation)
		}
	}
}

// A call that violates Eval's contract is a bug in winnow. Eval panics with a message that describes the violation.
func TestEvalPanicsOnShapes(t *testing.T) {
	env := testEnv(8, 4, 1)
	batch := func(n, d, label int) features.Set {
		s := features.NewSet(n, d)
		for i := range s.Labels {
			s.Labels[i] = label
		}
		return s
	}
	good := batch(3, 8, 1)
	other := batch(3, 7, 1)
	short := batch(3, 8, 1)
	short.Labels = short.Labels[:2]
	unlabelled := batch(3, 8, features.Unlabelled)
	small := features.NewMatrix(2, 8)
	for _, c := range []struct {
		loss, want string
		grad       *blas32.General
		z          features.Set
		ref        *features.Set
	}{
		{"contrastive", "the reference has 7 dimensions, expected 8", nil, good, &other},
		{"contrastive", "3 rows with 2 labels", nil, short, nil},
		{"contrastive", "row 0 has label -1", nil, unlabelled, nil},
		{"contrastive", "gradient is 2×8, expected 3×8", &small, good, nil},
		{"soft_triple", "the batch has 7 dimensions, expected 8", nil, other, nil},
		{"soft_triple", "label 9, expected less than 4", nil, batch(1, 8, 9), nil},
		{"soft_triple", "own proxies", nil, good, &good},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "losses: ") ||
					!strings.Contains(said, c.want) {
					t.Errorf("%s: panics with %q, expected %q", c.loss, said, c.want)
				}
			}()
			mustNew(t, c.loss, nil, env).Eval(c.grad, c.z, c.ref)
		}()
	}
}
