package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/internal/testing/exported"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/plainnet"
	"winnow/internal/testing/reference"
)

var allNetworks = flag.Bool("networks", false, "try all networks of the table in docs, and write it")

// classesOf draws pictures of three classes, of exactly the size that a network takes, and returns what they hold.
func classesOf(t *testing.T, dir string, n exported.Network) (pictures map[string]image.Image) {
	t.Helper()
	pictures = map[string]image.Image{}
	rng := rand.New(rand.NewPCG(1, uint64(n.High)))
	for class := range 3 {
		at := filepath.Join(dir, fmt.Sprint("class", class))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			m := image.NewNRGBA(image.Rect(0, 0, n.Wide, n.High))
			for y := range n.High {
				for x := range n.Wide {
					c := color.NRGBA{uint8(rng.IntN(256)), uint8(rng.IntN(128) + 60*class),
						uint8((x*y*(class+1) + i) % 256), 255}
					if n.Grey {
						c.G, c.B = c.R, c.R
					}
					m.SetNRGBA(x, y, c)
				}
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d.png", i)
			if err := os.WriteFile(filepath.Join(at, name), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			pictures[fmt.Sprintf("class%d/%s", class, name)] = m
		}
	}
	return pictures
}

// input returns a picture as the network takes it, planes first.
func input(n exported.Network, m image.Image) []float64 {
	planes := 3
	if n.Grey {
		planes = 1
	}
	list := make([]float64, 0, planes*n.High*n.Wide)
	for c := range planes {
		for y := range n.High {
			for x := range n.Wide {
				r, g, b, _ := m.At(x, y).RGBA()
				v := []uint32{r, g, b}[c]
				if n.BGR {
					v = []uint32{b, g, r}[c]
				}
				list = append(list, (float64(v>>8)*n.Scale-n.Mean[c])/cmp.Or(n.Std[c], 1))
			}
		}
	}
	return list
}

// evaluated returns the features of a picture by plain loops.
func evaluated(t *testing.T, n exported.Network, m image.Image) []float64 {
	t.Helper()
	pixels := input(n, m)
	if n.Eval != nil {
		return n.Eval(pixels)
	}
	data := n.File
	if n.Beside != nil { // the file as it is before its values are moved out
		data = n.Whole
	}
	net, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	planes, batch := len(pixels)/n.High/n.Wide, max(n.Batch, 1)
	v := plainnet.Value{Dims: []int{batch, planes, n.High, n.Wide}}
	for range batch {
		v.X = append(v.X, pixels...)
	}
	if n.Last {
		v.Dims = []int{batch, n.High, n.Wide, planes}
		for i := range v.X {
			at := i % len(pixels)
			v.X[i] = pixels[at%planes*n.High*n.Wide+at/planes]
		}
	}
	out, err := plainnet.Run(net, v, n.Output)
	if err != nil {
		t.Fatal(err)
	}
	return out.X[:out.Rows()]
}

// failed is an error as winnow prints it; notes do not begin with a room.
var failed = regexp.MustCompile(`(?m)^winnow: (?:[a-z]+: )(.*)$`)

// reason returns why a command refused.
func reason(stderr string) string {
	if m := failed.FindStringSubmatch(stderr); m != nil {
		return m[1]
	}
	return strings.TrimSpace(stderr)
}

// tryNetwork adds a network, extracts, fine-tunes for two steps and exports, and returns the cells of its row.
func tryNetwork(t *testing.T, n exported.Network) (cells [4]string) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	if err := os.WriteFile("network.onnx", n.File, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, data := range n.Beside {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pictures := classesOf(t, "pictures", n)
	told := ""
	run := func(line string) (string, bool) {
		code, stdout, stderr := call(t.Context(), strings.Fields(line)...)
		if code != 0 {
			t.Logf("%s, %s: %s: %s%s", n.Exporter, n.Form, line, stdout, stderr)
		}
		told = stderr
		return reason(stderr), code == 0
	}
	for i := range cells {
		cells[i] = "–"
	}
	why, ok := run("models add network.onnx --name tiny " + n.Flags)
	if !ok {
		cells[0] = why
		return cells
	}
	cells[0] = "yes"
	if why, ok = run("extract --manifest pictures --model tiny --out features"); !ok {
		cells[1] = why
		return cells
	}
	store, err := features.Open("features")
	if err != nil {
		t.Fatal(err)
	}
	off, most := 0., 0.
	for _, path := range slices.Sorted(maps.Keys(pictures)) {
		m := pictures[path]
		x, err := store.Read(t.Context(), []int{store.Row(path)})
		if err != nil {
			t.Fatal(err)
		}
		want := evaluated(t, n, m)
		if len(want) != x.Cols {
			t.Fatalf("%s, %s: %d features, expected %d", n.Exporter, n.Form, x.Cols, len(want))
		}
		for i, v := range want {
			off, most = max(off, math.Abs(v-float64(x.Data[i]))), max(most, math.Abs(v))
		}
		if n.Wide > 100 { // one is slow enough
			break
		}
	}
	limit := n.Rough
	if limit == 0 {
		limit = 1e-4
	}
	if cells[1] = "exact"; n.Rough > 0 {
		cells[1] = fmt.Sprintf("within %.1g", n.Rough)
	}
	if off > limit*most || most == 0 {
		t.Errorf("%s, %s: features are off by %v of %v", n.Exporter, n.Form, off, most)
		cells[1] = "wrong"
	}
	t.Logf("%s, %s: off by %.2g", n.Exporter, n.Form, off/most)
	tuned := true
	const training = "train pictures --model tiny --steps 2 --screen none --batch 3x3 --dim 4 --out run " +
		"--set validation.hold_out=0"
	if why, tuned = run(training + " --finetune all --backbone-lr 1e-2"); tuned {
		switch cells[2] = "yes"; {
		case strings.Contains(told, "takes one image at a time"):
			cells[2] = "yes, an image at a time"
		case strings.Contains(told, "smaller batches are filled up"):
			cells[2] = fmt.Sprintf("yes, %d at a time", n.Batch)
		}
	} else {
		cells[2] = why
		if why, ok := run(training); !ok {
			t.Errorf("%s, %s: a head: %s", n.Exporter, n.Form, why)
			return cells
		}
	}
	if why, ok = run("export run --onnx whole.onnx"); !ok {
		cells[3] = why
		return cells
	}
	if why, ok = run("extract --manifest pictures --model whole.onnx --out again"); !ok {
		cells[3] = why
		return cells
	}
	cells[3] = "yes"
	return cells
}

// realNetworks returns the real networks at hand.
func realNetworks(t *testing.T) (list []exported.Network) {
	t.Helper()
	mean, std := [3]float64{.485, .456, .406}, [3]float64{.229, .224, .225}
	for _, n := range []struct{ exporter, form, file string }{
		{"MXNet, GluonCV (ONNX Model Zoo)", "SqueezeNet 1.1, real weights", "squeezenet1.1.onnx"},
		{"PyTorch, traced (ONNX Model Zoo)", "MobileNetV2 without classes, real weights", "mobilenetv2-features.onnx"},
		{"MXNet, GluonCV (ONNX Model Zoo)", "ResNet-50 v2 to stage 3, real weights", "resnet50v2-stage3-features.onnx"},
		{"Caffe", "GoogLeNet, blue first, real weights", "googlenet-bvlc.onnx"},
	} {
		data, err := os.ReadFile(reference.Asset(t, "models/"+n.file))
		if err != nil {
			t.Fatal(err)
		}
		net := exported.Network{Exporter: n.exporter, Form: n.form, File: data, High: 224, Wide: 224, Scale: 1. / 255,
			Mean: mean, Std: std, Output: "features", Flags: "--resize squash"}
		if n.exporter == "Caffe" {
			net.Scale, net.Mean, net.Std, net.BGR = 1, [3]float64{104, 117, 123}, [3]float64{}, true
		}
		list = append(list, net)
	}
	return list
}

// TestNetworks tries networks as exporters write them, and holds the table of docs/models-reference.md to what winnow
// does with them. By default it tries a few; -networks tries all and writes the table.
func TestNetworks(t *testing.T) {
	orttest.Runtime(t)
	page := filepath.Join(reference.Root(t), "docs", "models-reference.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- printed by go test ./cmd/winnow -run TestNetworks -networks -->\n",
		"<!-- end of networks -->"
	before, rest, ok := strings.Cut(string(text), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table of networks", page)
	}
	var table strings.Builder
	table.WriteString("| exporter | network | add | extract | fine-tune | export |\n|---|---|---|---|---|---|\n")
	list := exported.List()
	if *allNetworks {
		list = append(list, realNetworks(t)...)
	}
	for i, n := range list {
		row := fmt.Sprintf("| %s | %s |", n.Exporter, n.Form)
		if !*allNetworks && i%17 != 3 {
			if !strings.Contains(shown, row) {
				t.Errorf("docs/models-reference.md has no row %s", row)
			}
			continue
		}
		for _, cell := range tryNetwork(t, n) {
			row += " " + cell + " |"
		}
		if table.WriteString(row + "\n"); !*allNetworks && !strings.Contains(shown, row+"\n") {
			t.Errorf("docs/models-reference.md does not show what happens: %s\nto mend it: go test -vet=off "+
				"./cmd/winnow -run TestNetworks -networks", row)
		}
	}
	if rows := strings.Count(shown, "\n") - 2; !*allNetworks {
		if rows < 40 || rows < len(list) {
			t.Errorf("docs/models-reference.md shows %d networks, expected %d", rows, len(list))
		}
		return
	}
	if err := os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
