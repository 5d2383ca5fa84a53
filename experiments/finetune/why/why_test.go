package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/features"
	"winnow/papers/runner"
	"winnow/train"
)

// Two images of a class and one of another; the second has a wrong label. Their vectors turn by right angles.
func TestObserver(t *testing.T) {
	d := &datasets.Dataset{Samples: []datasets.Sample{{True: 0}, {True: 1}, {Label: 1, True: 1}}}
	set := features.NewSet(3, 2)
	set.Labels, set.IDs = []int{0, 0, 1}, []int{0, 1, 2}
	copy(set.X.Data, []float32{1, 0, 1, 0, 0, 1})
	o := &observer{d: d, epoch: 4, set: set, at: make([]int, 3), drift: map[[2]int]mean{}, own: map[int]*copies{},
		out:    map[string][][]string{},
		filter: runner.NewFilter(d, nil, 1), bank: features.NewBank(8, 2, 2)}
	for i := range 3 {
		o.last = append(o.last, set.Row(i))
	}
	o.plan.Config.Filter.Scorer = "vmf"
	o.bank.Push(set)
	z := set.Rows([]int{0, 1, 2})
	copy(z.X.Data, []float32{0, 1, 1, 0, 0, 1})
	o.forward([]int{0, 1, 2}, z)
	dz := features.NewMatrix(3, 2)
	copy(dz.Data, []float32{3, 4, 0, 5, 0, 0})
	o.backward(dz)
	if math.Abs(o.wrong-0.5) > 1e-9 {
		t.Errorf("wrong labels have %v of the gradient, expected half", o.wrong)
	}
	o.filter.Step(1, z.IDs, []int{0, 2}, nil, nil, "vmf")
	out := o.end()
	for name, want := range map[string]string{
		"drift": "1 4 0.6667 3", // one of three turned
		// 3 own among 5 positives, 1 of 2 pulled by; of equally near members the first
		"bank":   "1 3 1 1.667 0.5 0.3333",
		"filter": "1 0 0.6667 0.6667 1 1",
	} {
		lines := out[name]
		if found := strings.Join(lines[len(lines)-1], " "); found != want {
			t.Errorf("%s: found %s, expected %s", name, found, want)
		}
	}
	if o.stepped(train.Step{Number: 2, Pulls: []float64{3, 4}, Pull: 5, IDs: z.IDs}); o.bank.Len() != 3 {
		t.Errorf("%d members, expected 3: nothing was kept", o.bank.Len())
	}
	if l := o.out["pulls"][0]; l[3] != "0" {
		t.Errorf("terms at right angles: %v", l)
	}
}

// The second of three epochs is the best; wrong labels may choose another, right ones never do.
func TestChoices(t *testing.T) {
	d := &datasets.Dataset{}
	set := features.NewSet(40, 2)
	for i := range 40 {
		d.Samples = append(d.Samples, datasets.Sample{True: i / 10})
		set.IDs[i] = i
	}
	c := newChoices(d, set)
	for _, spread := range []int{3, 1, 2} { // number of images, of 4, whose nearest is of the next class
		z := features.NewSet(40, 2)
		for i := range 40 {
			angle := float64(i/10) + 0.01*float64(i%10)
			if i%4 < spread-1 {
				angle = float64(i/10+1) + 0.01*float64(i%10) + 0.001
			}
			z.X.Data[2*i], z.X.Data[2*i+1] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
		c.see(z)
	}
	truth := c.precision(c.set.Labels)
	if !(truth[1] > truth[2] && truth[2] > truth[0] && truth[1] == 1) {
		t.Fatalf("P@1 %v, expected the second best and the first worst", truth)
	}
	table := c.table()
	if got := strings.Join(table[0], " "); got != "0 1 0 0 "+line(1 - truth[2])[0]+" 1" {
		t.Errorf("by true labels: %s", got)
	}
	if labels := c.flipped(0.5, train.Rand(1, "test", 0)); len(labels) != 40 || c.precision(labels)[1] > 0.9 {
		t.Errorf("half of the labels flipped: %v", c.precision(labels))
	}
}

// The page's tables are replaced, and the text around them stays.
func TestPage(t *testing.T) {
	here := t.TempDir()
	if err := os.Mkdir(filepath.Join(here, "why"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := cell{"birds", "half", "default"}
	for name, lines := range map[string][][]string{
		"retrieval": {line(-1, 0.2, 0.3), line(0, 0.25, 0.35), line(1, 0.4, 0.5), line(2, 0.6, 0.45)},
		"filter": {line(0, 0.5, 0.5, 1, 0.5, 1), line(1, 0.5, 0.5, 0.6, 0.7, 0.8),
			line(2, 0.5, 0.5, 0.5, 0.9, 0.95)},
		"pulls": {line(0.5, 1, 2, 0, 0.25)},
		"views": {line(0.9, 0.4, math.NaN(), math.NaN())},
	} {
		if err := write(here, name, c, lines); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(here, "why.md")
	if err := os.WriteFile(path, []byte("before\n<!-- table birds -->\nstale\n<!-- end -->\nafter\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := page(context.Background(), []string{"-here", here}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "| | default | 1.000, .500 | .500 | .600 → .500 | .700 → .900 | " +
		".800 → .950 | .250 | .500, .450 | .600 |  |\n", "after\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "stale") {
		t.Error("the stale table is still there")
	}
	if _, err := os.Stat(filepath.Join(here, "why", "retrieval-half-birds.svg")); err != nil {
		t.Error(err)
	}
}
