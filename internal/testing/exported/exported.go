// Package exported builds small image networks with drawn weights, written as the usual exporters write them: their
// operators, operator sets, names, axes and sizes. A table of docs says what winnow does with each.
package exported

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"winnow/backbone/graph"
	"winnow/internal/testing/onnxtest"
	"winnow/internal/testing/vits"
	"winnow/models/architecture"
)

// Network is a file as an exporter writes it.
type Network struct {
	Exporter, Form string
	File           []byte
	Beside         map[string][]byte // data files by name
	Whole          []byte            // the file before its values were moved into data files
	Flags          string            // of winnow models add
	High, Wide     int               // of the images that it takes
	Grey           bool
	Scale          float64                   // of bytes, before Mean and Std
	Mean, Std      [3]float64                // of the channels, in the network's order; a Std of 0 is 1
	BGR, Last      bool                      // channels: blue first; after height and width
	Output         string                    // the tensor that holds the features
	Batch          int                       // that the file was exported for; 0: any
	Eval           func([]float64) []float64 // of one image, instead of evaluating the file
	Rough          float64                   // how far numbers may be off, as a share of the largest; 0: 1e-4
}

// form says how the network is written.
type form struct {
	opset           int64
	input, output   string
	batch           int64  // 0: free
	name            string // of the free batch
	high, wide      int64
	openSize        bool // height and width are free
	grey, last      bool
	inputs          bool   // weights are inputs too
	nodes           bool   // weights are Constant nodes
	norm            bool   // batch normalization is a node
	activation      string // how it is written
	pool            string
	classifier      string
	end             string // behind the classifier
	inside          string // preparation inside the network
	pad, lrn, idle  bool
	flat, embedding bool // features of the flattened map; behind a dense layer and a norm
	both            bool // features are an output too
	fused           bool
	unrolled        bool
	freeInput       bool // the batch is free in the input alone
	half            string
	quantised       string
	scale, mean     float64 // of the preparation outside; 0: 1/255
	bgr             bool
	outside         bool
}

const (
	side    = 12
	width   = 8
	classes = 5
)

// writer writes one network.
type writer struct {
	*graph.Builder
	f     form
	rng   *rand.Rand
	batch graph.Dim
}

func (w *writer) weight(name string, mean, spread float64, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(mean + spread*w.rng.NormFloat64())
	}
	return w.constant(graph.NewTensor(w.Fresh(name), values, dims...))
}

// constant writes a constant as the form wants it.
func (w *writer) constant(t *graph.Tensor) string {
	if w.f.nodes {
		return w.NodeTo(t.Name, "Constant", nil, graph.TensorValue("value", t))
	}
	name := w.Constant(t)
	if m := w.Model(); w.f.inputs && m.IRVersion > 3 { // up to 3 they always are
		m.Graph.Inputs = append(m.Graph.Inputs, &graph.ValueInfo{Name: name, Type: t.Type,
			Shape: graph.ShapeOf(t.Dims...)})
	}
	return name
}

func (w *writer) scalar(name string, v float32) string {
	return w.constant(graph.NewTensor(w.Fresh(name), []float32{v}))
}

func (w *writer) ints(name string, v ...int64) string {
	return w.constant(graph.NewTensor(w.Fresh(name), v, int64(len(v))))
}

// conv writes a convolution with a kernel of 3×3, and the normalization behind it.
func (w *writer) conv(x string, out, in, stride, groups int64) string {
	kernel := w.weight("conv.weight", 0, .35, out, in/groups, 3, 3)
	list := []*graph.Attribute{graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", stride, stride),
		graph.Ints("dilations", 1, 1), graph.Int("group", groups)}
	switch {
	case w.f.pad && stride > 1: // as TensorFlow's SAME, by a node
		pads := []int64{0, 0, 0, 0, 0, 0, 1, 1}
		if w.Opset() < 11 {
			x = w.Node("Pad", []string{x}, graph.Ints("pads", pads...))
		} else {
			x = w.Node("Pad", []string{x, w.ints("pads", pads...)})
		}
		list = append(list, graph.Ints("pads", 0, 0, 0, 0))
	case w.f.pad:
		list = append(list, graph.String("auto_pad", "SAME_UPPER"))
	default:
		list = append(list, graph.Ints("pads", 1, 1, 1, 1))
	}
	inputs := []string{x, kernel}
	if !w.f.norm {
		inputs = append(inputs, w.weight("conv.bias", 0, .1, out))
	}
	if w.f.fused {
		w.Import("com.microsoft", 1)
		y := w.Fresh("fused")
		w.Add(&graph.Node{Op: "FusedConv", Domain: "com.microsoft", Inputs: inputs, Outputs: []string{y},
			Attributes: append(list, graph.String("activation", "Relu"))})
		return y
	}
	y := w.Node("Conv", inputs, list...)
	if w.f.norm {
		inputs := []string{y, w.weight("bn.weight", 1, .2, out), w.weight("bn.bias", 0, .1, out),
			w.weight("bn.running_mean", 0, .1, out), w.spread("bn.running_var", out)}
		list := []*graph.Attribute{graph.Float("epsilon", 1e-3)}
		if w.Opset() < 9 {
			list = append(list, graph.Int("spatial", 1), graph.Float("momentum", .9))
		}
		y = w.Node("BatchNormalization", inputs, list...)
	}
	return y
}

// spread draws variances.
func (w *writer) spread(name string, n int64) string {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(.5 + w.rng.Float64())
	}
	return w.constant(graph.NewTensor(w.Fresh(name), values, n))
}

func (w *writer) activate(x string) string {
	switch w.f.activation {
	case "none":
		return x
	case "silu":
		return w.Node("Mul", []string{x, w.Node("Sigmoid", []string{x})})
	case "relu6":
		if w.Opset() < 11 {
			return w.Node("Clip", []string{x}, graph.Float("min", 0), graph.Float("max", 6))
		}
		return w.Node("Clip", []string{x, w.scalar("min", 0), w.scalar("max", 6)})
	case "hardswish":
		return w.Node("HardSwish", []string{x})
	case "hardsigmoid":
		return w.Node("Mul", []string{x, w.Node("HardSigmoid", []string{x}, graph.Float("alpha", 1./6))})
	case "hardswish in parts":
		y := w.Node("Add", []string{x, w.scalar("three", 3)})
		y = w.Node("Clip", []string{y, w.scalar("min", 0), w.scalar("max", 6)})
		return w.Node("Div", []string{w.Node("Mul", []string{x, y}), w.scalar("six", 6)})
	case "gelu":
		y := w.Node("Erf", []string{w.Node("Div", []string{x, w.scalar("root", math.Sqrt2)})})
		y = w.Node("Mul", []string{x, w.Node("Add", []string{y, w.scalar("one", 1)})})
		return w.Node("Mul", []string{y, w.scalar("half", .5)})
	case "prelu":
		return w.Node("PRelu", []string{x, w.weight("prelu.weight", .25, .05, width, 1, 1)})
	case "leaky":
		return w.Node("LeakyRelu", []string{x}, graph.Float("alpha", .1))
	}
	return w.Node("Relu", []string{x})
}

// rows returns the batch as a Reshape states it.
func (w *writer) rows() int64 {
	if w.f.batch > 0 {
		return w.f.batch
	}
	return -1
}

func (w *writer) pooled(x string) string {
	switch w.f.pool {
	case "mean":
		return w.Node("ReduceMean", []string{x}, graph.Ints("axes", 2, 3), graph.Int("keepdims", 0))
	case "mean by input":
		return w.Node("ReduceMean", []string{x, w.ints("axes", 2, 3)}, graph.Int("keepdims", 0))
	case "mean kept":
		y := w.Node("ReduceMean", []string{x, w.ints("axes", -1, -2)}, graph.Int("keepdims", 1))
		return w.Node("Reshape", []string{y, w.ints("shape", w.rows(), width)}, graph.Int("allowzero", 1))
	case "squeeze":
		y := w.Node("GlobalAveragePool", []string{x})
		if w.Opset() < 13 {
			return w.Node("Squeeze", []string{y}, graph.Ints("axes", 2, 3))
		}
		return w.Node("Squeeze", []string{y, w.ints("axes", 2, 3)})
	case "reshape":
		return w.Node("Reshape", []string{w.Node("GlobalAveragePool", []string{x}), w.ints("shape", w.rows(), width)})
	case "average":
		high, wide := w.f.high/2, w.f.wide/2
		y := w.Node("AveragePool", []string{x}, graph.Ints("kernel_shape", high, wide), graph.Ints("strides", 1, 1))
		return w.Node("Flatten", []string{y})
	case "map":
		return w.Node("GlobalAveragePool", []string{x})
	case "transposed": // as TensorFlow: channels last, then the mean
		return w.Node("ReduceMean", []string{w.Node("Transpose", []string{x}, graph.Ints("perm", 0, 2, 3, 1))},
			graph.Ints("axes", 1, 2), graph.Int("keepdims", 0))
	}
	return w.Node("Flatten", []string{w.Node("GlobalAveragePool", []string{x})})
}

// write writes the network and returns the name of its features.
func (w *writer) write() string {
	f := w.f
	if w.batch = graph.Free(cmp.Or(f.name, "N")); f.batch > 0 && !f.freeInput {
		w.batch = graph.Fixed(f.batch)
	}
	planes := int64(3)
	if f.grey {
		planes = 1
	}
	high, wide := graph.Fixed(f.high), graph.Fixed(f.wide)
	if f.openSize {
		high, wide = graph.Free("height"), graph.Free("width")
	}
	shape := graph.Shape{w.batch, graph.Fixed(planes), high, wide}
	if f.last {
		shape = graph.Shape{w.batch, high, wide, graph.Fixed(planes)}
	}
	x := w.Input(f.input, graph.Float32, shape)
	if f.last {
		x = w.Node("Transpose", []string{x}, graph.Ints("perm", 0, 3, 1, 2))
	}
	switch f.inside {
	case "mean": // as MATLAB's image input
		mean := graph.NewTensor(w.Fresh("Mean"), []float32{123, 117, 104}, 1, 3, 1, 1)
		x = w.Node("Sub", []string{x, w.constant(mean)})
		x = w.Node("Mul", []string{x, w.scalar("scale", 1./64)})
	case "scale": // as Windows ML's ImageScaler in parts
		x = w.Node("Mul", []string{x, w.scalar("scale", 1./128)})
		x = w.Node("Add", []string{x, w.constant(graph.NewTensor(w.Fresh("bias"), []float32{-1, -.9, -.8}, 3, 1, 1))})
	}
	x = w.activate(w.conv(x, width, planes, 2, 1))
	if f.lrn {
		x = w.Node("LRN", []string{x}, graph.Int("size", 5), graph.Float("alpha", 1e-2), graph.Float("beta", .75))
	}
	y := w.conv(x, width, width, 1, width)
	if !f.fused {
		y = w.Node("Add", []string{x, y})
	}
	if f.idle {
		y = w.Node("Identity", []string{y})
	}
	y = w.activate(y)
	dim := int64(width)
	var features string
	if f.flat {
		dim = width * (f.high / 2) * (f.wide / 2)
		features = w.Node("Reshape", []string{y, w.ints("shape", w.rows(), dim)})
	} else {
		features = w.pooled(y)
	}
	if f.embedding {
		features = w.Node("Gemm", []string{features, w.weight("fc.weight", 0, .2, width, dim),
			w.weight("fc.bias", 0, .1, width)}, graph.Int("transB", 1))
		features = w.Node("BatchNormalization", []string{features, w.weight("features.weight", 1, 0, width),
			w.weight("features.bias", 0, .1, width), w.weight("features.running_mean", 0, .1, width),
			w.spread("features.running_var", width)}, graph.Float("epsilon", 2e-5))
		dim = width
	}
	if f.unrolled { // a loop over the images of the batch, written out
		var rows []string
		for i := range f.batch {
			row := w.Node("Gather", []string{features, w.constant(graph.NewTensor(w.Fresh("image"), []int64{i}))})
			rows = append(rows, w.Node("Unsqueeze", []string{row, w.ints("axes", 0)}))
		}
		features = w.Node("Concat", rows, graph.Int("axis", 0))
	}
	behind := features
	if f.idle {
		behind = w.Node("Dropout", []string{features})
	}
	switch f.classifier {
	case "none":
		if f.idle {
			features = behind
		}
		w.NodeTo(f.output, "Identity", []string{features})
		w.Output(f.output)
		return f.output
	case "matmul":
		behind = w.Node("MatMul", []string{behind, w.weight("dense.kernel", 0, .3, dim, classes)})
		behind = w.Node("Add", []string{behind, w.weight("dense.bias", 0, .1, classes)})
	case "conv":
		behind = w.Node("Conv", []string{behind, w.weight("head.weight", 0, .3, classes, dim, 1, 1)})
		behind = w.Node("Flatten", []string{behind})
	default:
		behind = w.Node("Gemm", []string{behind, w.weight("fc.weight", 0, .3, classes, dim),
			w.weight("fc.bias", 0, .1, classes)}, graph.Float("alpha", 1), graph.Float("beta", 1),
			graph.Int("transB", 1))
	}
	if f.end != "" {
		behind = w.Node(f.end, []string{behind}, graph.Int("axis", 1))
	}
	w.NodeTo(f.output, "Identity", []string{behind})
	w.Output(f.output)
	if f.both {
		w.Output(features)
	}
	return features
}

// network builds one.
func (f form) network(exporter, words, flags string) Network {
	if f.high == 0 {
		f.high, f.wide = side, side
	}
	if f.output == "" {
		f.output = "output"
	}
	w := &writer{Builder: graph.NewBuilder("main_graph", f.opset), f: f, rng: rand.New(rand.NewPCG(7, uint64(f.opset)))}
	n := Network{Exporter: exporter, Form: words, High: int(f.high), Wide: int(f.wide), Grey: f.grey, Scale: 1. / 255,
		Batch: int(f.batch), Last: f.last, Flags: flags}
	if f.scale != 0 {
		n.Scale, n.Mean, n.BGR = f.scale, [3]float64{f.mean, f.mean, f.mean}, f.bgr
	}
	n.Output = w.write()
	m := w.Model()
	switch f.half {
	case "inside":
		m = halved(m, false)
	case "ends":
		m = halved(m, true)
	}
	if f.half != "" {
		n.Rough = 5e-3
	}
	switch f.quantised {
	case "QDQ":
		m, n.Rough = quantised(m), 2e-2
	}
	n.File = m.Marshal()
	if f.outside {
		file, data := onnxtest.Outside(n.File, "network.onnx.data", nil)
		n.Whole, n.File, n.Beside = n.File, file, map[string][]byte{"network.onnx.data": data}
	}
	return n
}

// ofTransformer wraps one of package vits.
func ofTransformer(exporter, words string, f vits.Form) Network {
	v := vits.New(f, 3)
	n := Network{Exporter: exporter, Form: words, File: v.Model.Marshal(), High: vits.Side, Wide: vits.Side,
		Scale: 1. / 255, Output: f.Output(), Flags: "--preset unit --resize 12 --crop 12",
		Eval: func(image []float64) []float64 { _, vector := v.Eval(image); return vector }}
	return n
}

// ofArchitecture is what winnow models new writes.
func ofArchitecture(name string) Network {
	a, err := architecture.Open(name)
	if err != nil {
		panic(err)
	}
	p := a.Preprocessing
	text := func(v [3]float32) string {
		if p.Channels == "L" {
			return fmt.Sprint(v[0])
		}
		return fmt.Sprintf("%v,%v,%v", v[0], v[1], v[2])
	}
	n := Network{Exporter: "winnow models new", Form: name, File: a.Model(1).Marshal(), High: a.Side, Wide: a.Side,
		Grey: p.Channels == "L", Scale: float64(p.Scale), Output: architecture.Output, Flags: fmt.Sprintf(
			"--channels %s --scale %v --mean %s --std %s --resize squash --size %dx%d", p.Channels, p.Scale,
			text(p.Mean), text(p.Std), a.Side, a.Side)}
	for c := range 3 {
		n.Mean[c], n.Std[c] = float64(p.Mean[c]), float64(p.Std[c])
	}
	return n
}
