package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/graph"
	"winnow/internal/orttest"
	"winnow/internal/reference"
)

// tiny is a network small enough for central differences: all kinds of layers, odd sizes, stride 2.
func tiny() (*net, []float32, []int) {
	rng := rand.New(rand.NewPCG(6, 1))
	m := newNet(7, 2, []layer{{4, 5, 2}, {3, 3, 1}, {5, 3, 2}}, 4, rng)
	for _, b := range m.norms {
		for c := range b.channels {
			b.gamma.Data[c] = 1 + 0.3*float32(rng.NormFloat64())
			b.beta.Data[c] = 0.3 * float32(rng.NormFloat64())
		}
	}
	const n = 6
	x, classes := make([]float32, n*7*7*2), make([]int, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range classes {
		classes[i] = rng.IntN(4)
	}
	return m, x, classes
}

func lossOf(m *net, x []float32, classes []int) float64 {
	n := len(classes)
	loss, _ := crossEntropy(m.classify(m.features(x, n, true), n), classes, 0.1)
	return loss
}

// slope is ∂loss/∂v by central differences: the median of three steps, since a step now and then carries
// some rectifier over its kink.
func slope(m *net, x []float32, classes []int, v *float32) float64 {
	was := *v
	var slopes []float64
	for _, h := range []float32{4e-4, 2e-4, 1e-4} {
		*v = was + h
		up, above := lossOf(m, x, classes), *v
		*v = was - h
		slopes = append(slopes, (up-lossOf(m, x, classes))/float64(above-*v))
	}
	*v = was
	slices.Sort(slopes)
	return slopes[1]
}

// off is how far a gradient is from central differences, relative to their norm.
func off(slopes []float64, grad []float32) float64 {
	var norm, distance float64
	for i, g := range slopes {
		norm += g * g
		distance += (g - float64(grad[i])) * (g - float64(grad[i]))
	}
	return math.Sqrt(distance / norm)
}

func TestGradient(t *testing.T) {
	m, x, classes := tiny()
	n := len(classes)
	logits := m.classify(m.features(x, n, true), n)
	crossEntropy(logits, classes, 0.1)
	m.backward(logits, n)
	const tolerance = 0.01
	for _, p := range m.params() {
		slopes := make([]float64, len(p.Data))
		for i := range p.Data {
			slopes[i] = slope(m, x, classes, &p.Data[i])
		}
		if e := off(slopes, p.Grad); e > tolerance {
			t.Errorf("%s: gradient is off by %.4f of its norm, tolerance %v", p.Name, e, tolerance)
		}
		for i := range p.Grad { // a spoiled twin must be seen
			p.Grad[i] *= 1.03
		}
		if e := off(slopes, p.Grad); e <= tolerance {
			t.Errorf("%s: a gradient 3 %% too long is not seen (%.4f)", p.Name, e)
		}
	}
}

// slowConv is the definition, with its own indices.
func slowConv(c *conv, x []float32, n int) []float32 {
	y := make([]float32, n*c.outSide*c.outSide*c.out)
	for i := range n {
		for oy := range c.outSide {
			for ox := range c.outSide {
				for o := range c.out {
					var sum float64
					for ky := range c.kernel {
						for kx := range c.kernel {
							iy, ix := oy*c.stride+ky-c.kernel/2, ox*c.stride+kx-c.kernel/2
							if iy < 0 || ix < 0 || iy >= c.side || ix >= c.side {
								continue
							}
							for k := range c.in {
								sum += float64(x[((i*c.side+iy)*c.side+ix)*c.in+k]) * float64(c.weight.Data[((ky*c.kernel+kx)*c.in+k)*c.out+o])
							}
						}
					}
					y[((i*c.outSide+oy)*c.outSide+ox)*c.out+o] = float32(sum)
				}
			}
		}
	}
	return y
}

func TestConvIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range []struct{ side, kernel, stride int }{{6, 3, 1}, {6, 3, 2}, {7, 5, 2}, {8, 5, 2}, {5, 3, 2}, {3, 5, 1}} {
		c := newConv("c", l.side, 3, 4, l.kernel, l.stride, rng)
		x := make([]float32, 5*l.side*l.side*3)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		want := slowConv(c, x, 5)
		for i, v := range c.forward(x, 5) {
			if math.Abs(float64(v-want[i])) > 1e-4 {
				t.Fatalf("%+v: output %d is %v, expected %v", l, i, v, want[i])
			}
		}
	}
}

func TestNormUsesItsAverages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := newNorm("n", 2)
	x := make([]float32, 2*400)
	for range 200 {
		for i := range x {
			x[i] = float32(3 + 2*rng.NormFloat64())
		}
		b.forward(x, true)
	}
	for c := range 2 {
		if math.Abs(float64(b.mean[c]-3)) > 0.1 || math.Abs(float64(b.variance[c]-4)) > 0.4 {
			t.Errorf("running mean %.2f and variance %.2f, expected about 3 and 4", b.mean[c], b.variance[c])
		}
	}
	y := b.forward([]float32{3, 5}, false)
	if math.Abs(float64(y[0])) > 0.1 || math.Abs(float64(y[1])-1) > 0.1 {
		t.Errorf("normalised 3 and 5 to %v, expected about 0 and 1", y)
	}
}

func TestSameSeedSameNetwork(t *testing.T) {
	characters := glyphs.Characters(glyphs.Pretrain)[:20]
	trained := func(seed uint64) []byte {
		data, err := newStream(characters, glyphs.Printed(), seed)
		if err != nil {
			t.Fatal(err)
		}
		m := newNet(glyphs.Size, 1, []layer{{4, 5, 2}, {8, 3, 2}}, len(characters), rand.New(rand.NewPCG(seed, 0)))
		if err := train(t.Context(), m, data, settings{Steps: 5, Batch: 24, Rate: 0.003, WarmUp: 2, Seed: seed}, io.Discard); err != nil {
			t.Fatal(err)
		}
		model, err := marshal(m, glyphs.Size, 1)
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

// Training must lower the loss on images it has not seen, far below guessing.
func TestTrainingLearns(t *testing.T) {
	characters := glyphs.Characters(glyphs.Pretrain)[:6]
	data, err := newStream(characters, glyphs.Printed(), 4)
	if err != nil {
		t.Fatal(err)
	}
	m := newNet(glyphs.Size, 1, []layer{{8, 5, 2}, {16, 3, 2}, {24, 3, 2}}, len(characters), rand.New(rand.NewPCG(4, 0)))
	if err := train(t.Context(), m, data, settings{Steps: 150, Batch: 48, Rate: 0.01, WarmUp: 5}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if a := heldOut(m, data.fresh(), 256); a < 0.6 {
		t.Errorf("accuracy on fresh images of 6 characters is %.2f, expected over 0.6 (guessing: 0.17)", a)
	}
}

// The exported model computes what the trainer's own forward pass computes.
func TestExportAgreesWithONNXRuntime(t *testing.T) {
	rt := orttest.Runtime(t)
	rng := rand.New(rand.NewPCG(9, 0))
	m := newNet(glyphs.Size, 1, shape, 10, rng)
	const n = 8
	x := make([]float32, n*glyphs.Size*glyphs.Size)
	for range 5 { // running averages that are not the initial ones
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		m.features(x, n, true)
	}
	for _, b := range m.norms {
		for c := range b.channels {
			b.gamma.Data[c], b.beta.Data[c] = float32(1+0.3*rng.NormFloat64()), float32(0.3*rng.NormFloat64())
		}
	}
	model, err := marshal(m, glyphs.Size, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, model, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := openModel(rt, path)
	if err != nil {
		t.Fatal(err)
	}
	want, got := features.NewMatrix(n, m.dim), features.NewMatrix(n, m.dim)
	if err := errors.Join(m.embedder().run(want, x, n), e.run(got, x, n)); err != nil {
		t.Fatal(err)
	}
	if d := distance(want.Data, got.Data); d > 1e-4 {
		t.Errorf("ONNX Runtime and the trainer differ by %.2g of the largest value", d)
	}
	m.norms[1].beta.Data[0] += 0.01 // a spoiled twin must be seen
	if err := m.embedder().run(want, x, n); err != nil {
		t.Fatal(err)
	}
	if d := distance(want.Data, got.Data); d <= 1e-4 {
		t.Errorf("a network with another bias is not seen (%.2g)", d)
	}
}

// distance is the largest difference relative to the largest value.
func distance(a, b []float32) float64 {
	var most, largest float64
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
		largest = max(largest, math.Abs(float64(a[i])))
	}
	return most / largest
}

func TestPrecisionAt1AndAUROC(t *testing.T) {
	// Two tight classes of three and a straggler that lies with the others.
	s := features.NewSet(6, 2)
	for i, angle := range []float64{0, 0.1, 1.5, 1.4, 1.6, 1.75} {
		s.X.Data[2*i], s.X.Data[2*i+1] = float32(math.Cos(angle)), float32(math.Sin(angle))
	}
	s.Labels = []int{0, 0, 0, 1, 1, 1}
	if p := precisionAt1(s); p != 0.5 {
		t.Errorf("P@1 is %v, expected 3 of 6: the straggler takes two neighbours with it", p)
	}
	tight := features.NewSet(400, 8)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		tight.Labels[i] = i % 8
		for k := range 8 {
			tight.X.Data[i*8+k] = 0.01 * float32(rng.NormFloat64())
		}
		tight.X.Data[i*8+i%8] += 1
	}
	if err := features.Normalize(tight.X); err != nil {
		t.Fatal(err)
	}
	if a := noiseAUROC(tight, 0.5, 1); a < 0.999 {
		t.Errorf("AUROC on separate classes is %v", a)
	}
	for i := range tight.X.Data {
		tight.X.Data[i] = float32(rng.NormFloat64())
	}
	if err := features.Normalize(tight.X); err != nil {
		t.Fatal(err)
	}
	if a := noiseAUROC(tight, 0.5, 1); a < 0.4 || a > 0.6 {
		t.Errorf("AUROC on vectors without classes is %v, expected about 0.5", a)
	}
}

func TestWhitenedIsWhite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := features.NewMatrix(500, 4)
	for i := range x.Rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		copy(features.Row(x, i), []float32{float32(5 + 3*a), float32(a + 0.1*b), float32(rng.NormFloat64()), float32(b)})
	}
	w, err := whitened(x, 3)
	if err != nil {
		t.Fatal(err)
	}
	for p := range 3 {
		for q := range 3 {
			var sum float64
			for i := range w.Rows {
				sum += float64(w.Data[i*3+p]) * float64(w.Data[i*3+q]) / float64(w.Rows)
			}
			if want := map[bool]float64{true: 1}[p == q]; math.Abs(sum-want) > 1e-3 {
				t.Errorf("covariance %d,%d is %.4f, expected %v", p, q, sum, want)
			}
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{}, {"-out", "a", "-measure", "b"}, {"-out", "a", "rest"}, {"-nonsense"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
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
	e, err := openModel(rt, path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(e, datasets.Validation, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.7995; math.Abs(r.Frozen-want) > 0.005 {
		t.Errorf("P@1 on validation is %.4f, models/glyphnet.md says %.4f", r.Frozen, want)
	}
}
