package gradient_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
)

// drawing builds the networks to be timed: their real shapes with drawn weights (He et al. 2015, eq. 10).
type drawing struct {
	b       *graph.Builder
	rng     *rand.Rand
	norm    bool // BatchNormalization after each convolution; otherwise it is folded into the bias
	weights []string
	channel map[string]int64
}

// timedNetwork is a network to be timed, with images of side×side.
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
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(n.channels), graph.Fixed(n.side),
		graph.Fixed(n.side)})
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
	y := s.b.Node("Clip", []string{x, s.b.Constant(graph.NewTensor("zero", []float32{0})),
		s.b.Constant(graph.NewTensor("six", []float32{6}))})
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
		x = s.same("MaxPool", x, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
			graph.Ints("pads", 1, 1, 1, 1))
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
	for _, stage := range [][4]int64{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1},
		{6, 160, 3, 2}, {6, 320, 1, 1}} {
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
	{name: "ResNet-18 normalised", batch: 8, side: 224, channels: 3, norm: true,
		build: resNet([]int{2, 2, 2, 2}, false)},
	{name: "ResNet-50", batch: 8, side: 224, channels: 3, build: resNet([]int{3, 4, 6, 3}, true)},
	{name: "MobileNetV2", batch: 8, side: 224, channels: 3, build: mobileNet},
	{name: "glyphnet", batch: 64, side: 32, channels: 1, build: glyphNet},
}

// pair is a network in two forms: forward only, with constant weights as shipped, and for training as winnow
// does it.
type pair struct {
	baked             *ort.Session // nil if only training is timed
	live              *ort.Live
	in, out           []ort.Tensor
	pixels            [][]float32
	features, grad    blas32.General
	batch             int
	activations, kept int64 // bytes of all tensors of the network, and of those kept for the backward pass
}

func newPair(b testing.TB, n timedNetwork, baked bool) *pair {
	b.Helper()
	s, model := n.drawing()
	rt := orttest.Runtime(b)
	d, err := gradient.Differentiate(model, gradient.Options{Weights: s.weights, Kernels: rt.Kernels()})
	if err != nil {
		b.Fatal(err)
	}
	rng, p := rand.New(rand.NewPCG(6, 0)), &pair{batch: int(n.batch)}
	if baked {
		if p.baked, err = rt.NewSession(model.Marshal(), ort.SessionOptions{Threads: 2}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { p.baked.Close() })
	}
	pixels := make([]float32, n.batch*n.channels*n.side*n.side)
	for i := range pixels {
		pixels[i] = float32(rng.NormFloat64())
	}
	p.pixels = [][]float32{pixels}
	if p.live, err = ort.NewLive(rt, d, ort.LiveOptions{Model: model, Threads: 2}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.live.Close() })
	dim := p.live.Dim()
	p.features, p.grad = features.NewMatrix(p.batch, dim), features.NewMatrix(p.batch, dim)
	for i := range p.grad.Data {
		p.grad.Data[i] = float32(rng.NormFloat64())
	}
	p.in = []ort.Tensor{ort.Float32s(pixels, n.batch, n.channels, n.side, n.side)}
	p.out = []ort.Tensor{ort.Float32s(make([]float32, p.batch*dim), n.batch, int64(dim))}
	facts := graph.Infer(model)
	size := func(name string) int64 {
		bytes := 4 * n.batch
		for _, d := range facts[name].Shape[1:] {
			bytes *= d.Size
		}
		return bytes
	}
	for _, node := range model.Graph.Nodes {
		p.activations += size(node.Outputs[0])
	}
	for _, name := range d.Saved {
		if facts[name] != nil {
			p.kept += size(name)
		}
	}
	return p
}

// timed returns how long run takes.
func timed(b testing.TB, run func() error) float64 {
	start := time.Now()
	if err := run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

// resident returns the memory that the process holds now, and its peak since the last call with forget; 0 if
// the system does not report it.
func resident(forget bool) (now, most int64) {
	if forget {
		os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // reset the peak
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &now)
		fmt.Sscanf(line, "VmHWM: %d kB", &most)
	}
	return now << 10, most << 10
}

// BenchmarkTraining compares forward and backward with the shipped network's forward, run alternately: the
// shortest time of each, and their ratio. The time per operation is that of all three. peak/activations is the
// memory of training, besides the weights and what the process held before, relative to the sum of all tensors
// of the network.
func BenchmarkTraining(b *testing.B) {
	for _, n := range timedNetworks {
		b.Run(n.name, func(b *testing.B) {
			p := newPair(b, n, true)
			run := func() (baked, forward, backward float64) {
				baked = timed(b, func() error { return p.baked.Run(p.in, p.out) })
				forward = timed(b, func() error { return p.live.Forward(p.features, p.pixels, p.batch, true) })
				backward = timed(b, func() error { return p.live.Backward(p.grad, false) })
				return
			}
			for range 3 { // the first run allocates, and the second once more for its memory pattern
				timed(b, func() error { return p.baked.Run(p.in, p.out) })
			}
			debug.FreeOSMemory()
			before, _ := resident(true)
			run()
			x, y, z := math.Inf(1), math.Inf(1), math.Inf(1)
			for b.Loop() {
				baked, forward, backward := run()
				x, y, z = min(x, baked), min(y, forward), min(z, backward)
			}
			_, most := resident(false)
			b.ReportMetric(1e3*x, "baked-ms")
			b.ReportMetric(1e3*y, "forward-ms")
			b.ReportMetric(1e3*z, "backward-ms")
			b.ReportMetric((y+z)/x, "ratio")
			b.ReportMetric(float64(p.kept)/float64(p.activations), "kept/activations")
			b.ReportMetric(float64(most-before)/float64(p.activations), "peak/activations")
		})
	}
}
