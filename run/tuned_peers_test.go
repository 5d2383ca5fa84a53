package run

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/losses"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run/config"
	"winnow/run/tuning"
	"winnow/train"
)

// drawnTraining returns a training by a method, resolved up to its encoder. Network and head have random weights; the
// data are a few grey images of three classes.
func drawnTraining(t *testing.T, method string, set ...string) *Training {
	t.Helper()
	rt := orttest.Runtime(t)
	dir := t.TempDir()
	var paths []string
	for i := range 12 {
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
	net, err := architecture.Find("lenet5")
	if err != nil {
		t.Fatal(err)
	}
	m := net.Model(1)
	m.Metadata = append(m.Metadata, graph.Property{Key: models.PreprocessingKey, Value: net.Preprocessing.Key()})
	model := filepath.Join(dir, "lenet5.onnx")
	if err := os.WriteFile(model, m.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "head: {out: 6, init: random}\nsampler: {rows: 8}\nfinetune: {weights: all}\nlength: 3 epochs\n"
	cfg, err := config.Parse("test", []byte("method: "+method+"\n"+text), set)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = config.Data{Root: dir, Model: model}
	cfg.ResolveUsualLR(true)
	live, err := tuning.Open(cfg, paths, tuning.Config{Note: func(string, ...any) {},
		Watch: func(string) (func(int, int), func()) { return func(int, int) {}, func() {} }})
	if err != nil {
		t.Fatal(err)
	}
	live.Use(rt)
	t.Cleanup(func() { live.Close() })
	data := Data{Train: features.Set{X: features.NewMatrix(12, 500)}, Classes: []string{"a", "b", "c"}, Paths: paths}
	for i := range data.Train.X.Data {
		data.Train.X.Data[i] = float32(math.Sin(float64(i * i)))
	}
	for i := range 12 {
		data.Train.Labels, data.Train.IDs = append(data.Train.Labels, i%3), append(data.Train.IDs, i)
	}
	data.Stored = data.Train
	r := &Training{backbone: live, Plan: Plan{Config: cfg}, Data: data}
	if err := r.prepareHead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.buildConfig(); err != nil {
		t.Fatal(err)
	}
	if r.encoder, err = r.openEncoder(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.encoder.Close() })
	return r
}

// checkSlopes compares the gradients of an encoder's parameters with difference quotients of its loss.
func checkSlopes(t *testing.T, r *Training, rows []int) {
	t.Helper()
	wrong, checked := wrongSlopes(t, r, r.loop.Terms[0].Loss, rows)
	for _, text := range wrong {
		t.Error(text)
	}
	if checked < 8 {
		t.Errorf("only %d parameters were checked", checked)
	}
}

// wrongSlopes compares the gradient of a loss with a difference quotient, for the value of each parameter that has the
// largest gradient. It returns the differences. It restores the state of the encoder before each evaluation.
func wrongSlopes(t *testing.T, r *Training, loss losses.Loss, rows []int) (wrong []string, checked int) {
	t.Helper()
	var state []*features.Param
	if s, ok := r.encoder.(train.Stateful); ok {
		state = s.State()
	}
	var before [][]float32
	for _, p := range state {
		before = append(before, slices.Clone(p.Data))
	}
	value := func(grad bool) float64 {
		for i, p := range state {
			copy(p.Data, before[i])
		}
		z, err := r.encoder.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		if !grad {
			return loss.Eval(nil, z, nil)
		}
		dz := features.NewMatrix(z.X.Rows, z.X.Cols)
		v := loss.Eval(&dz, z, nil)
		if err := r.encoder.Backward(dz); err != nil {
			t.Fatal(err)
		}
		return v
	}
	r.resting = func() bool { return false } // do not freeze the network, also before the first step
	value(true)
	for _, p := range r.encoder.Params() {
		g := slices.Clone(p.Grad)
		at := 0
		for i, v := range g {
			if math.Abs(float64(v)) > math.Abs(float64(g[at])) {
				at = i
			}
		}
		const h = 2e-3
		was := p.Data[at]
		p.Data[at] = was + h
		up := value(false)
		p.Data[at] = was - h
		down := value(false)
		p.Data[at] = was
		if slope := (up - down) / (2 * h); math.Abs(slope-float64(g[at])) > 0.03*math.Abs(slope)+5e-4 {
			wrong = append(wrong, fmt.Sprintf("%s: gradient %v, difference quotient %v", p.Name, g[at], slope))
		}
		checked++
	}
	return wrong, checked
}

// The gradients of both networks of Co-teaching reach both backbones through heads and classifiers. The backbones start
// from different weights. A method with one network has one backbone.
func TestPeersOnBackbones(t *testing.T) {
	for _, c := range []struct {
		method            string
		params, backbones int
	}{{"co-teaching", 2 * 10, 2}, {"cross-entropy", 10, 1}} {
		r := drawnTraining(t, c.method, "peers.rate=0.3")
		if n := len(r.encoder.Params()); n != c.params {
			t.Errorf("%s: %d parameters, expected %d", c.method, n, c.params)
		}
		checkSlopes(t, r, []int{0, 1, 2, 3, 4, 5, 6, 7})
		byName := map[string]*features.Param{}
		for _, p := range r.encoder.Params() {
			byName[p.Name] = p
		}
		for name, p := range byName {
			if q := byName["peer."+name]; q != nil && p.Rows > 1 && slices.Equal(p.Data, q.Data) {
				t.Errorf("%s: both networks start with the same %s", c.method, name)
			}
		}
		var groups []string
		for _, g := range r.loop.Groups {
			groups = append(groups, g.Name)
		}
		want := []string{"head", "backbone", "peer", "peer backbone"}[:2*c.backbones]
		if !slices.Equal(groups, want) {
			t.Errorf("%s: groups %v, expected %v", c.method, groups, want)
		}
	}
}

// withoutBlock is a loss that omits the gradient of one block of a step's views (see selective.Learner).
type withoutBlock struct {
	losses.Loss
	block, width int
}

func (l withoutBlock) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	v := l.Loss.Eval(grad, z, ref)
	for i := 0; grad != nil && i < grad.Rows; i++ {
		clear(features.Row(*grad, i)[l.block*l.width : (l.block+1)*l.width])
	}
	return v
}

// The gradients of Sel-CL reach the backbone through first views, mixtures of images and mixtures of selected images,
// in the warm-up, after it and in the second stage. The test also checks that it detects a missing gradient.
func TestSelCLOnBackbone(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    []string
		steps  int
		blocks []int // blocks of views that have a gradient
	}{
		{"warm-up", []string{"selective.warm_up=2 epochs"}, 1, []int{0}},
		{"pairs of the batch", []string{"selective.queue_start=3 epochs", "selective.class_weight=0",
			"selective.similarity_weight=0"}, 4, nil}, // these gradients are almost 0 in an untrained network
		{"pairs of the queue as well", []string{"selective.queue_start=1 epoch", "selective.class_weight=0",
			"selective.similarity_weight=0"}, 4, []int{1, 2}},
		{"similarities", []string{"selective.queue_start=3 epochs", "selective.class_weight=0",
			"selective.similarity_weight=1"}, 4, []int{1, 2}},
		{"classes", []string{"selective.queue_start=3 epochs", "selective.similarity_weight=0"}, 4, []int{3, 4}},
		{"second stage", []string{"selective.second_stage=2 epochs"}, 7, []int{0, 1}},
	} {
		// With average near 1, the keys' network ignores the changed weights. With alpha 1 and beta 0, all rows of a
		// class form confident pairs. The low temperature separates the similar outputs of an untrained network.
		r := drawnTraining(t, "sel-cl", append([]string{"finetune.augment=digits", "sampler.rows=4",
			"selective.average=0.999999", "selective.alpha=1", "selective.beta=0", "selective.temperature=0.02"},
			c.set...)...)
		r.loop.Encoder, r.loop.Steps = r.encoder, c.steps // all steps up to the tested one
		tr, err := train.New(r.loop)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, err := tr.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		loss, rows := r.loop.Terms[0].Loss, []int{0, 3, 1, 4} // two rows of each of two classes
		wrong, checked := wrongSlopes(t, r, loss, rows)
		if len(wrong) > 0 || checked < 8 {
			t.Errorf("%s: %d parameters checked, wrong gradients:\n%s", c.name, checked, strings.Join(wrong, "\n"))
		}
		for _, block := range c.blocks {
			if wrong, _ := wrongSlopes(t, r, withoutBlock{loss, block, r.Config.Head.Out + len(r.Data.Classes)},
				rows); len(wrong) == 0 {
				t.Errorf("%s: the test does not detect that the gradient of block %d is missing", c.name, block)
			}
		}
	}
}

// The gradient of TCL reaches the backbone through mixtures of images.
func TestSelectiveOnBackbone(t *testing.T) {
	r := drawnTraining(t, "tcl", "finetune.augment=digits", "selective.warm_up=2 epochs", "sampler.rows=4")
	r.loop.Encoder, r.loop.Steps = r.encoder, 1 // only the tested step
	tr, err := train.New(r.loop)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkSlopes(t, r, []int{0, 1, 2, 3})
	if n := len(r.loop.Groups); n != 2 || r.loop.Groups[1].Name != "backbone" || len(r.loop.Groups[1].Params) != 6 {
		t.Errorf("%d groups: %+v", n, r.loop.Groups)
	}
}
