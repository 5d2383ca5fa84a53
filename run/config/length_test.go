package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
)

func TestLengthByImages(t *testing.T) {
	tuned := []string{"finetune.weights=all"}
	for name, c := range map[string]struct {
		settings                []string
		images                  int
		length, every, patience string
	}{
		"few images":       {tuned, 100, "20 epochs", "1 epochs", "120"},
		"some":             {tuned, 3000, "20 epochs", "1 epochs", "4"},
		"many":             {tuned, 60_000, "3 epochs", "0.16666666666666666 epochs", "4"},
		"very many":        {tuned, 1_000_000, "2 epochs", "0.01 epochs", "4"},
		"none":             {tuned, 0, "20 epochs", "1 epochs", "12000"},
		"given":            {append(tuned, "length=7 epochs"), 60_000, "7 epochs", "1 epochs", "0"},
		"steps":            {append(tuned, "length=7 steps"), 60_000, "7 steps", "1 epochs", "0"},
		"asked for":        {[]string{"length=auto"}, 3000, "20 epochs", "1 epochs", "4"},
		"own patience":     {append(tuned, "validation.patience=2"), 3000, "20 epochs", "1 epochs", "2"},
		"own validation":   {append(tuned, "validation.every=2 epochs"), 60_000, "3 epochs", "2 epochs", "4"},
		"in steps":         {append(tuned, "validation.every=10 steps"), 60_000, "3 epochs", "10 steps", "4"},
		"a head":           {nil, 60_000, "20 epochs", "1 epochs", "0"},
		"another method":   {append(tuned, "method=co-teaching"), 3000, "20 epochs", "1 epochs", "0"},
		"frozen, by words": {[]string{"finetune.weights=none"}, 3000, "20 epochs", "1 epochs", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := config.Parse("", nil, c.settings)
			if err != nil {
				t.Fatal(err)
			}
			run.ResolveLength(c.images)
			flat := config.Flatten(run)
			found := []string{flat["length"], flat["validation.every"], flat["validation.patience"]}
			if diff := cmp.Diff([]string{c.length, c.every, c.patience}, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without a validation split, the automatic length is shorter, unless the network is untrained.
func TestLengthWithoutValidation(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		drawn    bool
		images   int
		want     string
	}{
		"some":      {[]string{"finetune.weights=all"}, false, 3000, "4 epochs"},
		"many":      {[]string{"finetune.weights=all"}, false, 60_000, "3 epochs"},
		"very many": {[]string{"finetune.weights=all"}, false, 1_000_000, "2 epochs"},
		"drawn":     {[]string{"finetune.weights=all"}, true, 3000, "auto"},
		"given":     {[]string{"finetune.weights=all", "length=7 epochs"}, false, 3000, "7 epochs"},
		"a head":    {nil, false, 3000, "20 epochs"},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := config.Parse("", nil, c.settings)
			if err != nil {
				t.Fatal(err)
			}
			chosen := run.ResolveBlindLength(c.drawn, c.images)
			if got := config.Flatten(run)["length"]; got != c.want || chosen != (c.want != "auto" && name != "given" &&
				name != "a head") {
				t.Errorf("length %s, chosen: %v, expected %s", got, chosen, c.want)
			}
		})
	}
}

// The default learning rate of a network stays open until the run knows whether the network is untrained.
func TestUsualRate(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		drawn    bool
		want     string
	}{
		"trained":        {[]string{"finetune.weights=all"}, false, "0.0001"},
		"drawn":          {[]string{"finetune.weights=all"}, true, "0.001"},
		"given":          {[]string{"finetune.weights=all", "backbone_solver.lr=1e-4"}, true, "0.0001"},
		"found":          {[]string{"finetune.weights=all", "backbone_solver.lr=auto"}, true, "auto"},
		"another solver": {[]string{"finetune.weights=all", "backbone_solver.name=sgd"}, true, "0.01"},
		"asked for":      {[]string{"finetune.weights=all", "backbone_solver.lr=usual"}, true, "0.001"},
		"a head":         {nil, true, "0.0001"},
	} {
		run, err := config.Parse("", nil, append(c.settings, "data.model=m"))
		if err == nil {
			err = run.Validate()
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text, err := config.Marshal(run); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if again, err := config.Parse("config.yaml", text, nil); err != nil ||
			again.BackboneSolver.LR != run.BackboneSolver.LR {
			t.Errorf("%s: read back as %v, %v, expected %v", name, again.BackboneSolver.LR, err, run.BackboneSolver.LR)
		}
		if run.ResolveUsualLR(c.drawn); config.Flatten(run)["backbone_solver.lr"] != c.want {
			t.Errorf("%s: found %s, expected %s", name, config.Flatten(run)["backbone_solver.lr"], c.want)
		}
	}
	for _, bad := range []string{"solver.lr=usual", "loss_solver.lr=usual"} {
		run, err := config.Parse("", nil, []string{bad})
		if err == nil {
			err = run.Validate()
		}
		if err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// The files of a run contain the choices that were made, so that --resume does not choose again.
func TestLengthKept(t *testing.T) {
	run, err := config.Parse("", nil, []string{"finetune.weights=all", "data.model=m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Validate(); err != nil {
		t.Fatal(err)
	}
	before, err := config.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := config.Parse("config.yaml", before, nil); err != nil || !again.Length.Auto {
		t.Errorf("%v, %v: an automatic length is not read back", again.Length, err)
	}
	run.ResolveLength(60_000)
	after, err := config.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.Parse("config.yaml", after, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.ResolveLength(100)
	if diff := cmp.Diff(config.Flatten(run), config.Flatten(again)); diff != "" {
		t.Error(diff)
	}
	if _, err := config.Parse("", nil, []string{"length=autos"}); err == nil {
		t.Error("a misspelt length is accepted")
	}
}

// Losses that the user does not name stay open until the run knows the network and the classes.
func TestResolveLoss(t *testing.T) {
	for name, c := range map[string]struct {
		settings      []string
		drawn, closed bool
		perClass      int
		chosen        bool
		rate          string
	}{
		"drawn, its classes, many images": {[]string{"finetune.weights=all"}, true, true, 50, true, "0.003"},
		"few images":                      {[]string{"finetune.weights=all"}, true, true, 49, false, "0.001"},
		"new classes":                     {[]string{"finetune.weights=all"}, true, false, 450, false, "0.001"},
		"trained":                         {[]string{"finetune.weights=all"}, false, true, 450, false, "0.0001"},
		"a rate is given": {[]string{"finetune.weights=all", "backbone_solver.lr=1e-4"}, true, true,
			450, true, "0.0001"},
		"another solver": {[]string{"finetune.weights=all", "backbone_solver.name=sgd"}, true, true,
			450, true, "0.01"},
		"losses are given": {[]string{"finetune.weights=all", "losses=[{name: triplet}]"}, true, true,
			450, false, "0.001"},
		"a loss is changed": {[]string{"finetune.weights=all", "losses.1.weight=2"}, true, true, 450,
			false, "0.001"},
		"asked for": {[]string{"finetune.weights=all", "losses.1.weight=2", "finetune.loss=auto"},
			true, true, 450, true, "0.003"},
		"refused": {[]string{"finetune.weights=all", "finetune.loss=given"}, true, true, 450,
			false, "0.001"},
		"weights of samples": {[]string{"finetune.weights=all", "selfpaced.every=1 epoch"}, true, true,
			450, false, "0.001"},
		"a head": {nil, true, true, 450, false, "0.0001"},
	} {
		run, err := config.Parse("", nil, append(c.settings, "data.model=m"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		before := config.LossList(config.Flatten(run))
		chosen := run.ResolveLoss(c.drawn, c.closed, c.perClass)
		run.ResolveUsualLR(c.drawn)
		flat := config.Flatten(run)
		want := before
		if c.chosen {
			want = "cross_entropy against batch"
		}
		if chosen != c.chosen || config.LossList(flat) != want || flat["backbone_solver.lr"] != c.rate ||
			run.Finetune.Loss != config.GivenLoss {
			t.Errorf("%s: chosen %v, %s at %s, %s", name, chosen, config.LossList(flat), flat["backbone_solver.lr"],
				run.Finetune.Loss)
		}
		if err := run.Validate(); c.chosen && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if run, err := config.Parse("config.yaml", []byte("finetune: {weights: all}\n"),
		[]string{"data.model=m"}); err != nil ||
		run.ResolveLoss(true, true, 450) {
		t.Errorf("%v: the losses of a file stay open, expected fixed losses", err)
	}
	if run, err := config.Parse("", nil, []string{"finetune.weights=all", "finetune.loss=both",
		"data.model=m"}); err != nil ||
		run.Validate() == nil {
		t.Errorf("%v: finetune.loss=both is accepted", err)
	}
}
