package config_test

import (
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
	want.Validation.Patience, want.Validation.HoldOut = 3, 0
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
	unscreened.Screen, unscreened.Validation.HoldOut = config.NoScreen, 0
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

// With a filter, labels are screened by default. In fine-tuning, the bank is filled with and without a filter, so that
// both runs can be compared. Settings and files override both defaults.
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
			t.Errorf("%q, %q: screened by %s, bank filled: %v; expected %s, %v", c.text, c.settings, got.Screen,
				got.Bank.Fill, c.screen, c.fill)
		}
	}
}

// An error names the line and the key.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"solver:\n  lr: 1e-3\n  lrr: 2\n": "config: run.yaml:3:3: unknown key solver.lrr (did you mean \"lr\"?)" +
			": known",
		"filter:\n  avgsim_steps: 3\n":      "config: run.yaml:2:3: unknown key filter.avgsim_steps",
		"head: {out: 1.5}":                  `config: run.yaml:1:13: head.out: found "1.5", expected an integer`,
		"head: {out: [1]}":                  "head.out: found keys and values, or a list, expected an integer",
		"head: 5":                           `head: found "5", expected keys and values`,
		"head: {bias: yes}":                 `head.bias: found "yes", expected true or false`,
		"seed: -1":                          `seed: found "-1", expected an integer`,
		"solver: {eps: .nan}":               "solver.eps: found \".nan\", expected a finite number",
		"length: 20":                        `length: found "20", expected for example "20 epochs"`,
		"length: [1]":                       "length: found",
		"seed: 1\nseed: 2\n":                `mapping key "seed" already defined`,
		"seed: &a 1\nclip: *a\n":            "config: run.yaml:1:7: seed: ",
		"[1, 2]":                            "the document: found",
		"seed: 1\n---\nseed: 2\n":           "a second document, expected one",
		"losses:\n  - settings: {a: [1]}\n": "losses.0.settings.a: expected one value",
		"head: {out":                        "could not find flow map content",
		strings.Repeat(" ", 1<<16+1):        "65537 bytes, expected at most 65536",
	} {
		if _, err := config.Parse("run.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, expected %s", text, err, want)
		}
	}
	for setting, want := range map[string]string{
		"solver.lr":                       "expected key=value",
		"solver.rate=1":                   "config: setting: unknown key solver.rate",
		"losses.2.weight=1":               "losses has 2 entries",
		"seed.x=1":                        "seed: found",
		"head.out=many":                   `config: setting: head.out: found "many", expected an integer`,
		"head.out=":                       `head.out: found "", expected an integer`,
		"losses.0.settings.margin=[1]":    "losses.0.settings.margin: expected one value",
		"losses.0.settings.margin=a: 1\n": "",
	} {
		if _, err := config.Parse("", nil, []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %s", setting, err, want)
		}
	}
}

// Validate returns an error for invalid values and combinations.
func TestValidate(t *testing.T) {
	for _, setting := range []string{"losses=[]", "losses.0.name=tripplet", "losses.0.against=memory",
		"losses.0.weight=0", "losses.0.weight=1e300", "losses.0.settings.margin=3", "losses.0.settings.mragin=0",
		"bank.size=-1", "head.init=zero", "filter.scorer=prism", "filter.scorer=proxysim", "solver.name=lion",
		"sampler.variant=pk", "sampler.images=2000000", "length=0", "clip=-1", "validation.every=0",
		"validation.patience=-1", "finetune.weights=", "finetune.weights=layer4 layer3", "finetune.batch_norm=yes",
		"finetune.momentum=1", "finetune.chunk=-1", "finetune.augment=", "backbone_solver.name=lion", "log_every=0"} {
		got := parseText(t, "", setting)
		key, _, _ := strings.Cut(setting, "=")
		if err := got.Validate(); err == nil || !strings.Contains(err.Error(), key[strings.LastIndex(key, ".")+1:]) &&
			!strings.Contains(err.Error(), key[:strings.IndexAny(key+".", ".")]) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	for _, setting := range []string{"bank.size=0", "losses.0.against=bank", "losses.1.name=soft_triple"} {
		if got := parseText(t, "", setting); got.Validate() == nil {
			t.Errorf("%s is accepted", setting)
		}
	}
	for text, setting := range map[string]string{
		"method: sel-cl\n":               "selective.alpha=3",
		"method: sel-cl\nseed: 1\n":      "peers.rate=0.1",
		"method: co-teaching\n":          "selective.mixup=1",
		"method: tcl\nseed: 1\n":         "losses=[{name: triplet}]",
		"method: tcl\nseed: 2\n":         "finetune.weights=all",
		"method: co-teaching\nseed: 1\n": "sampler.views=2",
		"method: moco\n":                 "seed=1",
		"seed: 1\n":                      "selfpaced.mu=1",
		"seed: 2\n":                      "selfpaced.every=1 epoch",
		"method: tcl\nseed: 3\n":         "selfpaced.every=9 steps",
		"method: tcl\nseed: 4\n":         "solver.lr=auto",
		"seed: 3\n":                      "backbone_solver.lr=auto",
		"seed: 4\n":                      "loss_solver.lr=auto",
		"seed: 7\n":                      "filter.rate=5",
		"losses: [{name: triplet}]\n":    "paper_variant=true",
		"seed: 5\n":                      "sampler.variant=random",
		"sampler: {variant: shuffle}\n":  "sampler.classes=2",
	} {
		if got := parseText(t, text, "filter.scorer=none", setting); got.Validate() == nil {
			t.Errorf("%q with %s is accepted", text, setting)
		}
	}
	// this loss has parameters, but no proxies
	own := parseText(t, "", "filter.scorer=proxysim", "losses=[{name: margin, settings: {learn: class}}]")
	if own.Validate() == nil {
		t.Error("proxysim is accepted with a margin loss")
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
	c.Losses[0].Settings["form"] = "true" // a string that looks like a bool
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
			t.Errorf("%s: the flattened configurations are equal", setting)
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

// FuzzConfig checks that no text makes Parse panic, and that a valid configuration is written and read back unchanged.
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
