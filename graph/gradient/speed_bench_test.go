package gradient_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"winnow/backbone/ort"
	"winnow/graph"
	"winnow/graph/gradient"
	"winnow/internal/orttest"
)

// drawing builds the timedNetworks that are timed: their real shapes with drawn weights (He et al. 2015, eq. 10).
type drawing struct {
	b       *graph.Builder
	rng     *rand.Rand
	norm    bool // BatchNormalization behind each convolution; else its bias holds it, as exporters fold
	weights []string
	channel map[string]int64
}

// network is one that is timed: images of side×side.
type timedNetwork struct {
	name        string
	batch, side int64
	channels    int64
	norm        bool
	build       func(s *drawing, x string) string
}

func (n timedNetwork) drawing() (*drawing, *graph.Model) {
	b := graph.NewBuilder(n.name, gradient.Opset)
	s := &drawing{b: b, rng: rand.New(rand.NewPCG(5, 0)), norm: n.norm, channel: map[string]int64{}}
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(n.channels), graph.Fixed(n.side), graph.Fixed(n.side)})
	s.channel[x] = n.channels
	b.Output(n.build(s, x))
	return s, b.Model()
}

func (s *drawing) weight(std float64, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(std * s.rng.NormFloat64())
	}
	name := s.b.Constant(graph.NewTensor(fmt.Sprint("w", len(s.weights)), data, dims...))
	s.weights = append(s.weights, name)
	return name
}

func (s *drawing) level(name string, v float32, n int64) string {
	return s.b.Constant(graph.NewTensor(name, slices.Repeat([]float32{v}, int(n)), n))
}

func (s *drawing) conv(x string, out, kernel, stride, group int64) string {
	in := s.channel[x] / group
	inputs := []string{x, s.weight(math.Sqrt(2/float64(in*kernel*kernel)), out, in, kernel, kernel)}
	if !s.norm {
		inputs = append(inputs, s.weight(0.01, out))
	}
	p := kernel / 2
	y := s.b.Node("Conv", inputs, graph.Ints("kernel_shape", kernel, kernel), graph.Ints("strides", stride, stride),
		graph.Ints("pads", p, p, p, p), graph.Int("group", group))
	if s.norm {
		scale, bias := s.level("scale", 1, out), s.level("bias", 0.01, out)
		s.weights = append(s.weights, scale, bias)
		y = s.b.Node("BatchNormalization", []string{y, scale, bias, s.level("mean", 0, out), s.level("var", 1, out)})
	}
	s.channel[y] = out
	return y
}

func (s *drawing) same(op, x string, more ...*graph.Attribute) string {
	y := s.b.Node(op, []string{x}, more...)
	s.channel[y] = s.channel[x]
	return y
}

func (s *drawing) relu(x string) string { return s.same("Relu", x) }

func (s *drawing) clip(x string) string {
	y := s.b.Node("Clip", []string{x, s.b.Constant(graph.NewTensor("zero", []float32{0})), s.b.Constant(graph.NewTensor("six", []float32{6}))})
	s.channel[y] = s.channel[x]
	return y
}

func (s *drawing) add(x, y string) string {
	z := s.b.Node("Add", []string{x, y})
	s.channel[z] = s.channel[x]
	return z
}

func (s *drawing) pooled(x string) string {
	return s.b.Node("Flatten", []string{s.same("GlobalAveragePool", x)})
}

// resNet is He et al. 2016, table 1, without the classifier.
func resNet(blocks []int, bottleneck bool) func(s *drawing, x string) string {
	return func(s *drawing, x string) string {
		x = s.relu(s.conv(x, 64, 7, 2, 1))
		x = s.same("MaxPool", x, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2), graph.Ints("pads", 1, 1, 1, 1))
		for stage, n := range blocks {
			width, stride := int64(64)<<stage, int64(1)
			for block := range n {
				stride = 1
				if block == 0 && stage > 0 {
					stride = 2
				}
				in, out, y := x, width, ""
				if bottleneck {
					out = 4 * width
					y = s.relu(s.conv(x, width, 1, 1, 1))
					y = s.relu(s.conv(y, width, 3, stride, 1))
					y = s.conv(y, out, 1, 1, 1)
				} else {
					y = s.relu(s.conv(x, width, 3, stride, 1))
					y = s.conv(y, width, 3, 1, 1)
				}
				if stride > 1 || s.channel[x] != out {
					in = s.conv(x, out, 1, stride, 1)
				}
				x = s.relu(s.add(y, in))
			}
		}
		return s.pooled(x)
	}
}

// mobileNet is Sandler et al. 2018, table 2, without the classifier.
func mobileNet(s *drawing, x string) string {
	x = s.clip(s.conv(x, 32, 3, 2, 1))
	for _, stage := range [][4]int64{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}} {
		for i := range stage[2] {
			in, stride := x, int64(1)
			if i == 0 {
				stride = stage[3]
			}
			y := x
			wide := s.channel[x] * stage[0]
			if stage[0] > 1 {
				y = s.clip(s.conv(x, wide, 1, 1, 1))
			}
			y = s.clip(s.conv(y, wide, 3, stride, wide))
			y = s.conv(y, stage[1], 1, 1, 1)
			if stride == 1 && s.channel[in] == stage[1] {
				y = s.add(y, in)
			}
			x = y
		}
	}
	return s.pooled(s.clip(s.conv(x, 1280, 1, 1, 1)))
}

// glyphNet is the small network of 32×32 grey images that the demo trains.
func glyphNet(s *drawing, x string) string {
	for _, c := range [][3]int64{{24, 5, 2}, {48, 3, 2}, {96, 3, 1}, {128, 3, 2}, {192, 3, 1}} {
		x = s.relu(s.conv(x, c[0], c[1], c[2], 1))
	}
	return s.pooled(x)
}

var timedNetworks = []timedNetwork{
	{name: "ResNet-18", batch: 8, side: 224, channels: 3, build: resNet([]int{2, 2, 2, 2}, false)},
	{name: "ResNet-18 normalised", batch: 8, side: 224, channels: 3, norm: true, build: resNet([]int{2, 2, 2, 2}, false)},
	{name: "ResNet-50", batch: 8, side: 224, channels: 3, build: resNet([]int{3, 4, 6, 3}, true)},
	{name: "MobileNetV2", batch: 8, side: 224, channels: 3, build: mobileNet},
	{name: "glyphnet", batch: 64, side: 32, channels: 1, build: glyphNet},
}

// pair is a network to run forward as it is shipped, its weights constants, and as it is trained.
type pair struct {
	baked, forward, backward                               *ort.Session
	bakedIn, bakedOut, forwardIn, forwardOut, backIn, grad []ort.Tensor
	activations, saved                                     int64 // bytes
}

func newPair(b testing.TB, n timedNetwork) *pair {
	b.Helper()
	s, model := n.drawing()
	d, err := gradient.Differentiate(model, gradient.Options{Weights: s.weights})
	if err != nil {
		b.Fatal(err)
	}
	p := &pair{}
	open := func(m *graph.Model) *ort.Session {
		session, err := orttest.Runtime(b).NewSession(m.Marshal(), ort.SessionOptions{Threads: 2})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { session.Close() })
		return session
	}
	p.baked, p.forward, p.backward = open(model), open(d.Forward), open(d.Backward)
	values := map[string]ort.Tensor{}
	rng := rand.New(rand.NewPCG(6, 0))
	value := func(info ort.Info) ort.Tensor {
		if t, ok := values[info.Name]; ok {
			return t
		}
		shape, size := slices.Clone(info.Shape), int64(1)
		for i := range shape {
			if shape[i] < 0 {
				shape[i] = n.batch
			}
			size *= shape[i]
		}
		t := ort.Tensor{Shape: shape}
		if info.Type == ort.Int64 {
			t.I64 = make([]int64, size)
		} else {
			t.F32 = make([]float32, size)
			for i := range t.F32 {
				t.F32[i] = float32(rng.NormFloat64())
			}
		}
		if w := model.Graph.Initializer(info.Name); w != nil {
			t.F32, _ = w.Float32s()
		}
		values[info.Name] = t
		return t
	}
	all := func(list []ort.Info) (out []ort.Tensor) {
		for _, info := range list {
			out = append(out, value(info))
		}
		return out
	}
	p.bakedIn, p.forwardIn, p.forwardOut = all(p.baked.Inputs()), all(p.forward.Inputs()), all(p.forward.Outputs())
	p.bakedOut = []ort.Tensor{ort.Float32s(make([]float32, len(p.forwardOut[0].F32)), p.forwardOut[0].Shape...)}
	p.backIn, p.grad = all(p.backward.Inputs()), all(p.backward.Outputs())
	for _, t := range p.forwardOut[1:] {
		p.saved += 4*int64(len(t.F32)) + 8*int64(len(t.I64))
	}
	facts := graph.Infer(model)
	for _, node := range model.Graph.Nodes {
		size := 4 * n.batch
		for _, d := range facts[node.Outputs[0]].Shape[1:] {
			size *= d.Size
		}
		p.activations += size
	}
	return p
}

func timed(b testing.TB, s *ort.Session, in, out []ort.Tensor) time.Duration {
	start := time.Now()
	if err := s.Run(in, out); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// BenchmarkTraining compares forward and backward with the shipped network's forward, run in turns: the medians
// and their ratio. The time per operation is that of all three.
func BenchmarkTraining(b *testing.B) {
	for _, n := range timedNetworks {
		b.Run(n.name, func(b *testing.B) {
			p := newPair(b, n)
			var baked, forward, backward []float64
			for i := 0; i < b.N+1; i++ {
				if i == 1 {
					b.ResetTimer()
				}
				x := timed(b, p.baked, p.bakedIn, p.bakedOut)
				y := timed(b, p.forward, p.forwardIn, p.forwardOut)
				z := timed(b, p.backward, p.backIn, p.grad)
				if i > 0 { // the first run allocates
					baked, forward, backward = append(baked, x.Seconds()), append(forward, y.Seconds()), append(backward, z.Seconds())
				}
			}
			x, y, z := median(baked), median(forward), median(backward)
			b.ReportMetric(1e3*x, "baked-ms")
			b.ReportMetric(1e3*y, "forward-ms")
			b.ReportMetric(1e3*z, "backward-ms")
			b.ReportMetric((y+z)/x, "ratio")
			b.ReportMetric(float64(p.saved)/float64(p.activations), "saved/activations")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
