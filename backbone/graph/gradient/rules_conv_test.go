package gradient_test

import (
	"testing"

	"winnow/backbone/graph"
)

// f32 returns a case in float32, for operators without a float64 kernel on the CPU.
func f32(name string, build func(*graph.Builder, []string) string, in ...array) ruleCase {
	return ruleCase{name: name, typ: graph.Float32, in: in, build: build}
}

func TestConv(t *testing.T) {
	x := func(dims ...int64) array { return drawn(1, -1, 1, dims...) }
	w := func(dims ...int64) array { return drawn(2, -1, 1, dims...) }
	b := func(n int64) array { return drawn(3, -1, 1, n) }
	runCases(t, []ruleCase{
		f32("1x1", op("Conv"), x(3, 4, 5, 6), w(2, 4, 1, 1), b(2)),
		f32("1x1 stride 2", op("Conv", graph.Ints("strides", 2, 2)), x(3, 4, 5, 6), w(2, 4, 1, 1)),
		f32("3x3", op("Conv", graph.Ints("pads", 1, 1, 1, 1)), x(2, 3, 5, 6), w(4, 3, 3, 3), b(4)),
		f32("3x3 stride 2, remainder", op("Conv", graph.Ints("pads", 1, 1, 1, 1), graph.Ints("strides", 2, 2)),
			x(2, 3, 6, 7), w(4, 3, 3, 3)),
		f32("no padding, remainder 2", op("Conv", graph.Ints("strides", 3, 3)), x(2, 2, 7, 6), w(4, 2, 2, 3)),
		f32("stride beyond the kernel", op("Conv", graph.Ints("strides", 3, 2)), x(2, 2, 8, 6), w(4, 2, 1, 2)),
		f32("asymmetric pads", op("Conv", graph.Ints("pads", 0, 2, 1, 0)), x(2, 2, 5, 4), w(3, 2, 2, 3)),
		f32("dilations", op("Conv", graph.Ints("dilations", 2, 3), graph.Ints("pads", 2, 3, 2, 3)), x(2, 2, 6, 7),
			w(3, 2, 3, 3)),
		f32("dilations and strides", op("Conv", graph.Ints("dilations", 2, 1), graph.Ints("strides", 2, 3),
			graph.Ints("pads", 1, 0, 2, 1)), x(2, 2, 9, 8), w(3, 2, 3, 2)),
		f32("groups", op("Conv", graph.Int("group", 2), graph.Ints("pads", 1, 1, 1, 1)), x(2, 4, 4, 5),
			w(6, 2, 3, 3), b(6)),
		f32("groups, stride", op("Conv", graph.Int("group", 2), graph.Ints("pads", 1, 1, 1, 1),
			graph.Ints("strides", 2, 2)), x(2, 4, 5, 5), w(6, 2, 3, 3)),
		f32("depthwise", op("Conv", graph.Int("group", 4), graph.Ints("pads", 1, 1, 1, 1)), x(2, 4, 5, 4),
			w(4, 1, 3, 3), b(4)),
		f32("depthwise stride 2", op("Conv", graph.Int("group", 4), graph.Ints("pads", 1, 1, 1, 1),
			graph.Ints("strides", 2, 2)), x(2, 4, 6, 5), w(4, 1, 3, 3)),
		f32("depthwise stride 3, dilated", op("Conv", graph.Int("group", 2), graph.Ints("pads", 1, 2, 2, 1),
			graph.Ints("strides", 3, 3), graph.Ints("dilations", 2, 1)), x(2, 2, 9, 8), w(2, 1, 3, 4)),
		f32("depthwise, strides differ", op("Conv", graph.Int("group", 2), graph.Ints("strides", 1, 2)), x(2, 2, 6, 8),
			w(2, 1, 3, 3)),
		f32("depthwise, two filters a channel", op("Conv", graph.Int("group", 3), graph.Ints("pads", 1, 1, 1, 1)),
			x(2, 3, 5, 4), w(6, 1, 3, 3)),
		f32("SAME_UPPER", op("Conv", graph.String("auto_pad", "SAME_UPPER"), graph.Ints("strides", 2, 2)),
			x(2, 2, 6, 5), w(3, 2, 3, 2)),
		f32("SAME_LOWER", op("Conv", graph.String("auto_pad", "SAME_LOWER"), graph.Ints("strides", 2, 1)),
			x(2, 2, 6, 5), w(3, 2, 3, 2)),
		f32("VALID", op("Conv", graph.String("auto_pad", "VALID"), graph.Ints("strides", 2, 2)), x(2, 2, 6, 5),
			w(3, 2, 3, 2)),
		f32("few channels in", op("Conv", graph.Ints("pads", 2, 3, 2, 2), graph.Ints("strides", 2, 3),
			graph.Ints("dilations", 1, 2)), x(2, 3, 9, 11), w(4, 3, 4, 3)),
		f32("many channels", op("Conv", graph.Ints("pads", 1, 1, 1, 1)), x(2, 18, 4, 3), w(17, 18, 3, 3)),
		f32("many channels, stride 2", op("Conv", graph.Ints("pads", 1, 1, 1, 1), graph.Ints("strides", 2, 2)),
			x(2, 18, 4, 5), w(17, 18, 3, 3)),
		f32("many channels, 1x1", op("Conv"), x(3, 18, 3, 2), w(17, 18, 1, 1)),
		f32("many channels, 1x1 stride 2", op("Conv", graph.Ints("strides", 2, 2)), x(3, 18, 3, 4), w(17, 18, 1, 1)),
		f32("1x1 with padding", op("Conv", graph.Ints("pads", 1, 0, 0, 1)), x(2, 3, 3, 4), w(2, 3, 1, 1)),
		f32("many places", op("Conv", graph.Ints("pads", 2, 0, 1, 1), graph.Ints("dilations", 2, 1)), x(1, 9, 16, 19),
			w(3, 9, 3, 2)),
		f32("many places, valid", op("Conv"), x(1, 9, 18, 19), w(3, 9, 3, 3)),
		f32("1-D", op("Conv", graph.Ints("pads", 2, 1), graph.Ints("strides", 2)), x(2, 3, 9), w(4, 3, 4), b(4)),
		f32("3-D", op("Conv", graph.Ints("pads", 1, 0, 1, 1, 1, 0), graph.Ints("strides", 1, 2, 1)), x(2, 2, 3, 4, 3),
			w(3, 2, 2, 3, 2)),
	})
}
