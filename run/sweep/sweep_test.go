package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/run/settings"
)

func TestParseAxis(t *testing.T) {
	for text, want := range map[string]Axis{
		"lr=1e-3, 0.01":         {Key: "lr", Values: []string{"0.001", "0.01"}},
		"loss=triplet":          {Key: "loss", Values: []string{"triplet"}},
		"dim=32,64":             {Key: "dim", Values: []string{"32", "64"}},
		"lr=1e-5..1e-2:log":     {Key: "lr", Range: &Range{Low: 1e-5, High: 1e-2, Log: true}},
		"correct.after=1 epoch": {Key: "correct.after", Values: []string{"1 epoch"}},
		"noise-rate=-1..2":      {Key: "noise-rate", Range: &Range{Low: -1, High: 2}},
	} {
		got, err := ParseAxis(text)
		if err != nil || got.Key != want.Key || !slices.Equal(got.Values, want.Values) ||
			fmt.Sprint(got.Range) != fmt.Sprint(want.Range) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                 "expected KEY=VALUE",
		"lr":               "expected KEY=VALUE",
		"=1":               "expected KEY=VALUE",
		"lr=":              "empty value",
		"lr=1,,2":          "empty value",
		"lr=1e-3,0.001":    "found 0.001 twice",
		"lr=2..1":          "is empty",
		"lr=1..1":          "is empty",
		"lr=a..1":          "expected LOW..HIGH",
		"lr=1..2:lin":      "expected LOW..HIGH",
		"lr=1..Inf":        "expected LOW..HIGH",
		"lr=NaN..2":        "is empty",
		"lr=0..1:log":      "above 0",
		"seed=1,2":         "a sweep has a list of seeds",
		"manifest=a,b":     "cannot be compared",
		"data.manifest=a":  "cannot be compared",
		"set=solver.lr=1,": "name the setting itself",
	} {
		if got, err := ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, expected %q", text, got, err, want)
		}
	}
}

// sweepOf returns a sweep of --vary flags.
func sweepOf(t *testing.T, o Options, vary ...string) (*Sweep, error) {
	t.Helper()
	for _, text := range vary {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Axes = append(o.Axes, a)
	}
	if o.Asked == nil {
		o.Asked = settings.Asked{"manifest": {"m.csv"}, "features": {"f"}}
	}
	if o.Seeds == nil {
		o.Seeds = []uint64{1, 2}
	}
	o.Dir = "out"
	return New(o)
}

// The grid has every combination, seed by seed, each with its own settings, name and command.
func TestGrid(t *testing.T) {
	s, err := sweepOf(t, Options{}, "lr=1e-3,1e-2", "loss=triplet,contrastive+contrastive:bank")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range s.cells {
		names = append(names, c.name)
		if c.cfg.Seed != c.seed || fmt.Sprint(c.cfg.Solver.LR) != s.Points[c.point][0] {
			t.Errorf("%s: seed %d, lr %v", c.name, c.cfg.Seed, c.cfg.Solver.LR)
		}
	}
	if len(names) != 8 || names[0] != "lr=0.001_loss=triplet_seed=1" || names[3] == names[7] ||
		!strings.HasPrefix(names[3], "lr=0.01_loss=contrastive+contrastive-bank-") ||
		!strings.HasSuffix(names[7], "_seed=2") {
		t.Errorf("%q", names)
	}
	if got := s.cells[3].asked.Command("best"); got != "winnow train --manifest m.csv --features f --loss "+
		"contrastive --loss contrastive:bank --lr 0.01 --seed 1 --out best" {
		t.Error(got)
	}
}

// The first draws do not depend on their number; draws are within their ranges, and integers if the setting takes only
// these.
func TestDraws(t *testing.T) {
	vary := []string{"lr=1e-5..1e-2:log", "solver.weight_decay=0..0.5", "dim=16..64", "filter=vmf,none"}
	few, err := sweepOf(t, Options{Draws: 5, Seed: 7}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	many, err := sweepOf(t, Options{Draws: 200, Seed: 7}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sweepOf(t, Options{Draws: 5, Seed: 8}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	below := 0
	for i, p := range many.Points {
		if i < 5 && (!slices.Equal(p, few.Points[i]) || slices.Equal(p, other.Points[i])) {
			t.Errorf("point %d: %v, %v, by another seed %v", i, p, few.Points[i], other.Points[i])
		}
		for k, within := range [][2]float64{{1e-5, 1e-2}, {0, 0.5}, {16, 64}} {
			if v, err := strconv.ParseFloat(p[k], 64); err != nil || v < within[0] || v > within[1] || k == 2 &&
				v != math.Round(v) {
				t.Errorf("%v", p)
			}
		}
		if v, _ := strconv.ParseFloat(p[0], 64); v < math.Sqrt(1e-5*1e-2) {
			below++
		}
	}
	if below < 70 || below > 130 { // half of them, were they drawn evenly all would be above
		t.Errorf("%d of 200 below the middle of the logarithm", below)
	}
}

// Errors that need no data are found before anything is read.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		o    Options
		vary []string
		want string
	}{
		{Options{}, nil, "vary: expected KEY="},
		{Options{}, []string{"lrr=1,2"}, `did you mean "lr"?`},
		{Options{}, []string{"solver.l=1,2"}, `did you mean "solver.lr"?`},
		{Options{}, []string{"lr=1e-3,abc"}, "vary: lr=abc"},
		{Options{}, []string{"filter=vmf,nix"}, "vary: filter=nix"},
		{Options{}, []string{"lr=1..2"}, "expected a number of draws"},
		{Options{}, []string{"lr=1,2", "lr=3"}, "found lr twice"},
		{Options{}, []string{"losses.7.weight=1,2"}, "losses has 2 entries"},
		{Options{Asked: settings.Asked{"manifest": {"m"}, "features": {"f"}, "lr": {"1"}}}, []string{"lr=1,2"},
			"--lr gives it"},
		{Options{Asked: settings.Asked{"manifest": {"m"}, "features": {"f"}, "lr": {"1"}}}, []string{"solver.lr=1,2"},
			"are the same settings"},
		{Options{Asked: settings.Asked{"manifest": {"m"}, "features": {"f"}, "model": {"x"}}}, []string{"lr=1,2"},
			"data.model is the backbone"},
		{Options{Asked: settings.Asked{"features": {"f"}}}, []string{"lr=1,2"}, "data.manifest is missing"},
		{Options{Asked: settings.Asked{"manifest": {"m"}, "features": {"f"}, "epochs": {"x"}}}, []string{"lr=1,2"},
			"--epochs: found"},
		{Options{Draws: 3}, []string{"filter=vmf,none"}, "only 2 different points"},
		{Options{Draws: -1}, []string{"lr=1..2"}, "draws: found -1"},
		{Options{Seeds: []uint64{1, 2}}, []string{"lr=" + hundred(), "clip=" + hundred()}, "at most 10000"},
	} {
		if _, err := sweepOf(t, c.o, c.vary...); !errors.As(err, new(hint.Misuse)) ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q", c.vary, err, c.want)
		}
	}
}

// hundred lists the numbers from 1 to 100.
func hundred() string {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprint(i+1))
	}
	return strings.Join(list, ",")
}

// Without a validation split each training holds out a tenth, by its seed, and its command says so. A given share
// stays, and if nothing can be held out the sweep is refused.
func TestHoldOut(t *testing.T) {
	sweep := func(images int, set ...string) (*Sweep, error) {
		asked := settings.Asked{"manifest": {"m.csv"}, "features": {"f"}}
		if len(set) > 0 {
			asked["set"] = set
		}
		s, err := sweepOf(t, Options{Asked: asked}, "lr=1e-4,1e-2")
		if err != nil {
			t.Fatal(err)
		}
		s.Host.Note = func(string, ...any) {}
		s.data = &datasets.Dataset{}
		for class := range 60 {
			s.data.Classes = append(s.data.Classes, fmt.Sprint(class))
			for range images {
				s.data.Samples = append(s.data.Samples, datasets.Sample{Label: class, True: class,
					Split: datasets.Train})
			}
		}
		return s, s.holdOut()
	}
	s, err := sweep(10)
	if err != nil || !strings.Contains(s.heldOut, "6 of 60 classes, 60 images") {
		t.Fatal(s.heldOut, err)
	}
	for _, c := range s.cells {
		if again := c.asked.Command("best"); c.cfg.Validation.HoldOut != 0.1 ||
			!strings.Contains(again, "validation.hold_out=0.1") {
			t.Errorf("%v held out, again by %s", c.cfg.Validation.HoldOut, again)
		}
	}
	if s, err = sweep(10, "validation.hold_out=0.2"); err != nil || s.cells[0].cfg.Validation.HoldOut != 0.2 ||
		!strings.Contains(s.heldOut, "120 images") {
		t.Error(s.heldOut, err)
	}
	for images, set := range map[int][]string{10: {"validation.hold_out=0"},
		11: {"validation.measure=nearest-class-mean"}, 2: nil} {
		if _, err := sweep(images, set...); err == nil || !strings.Contains(err.Error(), "none to hold out by") {
			t.Errorf("%d images a class, %v: %v", images, set, err)
		}
	}
}

// Settings that follow from what is varied are told, unless they are given or varied themselves.
func TestOthers(t *testing.T) {
	vary := func(key string, values ...string) Axis { return Axis{Key: key, Values: values} }
	for _, c := range []struct {
		axes []Axis
		want string
	}{
		{[]Axis{vary("filter", "none", "vmf")}, "[screen (none, combined)]"},
		{[]Axis{vary("filter", "none", "vmf"), vary("screen", "none", "fitted")}, "[]"},
		{[]Axis{vary("filter", "avgsim", "vmf")}, "[]"},
		{[]Axis{vary("lr", "1e-3", "0.01")}, "[]"},
	} {
		s, err := New(Options{Axes: c.axes, Seeds: []uint64{1}, Dir: "d", Asked: settings.Asked{
			"manifest": {"m.csv"}, "features": {"f"}, "noise-rate": {"0.2"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.listOtherSettings()); got != c.want {
			t.Errorf("%v also changes %s, expected %s", c.axes, got, c.want)
		}
	}
}
