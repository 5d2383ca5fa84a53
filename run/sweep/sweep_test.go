package sweep

import (
	"bytes"
	"encoding/json"
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
		"hidden=32,16;64":       {Key: "hidden", Values: []string{"32,16", "64"}},
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

// filled returns the results of a sweep of two settings over that many seeds: the second is better by .02, .03, .02,
// .03, ….
func filled(t *testing.T, seeds int) *Results {
	t.Helper()
	o := Options{Asked: settings.Asked{"manifest": {"m.csv"}, "features": {"f"}}}
	for i := range seeds {
		o.Seeds = append(o.Seeds, uint64(i+1))
	}
	s, err := sweepOf(t, o, "lr=1e-4,1e-2")
	if err != nil {
		t.Fatal(err)
	}
	s.held = "test"
	r := newResults(s)
	for _, c := range s.cells {
		v := .5 + .02*float64(c.seed) + float64(c.point)*(.02+.01*float64((c.seed+1)%2))
		test := v - .1
		r.add(c, Outcome{Seed: c.seed, Validation: v, Frozen: .3, Whitened: .4, Test: &test, Steps: 10,
			Curve: Curve{X: []float64{0, 1}, Y: []float64{.4, v}}})
	}
	return r
}

// Comparisons are paired: differences among seeds do not hide one between settings. One seed has no p-value.
func TestResults(t *testing.T) {
	for seeds, tested := range map[int]bool{1: false, 2: true, 4: true, 5: true} {
		r := filled(t, seeds)
		point, best, ok := r.best()
		d := r.Points[1].Against
		if !ok || point != 1 || best.Seed != uint64(seeds) || d.N != seeds || !(d.Mean > .0199 && d.Mean < .0251) ||
			r.tests() != tested || math.IsNaN(d.Low) != (seeds < 2) {
			t.Errorf("%d seeds: %d %v %+v", seeds, point, best.Seed, d)
		}
		var text, page, table, js bytes.Buffer
		for _, err := range []error{r.Text(&text), r.page().WriteHTML(&page), r.csv(&table), r.JSON(&js)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !json.Valid(js.Bytes()) || strings.Count(table.String(), "\n") != 1+2*seeds {
			t.Errorf("%s\n%s", js.String(), table.String())
		}
		for _, s := range []string{text.String(), page.String()} {
			if !strings.Contains(s, "Best by validation: lr=0.01") || strings.Contains(s, "p (Holm)") != tested ||
				strings.Contains(s, "one seed cannot show") != (seeds == 1) {
				t.Errorf("%d seeds: %s", seeds, s)
			}
		}
		if !strings.Contains(page.String(), "<svg") ||
			!strings.Contains(text.String(), "winnow train --manifest m.csv --features f --lr 0.01 --seed") {
			t.Errorf("%s", text.String())
		}
	}
}

// A setting with missing seeds is not chosen, however good its others are, and failures are named.
func TestResultsWithGaps(t *testing.T) {
	r := filled(t, 3)
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Point == 1 && c.Seed == 2 {
			c.Outcome, c.Failed = nil, "lr=0.01, seed 2: loss is NaN"
		}
	}
	r.sumUp()
	point, _, ok := r.best()
	if d := r.Points[1].Against; !ok || point != 0 || d.N != 2 || math.Abs(d.Mean-.02) > 1e-12 {
		t.Errorf("%d %+v", point, d)
	}
	var text bytes.Buffer
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "Failed: lr=0.01, seed 2: loss is NaN") {
		t.Error(err, text.String())
	}
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Outcome != nil {
			c.Outcome.BestStep = 10 * c.Point
		}
	}
	if got := strings.Join(r.cautions(), "\n"); !strings.Contains(got, "In 1 of 2 settings no training found a "+
		"better state") {
		t.Error(got)
	}
	r.Held = ""
	if got := strings.Join(r.cautions(), "\n"); !strings.Contains(got, "no test split") {
		t.Error(got)
	}
	for i := range r.Cells {
		r.Cells[i].Outcome = nil
	}
	r.sumUp()
	if _, _, ok := r.best(); ok {
		t.Error("something is best where nothing is done")
	}
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "No training is done") {
		t.Error(err, text.String())
	}
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
		if got := fmt.Sprint(s.others()); got != c.want {
			t.Errorf("%v also changes %s, expected %s", c.axes, got, c.want)
		}
	}
}
