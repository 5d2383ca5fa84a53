package tuning

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run/config"
	"winnow/run/folder"
)

// drawn6 writes six grey images and an untrained network for them, and returns a configuration that trains the network.
func drawn6(t *testing.T) (cfg config.Run, paths []string) {
	t.Helper()
	return drawnAs(t, "lenet5", func(*graph.Model) {})
}

// drawnAs does the same as drawn6 with the network arch, changed by change.
func drawnAs(t *testing.T, arch string, change func(*graph.Model)) (cfg config.Run, paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range 6 {
		img := image.NewGray(image.Rect(0, 0, 28, 28))
		for at := range img.Pix {
			img.Pix[at] = byte(at * (i + 3))
		}
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, fmt.Sprintf("%d.png", i))
		if err := os.WriteFile(filepath.Join(dir, paths[i]), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	net, err := architecture.Find(arch)
	if err != nil {
		t.Fatal(err)
	}
	m := net.Model(1)
	change(m)
	m.Metadata = append(m.Metadata, graph.Property{Key: models.PreprocessingKey, Value: net.Preprocessing.Key()})
	cfg = config.Default()
	cfg.Data = config.Data{Root: dir, Model: filepath.Join(dir, arch+".onnx")}
	cfg.Finetune.Weights = config.AllWeights
	if err := os.WriteFile(cfg.Data.Model, m.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	return cfg, paths
}

func open(t *testing.T, cfg config.Run, paths []string) (*Live, []string, error) {
	t.Helper()
	var notes []string
	live, err := Open(cfg, paths, Config{
		Note:  func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) },
		Watch: func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} },
	})
	return live, notes, err
}

// The trained weights are selected without a runtime: all weights, or the weights from a stage on.
func TestWeights(t *testing.T) {
	cfg, paths := drawn6(t)
	all, _, err := open(t, cfg, paths)
	if err != nil {
		t.Fatal(err)
	}
	if s := all.Share(); s.Trained != s.Of || s.Of == 0 || s.Tensors != len(all.Weights()) || all.frozen != nil {
		t.Errorf("all: %+v, %v", s, all.Weights())
	}
	last := "stage3"
	cfg.Finetune.Weights = last
	one, _, err := open(t, cfg, paths)
	if err != nil {
		t.Fatal(err)
	}
	if s := one.Share(); len(one.Weights()) == 0 || len(one.Weights()) >= len(all.Weights()) ||
		s.Trained >= s.Of || s.Of != all.Share().Of || one.frozen == nil {
		t.Errorf("%s: %+v, %v", last, s, one.Weights())
	}
	if e := one.Extraction("store"); e.Out != "store" || !slices.Equal(e.Paths, paths) ||
		e.Model.SHA256 != one.Backbone.SHA256 {
		t.Errorf("extraction of %+v", e)
	}
}

func TestOpenRefuses(t *testing.T) {
	good, paths := drawn6(t)
	for name, c := range map[string]struct {
		change       func(*config.Run)
		want, advice string
	}{
		"stage": {func(c *config.Run) { c.Finetune.Weights = "layer9" }, `weights "layer9": found no such stage`,
			"winnow models show"},
		"recipe":  {func(c *config.Run) { c.Finetune.Augment = "wild" }, "wild", ""},
		"folder":  {func(c *config.Run) { c.Data.Root += "/nowhere" }, "nowhere", "--root"},
		"store":   {func(c *config.Run) { c.Data.Features = "nowhere" }, "nowhere", "winnow extract"},
		"network": {func(c *config.Run) { c.Data.Model += ".old" }, "lenet5.onnx.old", ""},
	} {
		cfg := good
		c.change(&cfg)
		if _, _, err := open(t, cfg, paths); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(hint.Of(err), c.advice) {
			t.Errorf("%s: found %v (%s), expected %s (%s)", name, err, hint.Of(err), c.want, c.advice)
		}
	}
}

// Features are the stored features until a weight changes. Then the network computes them, and a saved network computes
// the same.
func TestFeaturesFollowTheWeights(t *testing.T) {
	rt := orttest.Runtime(t)
	cfg, paths := drawn6(t)
	live, notes, err := open(t, cfg, paths)
	if err != nil {
		t.Fatal(err)
	}
	live.Use(rt)
	dim := live.Cut.Dim
	set := features.Set{X: features.NewMatrix(len(paths), dim), Labels: []int{0, 1, 0, 1, 0, 1},
		IDs: features.AllRows(len(paths))}
	for i := range set.X.Data {
		set.X.Data[i] = float32(i % 5)
	}
	h, err := head.New(t.Context(), head.Config{In: dim, Out: 4, Init: "random"}, set.X, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := live.Encoder(t.Context(), h, Input{Train: set, Stored: set, Batch: 4,
		Resting: func() bool { return false }})
	if err != nil {
		t.Fatal(err, notes)
	}
	defer live.Close()
	if z, err := encoder.Forward([]int{0, 1, 2, 3}); err != nil || z.Len() != 4 || z.Dim() != 4 || z.Labels[1] != 1 {
		t.Fatalf("%v: %d×%d", err, z.Len(), z.Dim())
	}
	if now, err := live.Now(t.Context(), set); err != nil || &now.X.Data[0] != &set.X.Data[0] {
		t.Errorf("%v: the features differ from the stored features before the first step", err)
	}
	for _, p := range encoder.Params() {
		if p.Name == live.Weights()[0] {
			p.Data[0] += 0.5
		}
	}
	now, err := live.Now(t.Context(), set)
	if err != nil || slices.Equal(now.X.Data, set.X.Data) || !slices.Equal(now.Labels, set.Labels) {
		t.Fatalf("%v: found the stored features after a weight changed", err)
	}
	nearlyOnDevice(t, live, set, now)

	dir := t.TempDir()
	if err := live.Save(dir, folder.BestHeadFile, h, models.HeadMeta{Winnow: "test"}); err != nil {
		t.Fatal(err)
	}
	network := filepath.Join(dir, folder.BackboneFile(folder.BestHeadFile))
	saved, err := live.Saved(network)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := saved(t.Context(), set); err != nil || !slices.Equal(again.X.Data, now.X.Data) {
		t.Errorf("%v: the saved network computes other features", err)
	}
	data, err := os.ReadFile(network)
	if err != nil || !live.Matches(dir, folder.BestHeadFile) {
		t.Fatalf("%v: a head that does not match its network", err)
	}
	if m, err := graph.Read(data); err != nil || architecture.Drawn(m) || !live.Drawn {
		t.Errorf("%v: a trained network is marked as untrained, or the untrained network is not", err)
	}
	if err := os.WriteFile(network, append(data, 0), 0o644); err != nil || live.Matches(dir, folder.BestHeadFile) {
		t.Errorf("%v: the head matches another network", err)
	}
}

// nearlyOnDevice checks that a network with weights on a device computes the features want, also if the last batch is
// not full. While the weights are held on the device, changes of their host copies have no effect.
func nearlyOnDevice(t *testing.T, live *Live, set, want features.Set) {
	t.Helper()
	net, batch := live.net, live.Batch
	defer func() { live.net, live.Batch, live.validated = net, batch, nil }()
	resident, err := ort.NewLive(live.rt, live.derivative, ort.LiveOptions{Model: live.live, Resident: true})
	if err != nil {
		t.Fatal(err)
	}
	defer resident.Close()
	for i, p := range resident.Params() {
		copy(p.Data, net.Params()[i].Data)
	}
	live.net, live.Batch = resident, 4
	for _, held := range []bool{false, true} {
		if err := resident.Place().Hold(held); err != nil {
			t.Fatal(err)
		}
		if held {
			resident.Params()[0].Data[0]++ // the device does not get this change
		}
		found, err := live.Now(t.Context(), set)
		if err != nil || live.validated == nil {
			t.Fatal(err, live.validated)
		}
		for i, v := range want.X.Data {
			if d := found.X.Data[i] - v; !(d*d <= 1e-10) {
				t.Fatalf("held %v: number %d is %v, expected %v", held, i, found.X.Data[i], v)
			}
		}
	}
}

// Without fine-tuning, a head is saved without a network.
func TestStored(t *testing.T) {
	set := features.NewSet(4, 3)
	for i := range set.X.Data {
		set.X.Data[i] = float32(i)
	}
	h, err := head.New(t.Context(), head.Config{In: 3, Out: 2, Init: "random"}, set.X, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var b Backbone = Stored{}
	if err := b.Save(dir, folder.LastHeadFile, h, models.HeadMeta{}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != folder.LastHeadFile ||
		!b.Matches(dir, folder.LastHeadFile) || b.Share() != nil || len(b.Weights()) != 0 {
		t.Errorf("%v: %v", err, files)
	}
	saved, err := b.Saved("nowhere")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := saved(t.Context(), set); err != nil || &again.X.Data[0] != &set.X.Data[0] {
		t.Errorf("%v: the features differ from the stored features", err)
	}
}

// Evaluation prepares images like training: a run that computes its features squashes images if its augmentation does.
// The error for features of cropped images contains the command that computes fitting features.
func TestFitEvaluation(t *testing.T) {
	cropped := backbone.Preprocessing{Resize: 256, Crop: 224}
	for _, c := range []struct {
		augment, features string
		was, want         backbone.Preprocessing
	}{
		{"prism", "", cropped, backbone.Preprocessing{Resize: 224, Exact: true, Crop: 224}},
		{"prism", "f", backbone.Preprocessing{Resize: 256, Exact: true, Crop: 224}, backbone.Preprocessing{Resize: 256,
			Exact: true, Crop: 224}},
		{"prism", "", backbone.Preprocessing{Crop: 28}, backbone.Preprocessing{Crop: 28}},
		{"flip", "f", cropped, cropped},
		{"supcon", "", cropped, cropped},
		{"prism", "f", cropped, backbone.Preprocessing{}},
	} {
		run := config.Run{Data: config.Data{Features: c.features}, Finetune: config.Finetune{Augment: c.augment}}
		a, err := backbone.ParseAugmentation(c.augment)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Backbone: &models.Backbone{Entry: models.Entry{Preprocessing: c.was}}, Augment: a, Note: t.Logf}
		switch err := cfg.fitEvaluation(run); {
		case c.want == backbone.Preprocessing{}:
			if err == nil || !strings.Contains(hint.Of(err), "winnow extract --resize squash") {
				t.Errorf("%s of %+v: %v (%s)", c.augment, c.was, err, hint.Of(err))
			}
		case err != nil || cfg.Backbone.Preprocessing != c.want:
			t.Errorf("%s of %+v: %+v %v, expected %+v", c.augment, c.was, cfg.Backbone.Preprocessing, err, c.want)
		}
	}
}

// An untrained network is recognised by its metadata or its batch normalization. The automatic choice then trains the
// statistics.
func TestDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		arch, given string
		silent      bool    // remove the metadata that mark an untrained network
		mean        float32 // running mean of batch normalization
		drawn       bool
		want        string
	}{
		"says so":                  {"convnet4", config.AutoNorm, false, 0, true, config.TrainNorm},
		"statistics as drawn":      {"convnet4", config.AutoNorm, true, 0, true, config.TrainNorm},
		"statistics that moved":    {"convnet4", config.AutoNorm, true, 0.1, false, config.FrozenNorm},
		"frozen is asked for":      {"convnet4", config.FrozenNorm, false, 0, true, config.FrozenNorm},
		"no normalization":         {"lenet5", config.AutoNorm, false, 0, true, config.FrozenNorm},
		"no normalization, silent": {"lenet5", config.AutoNorm, true, 0, false, config.FrozenNorm},
	} {
		cfg, paths := drawnAs(t, c.arch, func(m *graph.Model) {
			if c.silent {
				m.Metadata = nil
			}
			for _, n := range m.Graph.Nodes {
				if n.Op != "BatchNormalization" || c.mean == 0 {
					continue
				}
				old := m.Graph.Initializer(n.Inputs[3])
				values, err := old.Float32s()
				if err != nil {
					t.Fatal(err)
				}
				values[0] = c.mean
				*old = *graph.NewTensor(old.Name, values, old.Dims...)
				break
			}
		})
		cfg.Finetune.BatchNorm = c.given
		live, notes, err := open(t, cfg, paths)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "is untrained") })
		if live.Drawn != c.drawn || live.Settings.BatchNorm != c.want || said != (c.want == config.TrainNorm) {
			t.Errorf("%s: drawn %v, %s, said %q", name, live.Drawn, live.Settings.BatchNorm, notes)
		}
	}
}
