package models

import (
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone/graph"
)

// shaped is a network for images of this shape, with its channels first.
func shaped(shape graph.Shape, planes int64) *graph.Model {
	b := graph.NewBuilder("shaped", 13)
	c := b.Node("Conv", []string{b.Input("image", graph.Float32, shape), tensor(b, 6, planes, 3, 3)})
	b.Output(b.NodeTo("features", "Flatten", []string{b.Node("GlobalAveragePool", []string{c})}))
	return b.Model()
}

// The size and the channels of a network's images come from its file; the settings give only free sizes.
func TestShapes(t *testing.T) {
	n, open1 := graph.Free("N"), graph.Free("side")
	size := func(planes, h, w int64) graph.Shape {
		return graph.Shape{n, graph.Fixed(planes), graph.Fixed(h), graph.Fixed(w)}
	}
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	for name, c := range map[string]struct {
		m    *graph.Model
		s    Settings
		want string // size and channels, or part of the error
	}{
		"tall":        {shaped(size(3, 256, 128), 3), Settings{Preset: "imagenet"}, "256×128 RGB"},
		"strip":       {shaped(size(3, 48, 320), 3), Settings{Preset: "caffe"}, "48×320 BGR"},
		"grey":        {shaped(size(1, 28, 28), 1), Settings{Preset: "unit"}, "28×28 L"},
		"grey colour": {shaped(size(1, 28, 28), 1), Settings{Preset: "imagenet"}, "expected L, with one mean"},
		"grey mean": {shaped(size(1, 28, 28), 1), Settings{Preset: "imagenet", Mean: []float64{.4}, Std: []float64{.2}},
			"28×28 L"},
		"four":      {shaped(size(4, 28, 28), 4), Settings{Preset: "unit"}, "found images of 4 channels, expected 3"},
		"open":      {shaped(graph.Shape{n, graph.Fixed(3), open1, open1}, 3), Settings{Preset: "unit"}, "224×224 RGB"},
		"open size": {shaped(graph.Shape{n, graph.Fixed(3), open1, open1}, 3), Settings{Size: &Size{96, 32}}, "96×32 RGB"},
		"half open": {shaped(graph.Shape{n, graph.Fixed(3), graph.Fixed(48), open1}, 3), Settings{Preset: "unit"},
			"leaves one side of its images open"},
		"half open size": {shaped(graph.Shape{n, graph.Fixed(3), graph.Fixed(48), open1}, 3),
			Settings{Size: &Size{48, 99}}, "48×99 RGB"},
		"two sizes": {shaped(size(3, 28, 28), 3), Settings{Size: &Size{28, 28}, Crop: new(28)},
			"found both a crop and a size"},
	} {
		b, err := r.Resolve(save(t, strings.ReplaceAll(name, " ", "_")+".onnx", c.m), c.s)
		found := ""
		if err != nil {
			found = err.Error()
		} else if p, err := Prepare(b, ""); err != nil || p.Dim != 6 {
			t.Errorf("%s: %v", name, err)
		} else {
			found = b.Preprocessing.SizeText() + " " + b.Preprocessing.Channels
		}
		if !strings.Contains(found, c.want) {
			t.Errorf("%s: found %s, expected %s", name, found, c.want)
		}
	}
	// an input with channels last
	last := channelsLast(n, 32, false)
	if in, err := imageInput(graph.ChannelsFirst(last)); err != nil || in.planes != 3 || in.high != 32 {
		t.Errorf("%+v, %v", in, err)
	}
	b := graph.NewBuilder("last", 13)
	x := b.Input("image", graph.Float32, graph.Shape{n, graph.Fixed(28), graph.Fixed(20), graph.Fixed(1)})
	b.Output(b.Node("Flatten", []string{x}))
	if in, err := imageInput(graph.ChannelsFirst(b.Model())); err != nil || in.planes != 1 || in.high != 28 ||
		in.wide != 20 {
		t.Errorf("[N,H,W,1]: %+v, %v", in, err)
	}
}

// The recorded preprocessing overrides a preset, with a warning if they differ. Single settings override both.
func TestPresetKept(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	file := save(t, "net.onnx", shaped(graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(64), graph.Fixed(64)}, 3))
	added, _, err := r.AddFile(file, "net", Settings{Preset: "caffe"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for preset, differs := range map[string]string{"caffe": "", "bn-inception": "differs in mean",
		"imagenet": "differs in channels, scale, mean, std and is ignored", "clip": "resize, interpolation, channels"} {
		b, err := r.Resolve(file, Settings{Preset: preset})
		if err != nil || b.Preprocessing != added.Preprocessing {
			t.Errorf("%s: %v, %v", preset, b.Preprocessing, err)
		}
		if told := strings.Join(b.Warnings, "\n"); !strings.Contains(told, differs) || (told == "") != (differs == "") {
			t.Errorf("%s: told %q, expected %q", preset, told, differs)
		}
	}
	b, err := r.Resolve("net", Settings{Preset: "imagenet", Channels: "RGB"})
	if err != nil || b.Preprocessing.Channels != "RGB" || b.Preprocessing.Mean != added.Preprocessing.Mean {
		t.Errorf("%+v, %v", b.Preprocessing, err)
	}
	if _, err := r.Resolve("net", Settings{Preset: "imagnet"}); err == nil {
		t.Error("an unknown preset is taken")
	}
}

func TestSizeFlag(t *testing.T) {
	for text, want := range map[string]Size{"256x128": {256, 128}, "48×320": {48, 320}, "96": {96, 96}, "x3": {},
		"0x4": {}, "3x4x5": {}, "": {}} {
		var s Size
		if err := s.Set(text); (err != nil) != (want == Size{}) || s != want {
			t.Errorf("%q: found %v, %v", text, s, err)
		}
	}
}
