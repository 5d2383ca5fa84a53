package architecture

import (
	"strings"
	"testing"

	"winnow/internal/testing/memory"
)

const head = "name: a\ninput: {channels: 1, side: 8}\n"

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "architecture: net.yaml: is empty, expected a description with name, input and layers"},
		{"- a\n", "architecture: net.yaml:1:1: found a list, expected keys and values"},
		{"input: {channels: 1, side: 8}\nlayers: [flatten]\n", "net.yaml:1:1: name is missing"},
		{"name: a b\ninput: {channels: 1, side: 8}\n",
			`net.yaml:1:7: name: found "a b", expected a word of at most 100 letters, digits, - and _`},
		{"name: a\nlayers: [flatten]\n", "input is missing"},
		{"name: a\ninput: {channels: 1}\n", "net.yaml:2:8: input: side is missing: expected an integer from 1 to 4096"},
		{"name: a\ninput: {channels: 1.5, side: 8}\n",
			`net.yaml:2:19: input.channels: found "1.5", expected an integer from 1 to 65536`},
		{"name: a\ninput: {channels: '1', side: 8}\n", `input.channels: found "1", expected an integer`},
		{"name: a\ninput: {channels: 1, side: 8}\n", "layers is missing: expected a list of layers"},
		{head + "layers: flatten\n", `net.yaml:3:9: layers: found "flatten", expected a list of layers`},
		{head + "layers: []\n", "layers: found a list, expected a list of layers"},
		{head + "colour: red\nlayers: [flatten]\n",
			"net.yaml:3:1: unknown key colour: known here are about, init, input, layers, name, preprocessing"},
		{head + "init: he\nlayers: [flatten]\n",
			`net.yaml:3:7: init: found "he", expected one of he_normal, he_uniform, ` +
				`lecun_uniform, torch, xavier_normal, xavier_uniform`},
		{head + "layers:\n  - flattne\n",
			`net.yaml:4:5: layers.0: found "flattne", expected a layer: ` +
				`one of average_pool, batch_norm, conv, flatten`},
		{head + "layers:\n  - conv: {out: 3, kernel: 3}\n    relu:\n",
			"layers.0: found keys and values, expected a layer"},
		{head + "layers:\n  - conv: {out: 3}\n  - flatten\n", "net.yaml:4:11: layers.0.conv: kernel is missing"},
		{head + "layers:\n  - conv: {out: 3, kernel: 3, strid: 2}\n  - flatten\n",
			"net.yaml:4:31: unknown key layers.0.conv.strid (did you mean \"stride\"?): known here are bias, " +
				"groups, init, kernel, out, pad, stride"},
		{head + "layers:\n  - conv: {out: 3, kernel: 3, pad: 3}\n",
			`layers.0.conv.pad: found "3", expected an integer from 0 to 2`},
		{head + "layers:\n  - conv: {out: 3, kernel: 4, pad: same}\n",
			"layers.0.conv.pad: same needs an odd kernel, found 4"},
		{head + "layers:\n  - conv: {out: 3, kernel: 3, bias: yes}\n",
			`layers.0.conv.bias: found "yes", expected true or false`},
		{head + "layers:\n  - conv: {out: 3, kernel: 9}\n  - flatten\n",
			"net.yaml:4:11: layers.0.conv: a kernel of 9 on maps 1×8×8 with padding 0: it does not fit"},
		{head + "layers:\n  - conv: {out: 4, kernel: 3, groups: 2}\n  - flatten\n",
			"layers.0.conv: found 2 groups, expected a divisor of both 1 input and 4 output channels"},
		{head + "layers:\n  - conv: {out: 4, kernel: 3}\n", "net.yaml:4:3: layers: the network ends with maps " +
			"4×6×6, expected a vector: end with global_average_pool or flatten"},
		{head + "layers:\n  - linear: {out: 3}\n",
			"layers.0.linear: found maps 1×8×8, expected a vector: flatten or global_average_pool first"},
		{head + "layers:\n  - flatten\n  - flatten\n", "layers.1.flatten: found a vector of 64, expected maps"},
		{head + "layers:\n  - flatten\n  - conv: {out: 3, kernel: 1}\n",
			"layers.1.conv: found a vector of 64, expected maps"},
		{head + "layers:\n  - residual: {layers: [{conv: {out: 2, kernel: 1}}]}\n  - flatten\n",
			"layers.0.residual: the layers give maps 2×8×8 and the shortcut maps 1×8×8, expected the same"},
		{head + "layers:\n  - repeat:\n      times: 2\n      layers:\n        - stage: {name: s, layers: [relu]}\n " +
			" - flatten\n", "layers.0.repeat.layers.0.stage: the stage \"s\" appears twice"},
		{head + "layers:\n  - repeat: {times: 4096, layers: [{repeat: {times: 4096, layers: [relu]}}]}\n  - " +
			"flatten\n", "more than 4096 layers"},
		{head + "layers:\n  - conv: {out: 65536, kernel: 8}\n  - conv: {out: 65536, kernel: 1}\n  - flatten\n",
			"layers.1.conv: more than 268435456 parameters so far"},
		{head + "layers:\n  - batch_norm: {momentum: 1}\n  - flatten\n",
			"layers.0.batch_norm: found epsilon 1e-05 and momentum 1, expected"},
		{head + "layers: [flatten]\npreprocessing: {crop: 7}\n",
			"net.yaml:4:16: preprocessing: gives images of 1×7×7, expected the input's 1×8×8"},
		{head + "layers: [flatten]\npreprocessing: {channels: RGB}\n",
			"preprocessing: gives images of 3×8×8, expected the input's 1×8×8"},
		{head + "layers: [flatten]\npreprocessing: {scale: 1/0}\n",
			`preprocessing.scale: found "1/0", expected a number`},
		{head + "layers: [flatten]\npreprocessing: {mean: [1, 2]}\n",
			"preprocessing.mean: found 2 numbers, expected 3 (or 1 for all channels)"},
		{head + "layers: [flatten]\npreprocessing: {std: 0}\n", "std of channel 0 is 0, expected a positive number"},
		{head + "layers: &a [flatten]\n", "layers: found an anchor, alias or tag, expected a list of layers"},
		{head + "layers: [flatten]\n---\na: 1\n", "a second document, expected one"},
		{head + "layers: [" + strings.Repeat("{repeat: {times: 1, layers: [", 10) + "relu" +
			strings.Repeat("]}}", 10) + ", flatten]\n", "layers are nested more than 8 deep"},
		{strings.Repeat("#", maxFile+1),
			"architecture: net.yaml: found 65537 bytes, expected a description of at most 65536"},
		{"name: [", "architecture: net.yaml:1:"},
	} {
		if _, err := Parse("net.yaml", []byte(c.text)); err == nil ||
			!strings.HasPrefix(err.Error(), "architecture: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestPreprocessing(t *testing.T) {
	p := network(t, head+"layers: [flatten]\n").Preprocessing
	if p.Resize != 8 || !p.Exact || p.Crop != 8 || p.Channels != "L" || p.Scale != 1./255 || p.Mean[0] != 0.5 ||
		p.Std[0] != 0.5 {
		t.Errorf("found %+v, expected whole pictures from -1 to 1", p)
	}
	p = network(t, "name: a\ninput: {channels: 3, side: 8}\nlayers: [flatten]\npreprocessing:\n  {resize: 10, "+
		"exact: false, interpolation: bicubic, channels: BGR, scale: 1/256, mean: [1, 2, 3], std: [4]}\n").
		Preprocessing
	if p.Resize != 10 || p.Exact || p.Crop != 8 || p.Interpolation != "bicubic" || p.Channels != "BGR" ||
		p.Scale != 1./256 || p.Mean != [3]float32{1, 2, 3} || p.Std != [3]float32{4, 4, 4} || !p.EXIF {
		t.Errorf("found %+v", p)
	}
}

func TestEmbeddedUnknown(t *testing.T) {
	if _, err := Embedded("lenett"); err == nil ||
		!strings.Contains(err.Error(),
			`"lenett" is unknown (did you mean "lenet"?): `+
				`known are cifar_resnet, cifar_resnet8, convnet4, glyphnet, lenet, lenet5`) {
		t.Errorf("found %v", err)
	}
}

// FuzzParse: every description that parses gives a model that passes graph's own check.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte(head + "layers:\n  - residual: {layers: [{conv: {out: 1, kernel: 1}}], shortcut: [relu]}\n  - " +
		"flatten\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var n *Network
		var err error
		memory.Check(t, 128<<20, func() { n, err = Parse("fuzz.yaml", text) })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "architecture: fuzz.yaml") {
				t.Fatalf("found %v", err)
			}
			return
		}
		if n.Parameters > 1<<14 {
			return // valid, but too large to draw here
		}
		m := n.Model(1)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		if got := m.Graph.Outputs[0].Shape; len(got) != 2 || got[1].Size != int64(n.Dim) {
			t.Fatalf("found %v, expected %d numbers", got, n.Dim)
		}
	})
}
