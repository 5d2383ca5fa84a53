package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/testing/memory"
	"winnow/run/config"
	"winnow/train"
)

func parseText(t *testing.T, text string, settings ...string) config.Run {
	t.Helper()
	c, err := config.Parse("run.yaml", []byte(text), settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultIsValid(t *testing.T) {
	c := config.Default()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if len(c.Losses[0].Settings) == 0 {
		t.Error("validation did not complete the settings of the losses")
	}
}

func TestFileChangesWhatItNames(t *testing.T) {
	got := parseText(t, `
# a comment
seed: 7
data: {manifest: cub.csv, root: images, features: "store 1"}
head:
  out: 64
losses:
  - name: soft_triple
    settings: {margin: 1e-2, centers: 5}
  - name: contrastive
    against: bank
    weight: 0.5
    start: 2 epochs
filter:
  scorer: avgsim
  rate: 0.2
  warm_up: 100 steps
  avgsim: 0
length: 2.5 epochs
solver:
  lr: 3e-4
  weight_decay: 5e-4
schedule:
  warm_up: 1 epoch
loss_solver: {name: sgd, momentum: 0.9}
validation:
  patience: 3
checkpoint: 200 steps
finetune: {weights: layer4, batch_norm: train, momentum: 0.95, start: 1 epoch, cache_limit: 512 MiB, augment: flip}
backbone_solver: {name: sgd, lr: 1e-3}
backbone_schedule: {warm_up: 5 steps}
`, "sampler.images=2", "losses.1.weight=2", "losses.0.settings.centers=3", "data.root=",
		"schedule.milestones=[3 epochs, 10 steps]")
	want := config.Default()
	want.Seed = 7
	want.Data = config.Data{Manifest: "cub.csv", Features: "store 1"}
	want.Head.Out = 64
	want.Losses = []config.Loss{
		{Name: "soft_triple", Weight: 1, Against: "batch", Settings: map[string]any{"margin": 0.01, "centers": 3}},
		{Name: "contrastive", Weight: 2, Against: "bank", Start: config.Epochs(2)},
	}
	want.Filter.Scorer, want.Filter.Rate, want.Filter.WarmUp, want.Filter.AvgSim = "avgsim", config.GivenRate(0.2),
		config.Steps(100),
		config.Span{}
	want.Length = config.LastsEpochs(2.5)
	want.Solver.LR, want.Solver.WeightDecay = train.GivenLR(3e-4), 5e-4
	want.Schedule.WarmUp, want.Schedule.Milestones = config.Epochs(1), []config.Span{config.Epochs(3), config.Steps(10)}
	want.LossSolver = train.DefaultSolver("sgd")
	want.LossSolver.Momentum = 0.9
	want.Validation.Patience = 3
	want.Checkpoint = config.Steps(200)
	want.Screen = config.NoScreen
	want.Sampler.Images = 2
	want.Finetune = config.Finetune{Weights: "layer4", BatchNorm: "train", Momentum: 0.95, Start: config.Epochs(1),
		CacheLimit: 512 << 20, Augment: "flip", Loss: config.GivenLoss}
	want.BackboneSolver = train.DefaultSolver("sgd")
	want.BackboneSolver.LR = train.GivenLR(1e-3)
	want.BackboneSchedule.WarmUp = config.Steps(5)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyFilesAreDefaults(t *testing.T) {
	unscreened := config.Default()
	unscreened.Screen = config.NoScreen
	for text, want := range map[string]config.Run{"": config.Default(), "# nothing yet\n": config.Default(),
		"---\n":     config.Default(),
		"solver:\n": unscreened} {
		if diff := cmp.Diff(want, parseText(t, text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestAnotherSolverBringsItsDefaults(t *testing.T) {
	want := train.DefaultSolver("sgd")
	if got := parseText(t, "", "solver.name=sgd"); got.Solver != want {
		t.Errorf("%+v", got.Solver)
	}
	want.LR = train.GivenLR(0.5)
	if got := parseText(t, "solver: {lr: 0.5, name: sgd}"); got.Solver != want {
		t.Errorf("%+v", got.Solver)
	}
	if got := parseText(t, "solver: {name: adam, weight_decay: 1e-3}"); got.Solver.LR != config.Default().Solver.LR {
		t.Errorf("naming the default solver changed its learning rate to %v", got.Solver.LR)
	}
}

// With a filter, labels are screened. If the backbone is trained too, the bank is filled, with and without a filter, so
// that the two can be compared. Settings and files override both.
func TestFilteringOfFinetuning(t *testing.T) {
	for _, c := range []struct {
		text     string
		settings []string
		screen   string
		fill     bool
	}{
		{"", nil, config.Default().Screen, false},
		{"", []string{"filter.scorer=avgsim"}, config.Default().Screen, false},
		{"", []string{"filter.scorer=none"}, config.NoScreen, false},
		{"", []string{"method=co-teaching"}, config.NoScreen, false},
		{"", []string{"screen=none"}, config.NoScreen, false},
		{"seed: 2", nil, config.NoScreen, false},
		{"", []string{"method=co-teaching", "finetune.weights=all"}, config.Default().Screen, true},
		{"", []string{"finetune.weights=all"}, config.Default().Screen, true},
		{"", []string{"finetune.weights=none"}, config.Default().Screen, false},
		{"", []string{"finetune.weights=all", "filter.scorer=none"}, config.NoScreen, true},
		{"", []string{"finetune.weights=all", "filter.scorer=none", "screen=fitted"}, "fitted", true},
		{"", []string{"finetune.weights=all", "screen=none"}, config.NoScreen, true},
		{"", []string{"finetune.weights=all", "bank.fill=false"}, config.Default().Screen, false},
		{"seed: 2", []string{"finetune.weights=all"}, config.NoScreen, false},
	} {
		got := parseText(t, c.text, c.settings...)
		if got.Screen != c.screen || got.Bank.Fill != c.fill {
			t.Errorf("%q, %q: screened by %s, memory filled: %v; expected %s, %v", c.text, c.settings, got.Screen,
				got.Bank.Fill, c.screen, c.fill)
		}
	}
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"solver:\n  lr: 1e-3\n  lrr: 2\n",
			"config: run.yaml:3:3: unknown key solver.lrr (did you mean \"lr\"?): known here are alpha, amsgrad, " +
				"beta1, beta2, centered, dampening, eps, lr, momentum, name, nesterov, weight_decay"},
		{"seeds: 1\n",
			"config: run.yaml:1:1: unknown key seeds (did you mean \"seed\"?): known here are " +
				"backbone_schedule, backbone_solver, bank, checkpoint, clip, data, diagnostics, filter, " +
				"finetune, head, length, log_every, loss_schedule, loss_solver, losses, method, paper_variant, " +
				"peers, sampler, schedule, screen, seed, selective, selfpaced, solver, validation"},
		{"filter:\n  avgsim_steps: 3\n",
			"config: run.yaml:2:3: unknown key filter.avgsim_steps: known here are avgsim, denominator, fixed, " +
				"kappa, rate, scorer, threshold, warm_up, window"},
		{"losses:\n  - name: contrastive\n    wieght: 1\n",
			"config: run.yaml:3:5: unknown key losses.0.wieght (did you mean \"weight\"?): known here are against, " +
				"name, settings, start, weight"},
		{"head: {out: 1.5}", `config: run.yaml:1:13: head.out: found "1.5", expected an integer`},
		{"head: {out: [1]}", "config: run.yaml:1:13: head.out: found a list, expected one value"},
		{"head: 5", `config: run.yaml:1:7: head: found "5", expected keys and values`},
		{"head: {bias: yes}", `config: run.yaml:1:14: head.bias: found "yes", expected true or false`},
		{"seed: -1", `config: run.yaml:1:7: seed: found "-1", expected an integer from 0 to 2^64-1`},
		{"solver: {eps: '0.1'}",
			`config: run.yaml:1:15: solver.eps: found "0.1", expected a number, true or false, without quotes`},
		{"solver: {lr: .nan}",
			`config: run.yaml:1:14: solver.lr: found ".nan", expected a finite number from 0, or auto`},
		{"length: 20",
			`config: run.yaml:1:9: length: found "20", expected for example "20 epochs" or "500 steps", or 0 for none`},
		{"length: 2.5 steps",
			"config: run.yaml:1:9: length: found \"2.5 steps\", expected for example \"20 epochs\" or \"500 steps\", " +
				"or 0 for none"},
		{"length: [1]", "config: run.yaml:1:9: length: found a list, expected one value"},
		{"seed: 1\nseed: 2\n", `config: run.yaml:2:1: mapping key "seed" already defined at [1:1]`},
		{"seed: &a 1\nclip: *a\n",
			"config: run.yaml:1:7: seed: anchors, aliases, tags and literal blocks are not supported: write the value"},
		{"[1, 2]", "config: run.yaml:1:1: the document: found a list, expected keys and values"},
		{"seed: 1\n---\nseed: 2\n", "config: run.yaml:3:5: a second document, expected one"},
		{"losses:\n  - settings: {a: [1]}\n",
			"config: run.yaml:2:19: losses.0.settings.a: found a list, expected one value"},
		{"head: {out", "config: run.yaml:1:8: could not find flow map content"},
	} {
		if _, err := config.Parse("run.yaml", []byte(c.text), nil); err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestSettingErrors(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"solver.lr", `config: setting "solver.lr": expected key=value, for example solver.lr=1e-4`},
		{"solver.rate=1", "config: setting solver.rate: unknown key solver.rate: known here are alpha"},
		{"losses.2.weight=1",
			`config: setting losses.2.weight: losses has 2 entries: found "2", expected a number below that`},
		{"seed.x=1", `config: setting seed.x: seed is one value and has no key "x"`},
		{"head.out=many", `config: setting head.out:1:1: head.out: found "many", expected an integer`},
		{"head.out=", `config: setting head.out: "" is no value`},
		{"losses.0.settings.margin=[1]",
			"config: setting losses.0.settings.margin:1:1: margin: found a list, expected one value"},
	} {
		if _, err := config.Parse("", nil, []string{c.setting}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.setting, err, c.want)
		}
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"losses=[]", "config: losses: none is given, expected at least one"},
		{"losses.0.name=tripplet",
			`config: losses.0.name: losses: loss "tripplet" is unknown (did you mean "triplet"?): known are con`},
		{"losses.0.against=memory", `config: losses.0.against: found "memory", expected batch or bank`},
		{"losses.0.against=bank", "config: losses.1: found contrastive against bank twice"},
		{"losses.1.name=soft_triple",
			"config: losses.1.against: loss soft_triple cannot be compared with the bank: expected batch"},
		{"losses.0.weight=0", "config: losses.0.weight: found 0, expected a number above 0 and up to 1e+09"},
		{"losses.0.weight=1e300", "config: losses.0.weight: found 1e+300, expected a number above 0 and up to 1e+09"},
		{"losses.0.settings.margin=3",
			"config: losses.0.settings: losses: contrastive: margin: found 3, expected a number from -1 to 1"},
		{"losses.0.settings.mragin=0", `config: losses.0.settings: losses: contrastive: setting "mragin" is unknown`},
		{"bank.size=0", "config: losses.1.against: found bank, but bank.size is 0: expected at least 1"},
		{"bank.size=-1", "config: bank.size: found -1, expected 0 to 67108864 vectors"},
		{"head.init=zero", `config: head: init: found "zero"`},
		{"filter.scorer=prism", `config: filters: scorer "prism" is unknown: known are vmf`},
		{"filter.scorer=proxysim", "config: filter.scorer: proxysim judges by the proxies of a loss: expected one of "},
		{"filter.rate=1", "config: filters: rate: found 1, expected a share from 0 to below 1"},
		{"solver.name=lion", "config: solver: train: "},
		{"schedule.name=line", "config: the schedule of solver: train: "},
		{"sampler.variant=pk", "config: train: sampler: found the variant"},
		{"sampler.images=2000000", "config: sampler: batches of 16×2000000 rows, expected at most 1048576"},
		{"length=0", `config: length: found 0, expected for example "20 epochs"`},
		{"clip=-1", "config: clip: found -1, expected a norm, or 0 for none"},
		{"validation.every=0", "config: validation.every: found 0"},
		{"validation.patience=-1", "config: validation.patience: found -1"},
		{"finetune.weights=", `config: finetune.weights: found "", expected none, all or a stage`},
		{"finetune.weights=layer4 layer3",
			`config: finetune.weights: found "layer4 layer3", expected none, all or a stage`},
		{"finetune.batch_norm=yes", `config: finetune.batch_norm: found "yes", expected frozen, train or auto`},
		{"finetune.momentum=1", "config: finetune.momentum: found 1, expected a share from 0 to below 1"},
		{"finetune.chunk=-1",
			"config: finetune.chunk: found -1, expected a number of images, or 0 for the whole batch"},
		{"finetune.augment=", `config: finetune.augment: found "", expected none, auto or the name of a recipe`},
		{"backbone_solver.name=lion", "config: backbone_solver: train: "},
		{"backbone_schedule.name=line", "config: the schedule of backbone_solver: train: "},
		{"log_every=0", "config: log_every: found 0, expected at least 1 step"},
	} {
		got := parseText(t, "", c.setting)
		if err := got.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s…", c.setting, err, c.want)
		}
	}
	// has parameters but no proxies
	own := parseText(t, "", "filter.scorer=proxysim", "losses=[{name: margin, settings: {learn: class}}]")
	if err := own.Validate(); err == nil || !strings.Contains(err.Error(), "proxysim judges by the proxies of a loss") {
		t.Errorf("proxysim beside a margin loss: %v", err)
	}
	fine := parseText(t, "", "filter.scorer=none", "losses=[{name: triplet}]", "bank.size=0")
	if err := fine.Validate(); err != nil {
		t.Error(err)
	}
}

func TestMarshalReadsBackTheSame(t *testing.T) {
	c := parseText(t, "data: {manifest: 'a: b', root: '007', features: \"x#\\ty\"}\nlength: 0.5 epochs\n"+
		"head: {out: 3}\nsolver: {lr: 1e-9, eps: 1e-30}\nschedule: {milestones: [1 epoch, 5 steps]}\n")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Losses[0].Settings["form"] = "true" // a word that looks like something else
	text, err := config.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got := parseText(t, string(text))
	if diff := cmp.Diff(config.Flatten(c), config.Flatten(got)); diff != "" {
		t.Errorf("%s\n%s", text, diff)
	}
	if d := parseText(t, string(must(config.Marshal(config.Default())))); !cmp.Equal(d, config.Default(),
		cmp.Comparer(func(a, b map[string]any) bool { return len(a) == len(b) })) {
		t.Errorf("the defaults come back as %+v", d)
	}
	if got.Losses[0].Settings["form"] != "true" {
		t.Errorf("form came back as %v (%T)", got.Losses[0].Settings["form"], got.Losses[0].Settings["form"])
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestFlattenSeesEveryChange(t *testing.T) {
	base := config.Flatten(config.Default())
	for _, setting := range []string{"seed=2", "head.out=4", "losses.1.weight=3", "losses.1.settings.margin=0.1",
		"filter.avgsim=3 steps", "filter.rate=0.1",
		"finetune.weights=layer4", "finetune.start=1 epoch", "finetune.cache_limit=1 GiB", "finetune.augment=flip",
		"backbone_solver.lr=1", "backbone_schedule.warm_up=1 step", "data.model=m",
		"schedule.warm_up=1 epoch", "schedule.milestones=[1 epoch]", "solver.eps=1e-7", "loss_solver.lr=1",
		"sampler.variant=uniform", "validation.patience=1", "data.features=x"} {
		if cmp.Equal(base, config.Flatten(parseText(t, "", setting))) {
			t.Errorf("%s: not seen", setting)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte("seed: 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path, []string{"clip=2"}); err != nil || c.Seed != 3 || c.Clip != 2 {
		t.Errorf("%v %v", c, err)
	}
	if _, err := config.Load(path+"x", nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if _, err := config.Parse("big.yaml", make([]byte, 1<<16+1), nil); err == nil ||
		err.Error() != "config: big.yaml: 65537 bytes, expected at most 65536" {
		t.Error(err)
	}
}

func TestParseLoss(t *testing.T) {
	for text, want := range map[string]config.Loss{
		"triplet":          {Name: "triplet", Weight: 1, Against: "batch"},
		"contrastive:bank": {Name: "contrastive", Weight: 1, Against: "bank"},
		"triplet:0.5":      {Name: "triplet", Weight: 0.5, Against: "batch"},
		"triplet:bank:2":   {Name: "triplet", Weight: 2, Against: "bank"},
		"ms:batch:1e-3":    {Name: "ms", Weight: 1e-3, Against: "batch"},
	} {
		var got config.Run
		if err := config.SetText(&got, "losses", text); err != nil || !cmp.Equal(got.Losses, []config.Loss{want}) {
			t.Errorf("%s: %+v, %v", text, got.Losses, err)
		}
	}
	for _, text := range []string{"", ":bank", "triplet:", "triplet:memory", "triplet:0", "triplet:-1", "triplet:NaN",
		"triplet:+Inf", "triplet:1:bank", "triplet:bank:1:2"} {
		var got config.Run
		if err := config.SetText(&got, "losses", text); err == nil {
			t.Errorf("%q is accepted: %+v", text, got.Losses)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]int{"20 epochs": 200, "0.25 epochs": 3, "1 epoch": 10, "7 steps": 7, "1 step": 1,
		"0": 0} {
		var s config.Span
		if err := s.UnmarshalText([]byte(text)); err != nil || s.In(10) != want {
			t.Errorf("%s: %d steps, %v, expected %d", text, s.In(10), err, want)
		}
		if s.String() != text {
			if s != config.Epochs(1) && s != config.Steps(1) {
				t.Errorf("%s is written as %s", text, s)
			}
		}
	}
	for _, text := range []string{"", "5", "x epochs", "-1 steps", "NaN epochs", "Inf steps", "1.5 steps", "3 hours",
		"1e300 steps"} {
		if err := new(config.Span).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// FuzzConfig: no text makes the reader panic, and valid configurations are written and read back unchanged.
func FuzzConfig(f *testing.F) {
	text, err := config.Marshal(config.Default())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), "solver.lr=1e-3")
	f.Add("seed: 1\nlosses: [{name: triplet, settings: {margin: 0.1}}]\n", "losses.0.settings.margin=true")
	f.Add("losses: [{name: triplet}]\n", "losses.0.weight=5")
	f.Add("finetune: {weights: 'layer*', cache_limit: 1.5 GiB, start: 2 epochs}\n", "finetune.cache_limit=17")
	f.Add("a: &x [*x]\n", "data.root='x")
	f.Fuzz(func(t *testing.T, text, setting string) {
		var c config.Run
		var err error
		memory.Check(t, 128<<20, func() { c, err = config.Parse("fuzz.yaml", []byte(text), []string{setting}) })
		if err != nil || c.Validate() != nil {
			return
		}
		out, err := config.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := config.Parse("again.yaml", out, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(config.Flatten(c), config.Flatten(again)); diff != "" {
			t.Fatalf("%s\n%s", diff, out)
		}
	})
}
