package plainnet

import (
	"math"
	"slices"
)

type operator func(n node, in []Value) []Value

func one(f func(n node, in []Value) Value) operator {
	return func(n node, in []Value) []Value { return []Value{f(n, in)} }
}

func pointwise(f func(x float64) float64) operator {
	return one(func(_ node, in []Value) Value { return apply(in[0], f) })
}

func pairwise(f func(x, y float64) float64) operator {
	return one(func(_ node, in []Value) Value {
		v := in[0]
		for _, w := range in[1:] {
			v = both(v, w, f)
		}
		return v
	})
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func clip(x, low, high float64) float64 { return math.Min(math.Max(x, low), high) }

// ops are the operators by name. Those of com.microsoft have names of their own.
var ops = map[string]operator{
	"Identity": pointwise(func(x float64) float64 { return x }),
	"Dropout":  pointwise(func(x float64) float64 { return x }),
	"Relu":     pointwise(func(x float64) float64 { return math.Max(x, 0) }),
	"Sigmoid":  pointwise(sigmoid),
	"Tanh":     pointwise(math.Tanh),
	"Erf":      pointwise(math.Erf),
	"Sqrt":     pointwise(math.Sqrt),
	"Exp":      pointwise(math.Exp),
	"HardSwish": pointwise(func(x float64) float64 {
		return x * clip(x/6+.5, 0, 1)
	}),
	"HardSigmoid": one(func(n node, in []Value) Value {
		a, b := float64(n.Float("alpha", .2)), float64(n.Float("beta", .5))
		return apply(in[0], func(x float64) float64 { return clip(a*x+b, 0, 1) })
	}),
	"LeakyRelu": one(func(n node, in []Value) Value {
		a := float64(n.Float("alpha", .01))
		return apply(in[0], func(x float64) float64 { return math.Max(x, 0) + a*math.Min(x, 0) })
	}),
	"PRelu": pairwise(func(x, y float64) float64 { return math.Max(x, 0) + y*math.Min(x, 0) }),
	"Gelu": one(func(n node, in []Value) Value {
		if n.Text("approximate", "none") == "tanh" {
			return apply(in[0], func(x float64) float64 {
				return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+.044715*x*x*x)))
			})
		}
		return apply(in[0], func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) })
	}),
	"Clip": one(func(n node, in []Value) Value {
		low, high := float64(n.Float("min", -math.MaxFloat32)), float64(n.Float("max", math.MaxFloat32))
		if len(in) > 1 && in[1].X != nil {
			low = in[1].X[0]
		}
		if len(in) > 2 && in[2].X != nil {
			high = in[2].X[0]
		}
		return apply(in[0], func(x float64) float64 { return clip(x, low, high) })
	}),
	"Add": pairwise(func(x, y float64) float64 { return x + y }),
	"Sum": pairwise(func(x, y float64) float64 { return x + y }),
	"Sub": pairwise(func(x, y float64) float64 { return x - y }),
	"Mul": pairwise(func(x, y float64) float64 { return x * y }),
	"Div": pairwise(func(x, y float64) float64 { return x / y }),
	"Pow": pairwise(math.Pow),

	"Cast":     pointwise(func(x float64) float64 { return x }),
	"Constant": one(func(n node, _ []Value) Value { return constant(n.Attribute("value").Tensor) }),
	"Shape": one(func(_ node, in []Value) Value {
		v := zeros(len(in[0].Dims))
		for i, d := range in[0].Dims {
			v.X[i] = float64(d)
		}
		return v
	}),
	"Flatten": one(func(n node, in []Value) Value {
		a := axis(int(n.Int("axis", 1)), len(in[0].Dims))
		return Value{[]int{size(in[0].Dims[:a]), size(in[0].Dims[a:])}, in[0].X}
	}),
	"Reshape": one(func(n node, in []Value) Value {
		dims, rest, at := n.ints("shape", in, 1), len(in[0].X), -1
		for i, d := range dims {
			if d == 0 {
				dims[i] = in[0].Dims[i]
			}
			if d < 0 {
				at = i
			} else {
				rest /= dims[i]
			}
		}
		if at >= 0 {
			dims[at] = rest
		}
		if size(dims) != len(in[0].X) {
			panic(dims)
		}
		return Value{dims, in[0].X}
	}),
	"Squeeze": one(func(n node, in []Value) Value {
		axes := n.ints("axes", in, 1)
		for i := range axes {
			axes[i] = axis(axes[i], len(in[0].Dims))
		}
		var dims []int
		for i, d := range in[0].Dims {
			if !(slices.Contains(axes, i) || axes == nil && d == 1) {
				dims = append(dims, d)
			}
		}
		return Value{dims, in[0].X}
	}),
	"Unsqueeze": one(func(n node, in []Value) Value {
		axes := n.ints("axes", in, 1)
		rank := len(in[0].Dims) + len(axes)
		for i := range axes {
			axes[i] = axis(axes[i], rank)
		}
		dims, next := make([]int, rank), 0
		for i := range dims {
			if dims[i] = 1; !slices.Contains(axes, i) {
				dims[i] = in[0].Dims[next]
				next++
			}
		}
		return Value{dims, in[0].X}
	}),
	"Transpose": one(func(n node, in []Value) Value {
		perm, dims := n.ints("perm", nil, 0), make([]int, len(in[0].Dims))
		for i := range dims {
			if perm == nil {
				dims[i] = in[0].Dims[len(dims)-1-i]
			} else {
				dims[i] = in[0].Dims[perm[i]]
			}
		}
		return pick(in[0], dims, func(index, source []int) {
			for i := range index {
				if perm == nil {
					source[len(dims)-1-i] = index[i]
				} else {
					source[perm[i]] = index[i]
				}
			}
		})
	}),
	"Expand": one(func(_ node, in []Value) Value { return expand(in[0], broadcast(in[0].Dims, whole(in[1]))) }),
	"Concat": one(func(n node, in []Value) Value {
		a := axis(int(n.Int("axis", 1)), len(in[0].Dims))
		dims := slices.Clone(in[0].Dims)
		for _, v := range in[1:] {
			dims[a] += v.Dims[a]
		}
		out := zeros(dims...)
		begin, row := 0, size(dims[a:])
		for _, v := range in {
			part := size(v.Dims[a:])
			for i := range size(dims[:a]) {
				copy(out.X[i*row+begin:], v.X[i*part:(i+1)*part])
			}
			begin += part
		}
		return out
	}),
	"Gather": one(func(n node, in []Value) Value {
		a := axis(int(n.Int("axis", 0)), len(in[0].Dims))
		dims := slices.Concat(in[0].Dims[:a], in[1].Dims, in[0].Dims[a+1:])
		step := strides(in[1].Dims)
		return pick(in[0], dims, func(index, source []int) {
			copy(source, index[:a])
			p := 0
			for i, s := range step {
				p += index[a+i] * s
			}
			source[a] = axis(int(in[1].X[p]), in[0].Dims[a])
			copy(source[a+1:], index[a+len(step):])
		})
	}),
	"Slice": one(func(n node, in []Value) Value {
		starts, ends, axes := n.ints("starts", in, 1), n.ints("ends", in, 2), n.ints("axes", in, 3)
		dims, from := slices.Clone(in[0].Dims), make([]int, len(in[0].Dims))
		for i := range starts {
			a := i
			if axes != nil {
				a = axis(axes[i], len(dims))
			}
			d := in[0].Dims[a]
			from[a] = min(max(axis(starts[i], d), 0), d)
			dims[a] = max(min(max(axis(ends[i], d), 0), d)-from[a], 0)
		}
		return pick(in[0], dims, func(index, source []int) {
			for i := range index {
				source[i] = index[i] + from[i]
			}
		})
	}),
	"Pad": one(func(n node, in []Value) Value {
		pads, v := n.ints("pads", in, 1), in[0]
		value := float64(n.Float("value", 0))
		if len(in) > 2 && in[2].X != nil {
			value = in[2].X[0]
		}
		rank := len(v.Dims)
		dims := slices.Clone(v.Dims)
		for i := range dims {
			dims[i] += pads[i] + pads[rank+i]
		}
		out, step := zeros(dims...), strides(v.Dims)
		each(dims, func(at int, index []int) {
			p, inside := 0, true
			for i := range index {
				k := index[i] - pads[i]
				inside = inside && k >= 0 && k < v.Dims[i]
				p += k * step[i]
			}
			if out.X[at] = value; inside {
				out.X[at] = v.X[p]
			}
		})
		return out
	}),
	"ReduceMean": one(func(n node, in []Value) Value {
		return reduce(n, in, func(list []float64) float64 { return total(list) / float64(len(list)) })
	}),
	"ReduceSum": one(func(n node, in []Value) Value { return reduce(n, in, total) }),
	"ReduceL2": one(func(n node, in []Value) Value {
		return reduce(n, in, func(list []float64) float64 {
			s := 0.
			for _, x := range list {
				s += x * x
			}
			return math.Sqrt(s)
		})
	}),
	"Softmax": one(func(n node, in []Value) Value {
		v := in[0]
		a := axis(int(n.Int("axis", map[bool]int64{true: 1, false: -1}[n.opset < 13])), len(v.Dims))
		inner := size(v.Dims[a+1:])
		length := v.Dims[a]
		if n.opset < 13 { // all that follows is one axis
			length, inner = size(v.Dims[a:]), 1
		}
		out := zeros(v.Dims...)
		for o := 0; o < len(v.X); o += length * inner {
			for i := range inner {
				sum := 0.
				for k := range length {
					sum += math.Exp(v.X[o+k*inner+i])
				}
				for k := range length {
					out.X[o+k*inner+i] = math.Exp(v.X[o+k*inner+i]) / sum
				}
			}
		}
		return out
	}),
	"LayerNormalization": one(func(n node, in []Value) Value {
		v, eps := in[0], float64(n.Float("epsilon", 1e-5))
		width := size(v.Dims[axis(int(n.Int("axis", -1)), len(v.Dims)):])
		out := zeros(v.Dims...)
		for o := 0; o < len(v.X); o += width {
			row := v.X[o : o+width]
			mean, spread := total(row)/float64(width), 0.
			for _, x := range row {
				spread += (x - mean) * (x - mean) / float64(width)
			}
			for i, x := range row {
				out.X[o+i] = (x - mean) / math.Sqrt(spread+eps) * in[1].X[i]
				if len(in) > 2 && in[2].X != nil {
					out.X[o+i] += in[2].X[i]
				}
			}
		}
		return out
	}),
	"QuantizeLinear":   one(quantize),
	"DequantizeLinear": one(dequantize),
}

func total(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

func reduce(n node, in []Value, f func(list []float64) float64) Value {
	v, axes := in[0], n.ints("axes", in, 1)
	for i := range axes {
		axes[i] = axis(axes[i], len(v.Dims))
	}
	dims := slices.Clone(v.Dims)
	for i := range dims {
		if axes == nil || slices.Contains(axes, i) {
			dims[i] = 1
		}
	}
	step, lists := strides(dims), make([][]float64, size(dims))
	each(v.Dims, func(at int, index []int) {
		p := 0
		for i := range index {
			if dims[i] > 1 {
				p += index[i] * step[i]
			}
		}
		lists[p] = append(lists[p], v.X[at])
	})
	out := zeros(dims...)
	for i, list := range lists {
		out.X[i] = f(list)
	}
	if n.Int("keepdims", 1) == 0 {
		out.Dims = nil
		for i, d := range dims {
			if axes != nil && !slices.Contains(axes, i) {
				out.Dims = append(out.Dims, d)
			}
		}
	}
	return out
}

// along returns the scale or zero point of each entry: one for all, or one for each entry of an axis.
func along(n node, v, s Value) Value {
	if len(s.X) < 2 {
		return Value{nil, s.X}
	}
	dims := make([]int, len(v.Dims))
	for i := range dims {
		dims[i] = 1
	}
	dims[axis(int(n.Int("axis", 1)), len(dims))] = len(s.X)
	return Value{dims, s.X}
}

func quantize(n node, in []Value) Value {
	v := both(in[0], along(n, in[0], in[1]), func(x, s float64) float64 { return math.RoundToEven(x / s) })
	return apply(both(v, along(n, v, in[2]), func(x, z float64) float64 { return x + z }), func(x float64) float64 {
		return clip(x, 0, 255)
	})
}

func dequantize(n node, in []Value) Value {
	v := in[0]
	if len(in) > 2 && in[2].X != nil {
		v = both(v, along(n, v, in[2]), func(x, z float64) float64 { return x - z })
	}
	return both(v, along(n, v, in[1]), func(x, s float64) float64 { return x * s })
}
