package grid

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
	"winnow/run/config"
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
		"lr=2..1":          "expected LOW..HIGH",
		"lr=a..1":          "expected LOW..HIGH",
		"lr=1..2:lin":      "expected LOW..HIGH",
		"lr=NaN..2":        "expected LOW..HIGH",
		"lr=0..1:log":      "expected LOW..HIGH",
		"seed=1,2":         "cannot vary",
		"data.manifest=a":  "cannot vary",
		"set=solver.lr=1,": "cannot vary",
	} {
		if got, err := ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, expected %q", text, got, err, want)
		}
	}
}

// sweepOf returns a sweep with these values of --vary.
func sweepOf(t *testing.T, o SweepOptions, vary ...string) (*Sweep, error) {
	t.Helper()
	for _, text := range vary {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Axes = append(o.Axes, a)
	}
	if o.Asked == nil {
		o.Asked = config.Asked{"manifest": {"m.csv"}, "features": {"f"}}
	}
	if o.Seeds == nil {
		o.Seeds = []uint64{1, 2}
	}
	o.Dir = "out"
	return NewSweep(o)
}

// The grid has every combination of values for each seed, each with its own settings, name and command.
func TestGrid(t *testing.T) {
	s, err := sweepOf(t, SweepOptions{}, "lr=1e-3,1e-2", "loss=triplet,contrastive+contrastive:bank")
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
}

// The first draws do not depend on the number of draws. Draws are within their ranges, and integers if the setting
// takes only integers.
func TestDraws(t *testing.T) {
	vary := []string{"lr=1e-5..1e-2:log", "solver.weight_decay=0..0.5", "dim=16..64", "filter=vmf,none"}
	few, err := sweepOf(t, SweepOptions{Draws: 5, Seed: 7}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	many, err := sweepOf(t, SweepOptions{Draws: 200, Seed: 7}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sweepOf(t, SweepOptions{Draws: 5, Seed: 8}, vary...)
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
	if below < 70 || below > 130 { // expect about half; a uniform draw would have almost none
		t.Errorf("%d of 200 draws are below the middle of the logarithmic range", below)
	}
}

// Errors in the flags are found before any data are read.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		o    SweepOptions
		vary []string
		want string
	}{
		{SweepOptions{}, nil, "--vary: expected KEY="},
		{SweepOptions{}, []string{"solver.l=1,2"}, "unknown key solver.l"},
		{SweepOptions{}, []string{"lr=1e-3,abc"}, "--vary: lr=abc"},
		{SweepOptions{}, []string{"filter=vmf,nix"}, "--vary: filter=nix"},
		{SweepOptions{}, []string{"lr=1..2"}, "expected a number of draws"},
		{SweepOptions{}, []string{"lr=1,2", "lr=3"}, "found lr twice"},
		{SweepOptions{}, []string{"losses.7.weight=1,2"}, "losses has 2 entries"},
		{SweepOptions{Asked: config.Asked{"manifest": {"m"}, "features": {"f"}, "lr": {"1"}}}, []string{"lr=1,2"},
			"--lr gives it"},
		{SweepOptions{Asked: config.Asked{"manifest": {"m"}, "features": {"f"}, "lr": {"1"}}},
			[]string{"solver.lr=1,2"}, "are the same settings"},
		{SweepOptions{Asked: config.Asked{"manifest": {"m"}, "features": {"f"}, "model": {"x"}}}, []string{"lr=1,2"},
			"--model is the backbone"},
		{SweepOptions{Asked: config.Asked{"features": {"f"}}}, []string{"lr=1,2"}, "--manifest is missing"},
		{SweepOptions{Asked: config.Asked{"manifest": {"m"}, "features": {"f"}, "epochs": {"x"}}}, []string{"lr=1,2"},
			"--epochs: found"},
		{SweepOptions{Draws: 3}, []string{"filter=vmf,none"}, "only 2 different points"},
		{SweepOptions{Draws: -1}, []string{"lr=1..2"}, "--draws: found -1"},
		{SweepOptions{Seeds: []uint64{1, 2}}, []string{"lr=" + hundred(), "clip=" + hundred()}, "at most 10000"},
	} {
		if _, err := sweepOf(t, c.o, c.vary...); !errors.As(err, new(hint.Misuse)) ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q", c.vary, err, c.want)
		}
	}
}

// hundred returns the numbers from 1 to 100, separated by commas.
func hundred() string {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprint(i+1))
	}
	return strings.Join(list, ",")
}

// Without a validation split, each training holds out a tenth of the images, drawn by its seed, and its command
// contains this share. A given share is kept. If no image can be held out, the sweep returns an error.
func TestHoldOut(t *testing.T) {
	sweep := func(images int, set ...string) (*Sweep, error) {
		asked := config.Asked{"manifest": {"m.csv"}, "features": {"f"}}
		if len(set) > 0 {
			asked["set"] = set
		}
		s, err := sweepOf(t, SweepOptions{Asked: asked}, "lr=1e-4,1e-2")
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
		if c.cfg.Validation.HoldOut != 0.1 {
			t.Errorf("%v held out", c.cfg.Validation.HoldOut)
		}
	}
	if s, err = sweep(10, "validation.hold_out=0.2"); err != nil || s.cells[0].cfg.Validation.HoldOut != 0.2 ||
		!strings.Contains(s.heldOut, "120 images") {
		t.Error(s.heldOut, err)
	}
	for images, set := range map[int][]string{10: {"validation.hold_out=0"},
		11: {"validation.measure=nearest-class-mean"}, 2: nil} {
		if _, err := sweep(images, set...); err == nil || !strings.Contains(err.Error(), "fewer than 50 to hold") {
			t.Errorf("%d images a class, %v: %v", images, set, err)
		}
	}
}
