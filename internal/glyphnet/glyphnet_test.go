package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
	"winnow/models/architecture"
)

// open opens a network for training.
func open(t *testing.T, described architecture.Network, classes int, seed uint64) *network {
	t.Helper()
	n, err := newNetwork(orttest.Runtime(t), described, classes, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.live.Close() })
	return n
}

// blocks adds convolutions of these channels with normalisation and rectifier, 5×5 first, each a stage.
func blocks(p *architecture.Plan, strides int, channels ...int) {
	kernel, stride := 5, 2
	for i, out := range channels {
		p.Stage(fmt.Sprint("block", i+1), func() {
			p.Conv(out, kernel, stride, kernel/2, i > 0 && strides == 1)
			p.BatchNorm()
			p.Relu()
		})
		kernel, stride = 3, strides
	}
	p.GlobalAverage()
}

// odd is small enough for central differences: odd sizes, stride 2, a convolution with a bias.
var odd = architecture.Network{Name: "odd", Channels: 3, Side: 7,
	Layers: func(p *architecture.Plan) { blocks(p, 1, 4, 5) }}

// small learns a few characters in seconds.
var small = architecture.Network{Name: "small", Channels: 1, Side: 32,
	Layers: func(p *architecture.Plan) { blocks(p, 2, 8, 16, 24) }}

// shake moves what starts at 0 or 1 somewhere else.
func shake(n *network) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, p := range n.listParams() {
		for i := range p.Data {
			p.Data[i] += 0.2 * float32(rng.NormFloat64())
		}
	}
}

func drawn(seed uint64, n int) []float32 {
	rng, x := rand.New(rand.NewPCG(seed, 0)), make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// pass returns one forward and backward pass of backbone and classifier together.
func pass(t *testing.T, n *network, pixels []float32, classes []int) (loss float64) {
	t.Helper()
	rows := len(classes)
	x, dx := features.NewMatrix(rows, n.live.Dim()), features.NewMatrix(rows, n.live.Dim())
	logits := features.NewMatrix(rows, n.classifier.Bias.Cols)
	if err := n.live.Forward(x, [][]float32{pixels}, rows, true); err != nil {
		t.Fatal(err)
	}
	n.classifier.Forward(logits, x)
	loss, _ = crossEntropy(logits, classes, 0.1)
	n.classifier.Backward(dx, x, logits, 0)
	if err := n.live.Backward(dx, false); err != nil {
		t.Fatal(err)
	}
	return loss
}

// slope is ∂loss/∂v by central differences: the median of three steps, since a step now and then carries
// some rectifier over its kink.
func slope(loss func() float64, v *float32) float64 {
	was := *v
	var slopes []float64
	for _, h := range []float32{1e-3, 5e-4, 2e-4} {
		*v = was + h
		up, above := loss(), *v
		*v = was - h
		slopes = append(slopes, (up-loss())/float64(above-*v))
	}
	*v = was
	slices.Sort(slopes)
	return slopes[1]
}

// off returns how far a gradient is from central differences, relative to their norm.
func off(slopes []float64, grad []float32) float64 {
	var norm, distance float64
	for i, g := range slopes {
		norm += g * g
		distance += (g - float64(grad[i])) * (g - float64(grad[i]))
	}
	return math.Sqrt(distance / norm)
}

// The loss is differentiated through the classifier and the backbone, batch statistics included.
func TestGradient(t *testing.T) {
	n := open(t, odd, 4, 1)
	shake(n)
	pixels, classes := drawn(1, 6*3*7*7), []int{0, 3, 1, 1, 2, 0}
	pass(t, n, pixels, classes)
	const tolerance = 0.01
	var grads [][]float32
	for _, p := range n.listParams() {
		grads = append(grads, slices.Clone(p.Grad))
	}
	for k, p := range n.listParams() {
		if p.Name == "block2.conv1.bias" { // the batch's mean takes it away again: its slope is 0
			continue
		}
		slopes := make([]float64, len(p.Data))
		for i := range p.Data {
			slopes[i] = slope(func() float64 { return pass(t, n, pixels, classes) }, &p.Data[i])
		}
		if e := off(slopes, grads[k]); e > tolerance {
			t.Errorf("%s: gradient is off by %.4f of its norm, tolerance %v", p.Name, e, tolerance)
		}
		for i := range grads[k] { // a spoiled twin must be seen
			grads[k][i] *= 1.03
		}
		if e := off(slopes, grads[k]); e <= tolerance {
			t.Errorf("%s: a gradient 3 %% too long is not seen (%.4f)", p.Name, e)
		}
	}
}

// The loss of two rows, by hand: logits (0, log 3) are the shares 1/4 and 3/4.
func TestCrossEntropy(t *testing.T) {
	log3 := math.Log(3)
	logits := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, float32(log3), 0, float32(log3)}}
	loss, accuracy := crossEntropy(logits, []int{0, 1}, 0.2)
	// Targets (0.9, 0.1) and (0.1, 0.9); -log of the shares: log 4 and log 4 - log 3.
	if want := math.Log(4) - 0.5*log3; math.Abs(loss-want) > 1e-7 || accuracy != 0.5 {
		t.Errorf("loss %v, accuracy %v, expected %v and 0.5", loss, accuracy, want)
	}
	for i, want := range []float64{0.25 - 0.9, 0.75 - 0.1, 0.25 - 0.1, 0.75 - 0.9} {
		if math.Abs(float64(logits.Data[i])-want/2) > 1e-7 {
			t.Errorf("gradient %d is %v, expected %v", i, logits.Data[i], want/2)
		}
	}
}

// The rate rises to its peak in 200 steps, in a tenth of a short run, and falls to nearly 0.
func TestRate(t *testing.T) {
	for steps, warm := range map[int]int{4000: 200, 100: 10, 5: 0} {
		_, schedule, err := settings{Steps: steps, Rate: 0.003}.newSolver()
		if err != nil {
			t.Fatal(err)
		}
		if peak := schedule.At(warm); peak != 0.003 || warm > 0 && schedule.At(warm-1) >= peak ||
			schedule.At(steps-1) > 0.0003+0.001*float64(50/steps) {
			t.Errorf("%d steps: rate %v at %d, %v at the end", steps, peak, warm, schedule.At(steps-1))
		}
	}
	if _, _, err := (settings{Rate: 0.003}).newSolver(); err == nil {
		t.Error("no steps were accepted")
	}
}

func TestSameSeedSameFile(t *testing.T) {
	characters := glyphs.Characters(glyphs.Pretrain)[:20]
	trained := func(seed uint64) []byte {
		data, err := newStream(characters, glyphs.Printed(), seed)
		if err != nil {
			t.Fatal(err)
		}
		n := open(t, small, len(characters), seed)
		if err := trainNetwork(t.Context(), n, data, settings{Steps: 5, Batch: 24, Rate: 0.003, Seed: seed},
			io.Discard); err != nil {
			t.Fatal(err)
		}
		model, err := n.encodeModel()
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	one := trained(1)
	if !bytes.Equal(one, trained(1)) {
		t.Error("the same seed gave two models")
	}
	if bytes.Equal(one, trained(2)) {
		t.Error("another seed gave the same model")
	}
}

// Training lowers the error on characters, far below guessing.
func TestTrainingLearns(t *testing.T) {
	characters := glyphs.Characters(glyphs.Pretrain)[:6]
	data, err := newStream(characters, glyphs.Printed(), 4)
	if err != nil {
		t.Fatal(err)
	}
	n := open(t, small, len(characters), 4)
	var log strings.Builder
	if err := trainNetwork(t.Context(), n, data, settings{Steps: 200, Batch: 48, Rate: 0.01}, &log); err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(log.String(), "step 200: ")
	var loss, accuracy float64
	if _, err := fmt.Sscanf(last, "loss %f, accuracy %f,", &loss, &accuracy); err != nil || accuracy < 0.6 {
		t.Errorf("accuracy on new images of 6 characters is %.2f (%v), expected over 0.6 (guessing: 0.17)", accuracy, err)
	}
}

// The shipped model is small, is read by our own reader, and is as good on the validation classes as
// models/glyphnet.md says.
func TestShippedModel(t *testing.T) {
	path := filepath.Join(reference.Root(t), "models", "glyphnet.onnx")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	model, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Check(); err != nil || len(data) > maxBytes {
		t.Errorf("%d bytes, check: %v", len(data), err)
	}
	rt := orttest.Runtime(t)
	orttest.UseBLAS(t)
	e, err := openModel(rt, data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := precisionAt1(e, datasets.Validation, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.7995; math.Abs(p-want) > 0.005 {
		t.Errorf("P@1 on validation is %.4f, models/glyphnet.md says %.4f", p, want)
	}
}

// outline returns what a model is made of, numbers aside.
func outline(m *graph.Model) (parts []string) {
	for _, n := range m.Graph.Nodes {
		parts = append(parts, fmt.Sprint(n.Op, n.Ints("kernel_shape"), n.Ints("pads"), n.Ints("strides"),
			n.Int("axis", 0)))
	}
	for _, t := range m.Graph.Initializers {
		parts = append(parts, fmt.Sprint(t.Name, t.Dims, t.Type))
	}
	slices.Sort(parts[len(m.Graph.Nodes):])
	for _, v := range slices.Concat(m.Graph.Inputs, m.Graph.Outputs) {
		parts = append(parts, fmt.Sprint(v.Name, v.Type, v.Shape))
	}
	return append(parts, fmt.Sprint(m.Opset(), m.IRVersion, m.Graph.Name, m.Producer, m.Doc))
}

// A file trained from the embedded description has the shipped file's layers, names and sizes.
func TestFileHasTheShippedForm(t *testing.T) {
	shipped, err := os.ReadFile(filepath.Join(reference.Root(t), "models", "glyphnet.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	described, err := architecture.Find("glyphnet")
	if err != nil {
		t.Fatal(err)
	}
	written, err := open(t, described, 3, 1).encodeModel()
	if err != nil {
		t.Fatal(err)
	}
	var outlines [2][]string
	for i, data := range [][]byte{shipped, written} {
		m, err := graph.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		outlines[i] = outline(m)
	}
	if d := cmp.Diff(outlines[0], outlines[1]); d != "" {
		t.Errorf("-shipped +written:\n%s", d)
	}
}
