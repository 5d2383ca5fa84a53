package plainnet

import (
	"math"
	"slices"
)

// window says how a kernel moves over two axes.
type window struct {
	kernel, stride, dilation, before [2]int
	out                              [2]int
}

func (n node) window(v Value, kernel []int) (w window) {
	list := func(name string, d int) [2]int {
		if l := n.ints(name, nil, 0); l != nil {
			return [2]int{l[0], l[1]}
		}
		return [2]int{d, d}
	}
	w.kernel, w.stride, w.dilation = [2]int(kernel), list("strides", 1), list("dilations", 1)
	pads := n.ints("pads", nil, 0)
	if pads == nil {
		pads = make([]int, 4)
	}
	for i := range 2 {
		reach := w.dilation[i]*(w.kernel[i]-1) + 1
		length := v.Dims[2+i]
		switch auto := n.Text("auto_pad", "NOTSET"); auto {
		case "SAME_UPPER", "SAME_LOWER":
			w.out[i] = (length + w.stride[i] - 1) / w.stride[i]
			all := max((w.out[i]-1)*w.stride[i]+reach-length, 0)
			if w.before[i] = all / 2; auto == "SAME_LOWER" {
				w.before[i] = (all + 1) / 2
			}
		default:
			w.before[i] = pads[i]
			rest := length + pads[i] + pads[2+i] - reach
			if w.out[i] = rest/w.stride[i] + 1; n.Int("ceil_mode", 0) == 1 && rest%w.stride[i] > 0 {
				if w.out[i]*w.stride[i] < length+pads[i] { // a window must begin inside
					w.out[i]++
				}
			}
		}
	}
	return w
}

// slide visits each position of the kernel and what it sees: the entry of the kernel and that of the plane.
func (w window) slide(high, wide int, begin func(at int), see func(k, at int)) {
	for y := range w.out[0] {
		for x := range w.out[1] {
			begin(y*w.out[1] + x)
			for i := range w.kernel[0] {
				row := y*w.stride[0] + i*w.dilation[0] - w.before[0]
				if row < 0 || row >= high {
					continue
				}
				for j := range w.kernel[1] {
					if col := x*w.stride[1] + j*w.dilation[1] - w.before[1]; col >= 0 && col < wide {
						see(i*w.kernel[1]+j, row*wide+col)
					}
				}
			}
		}
	}
}

func conv(n node, in []Value) Value {
	v, kernels := in[0], in[1]
	w := n.window(v, kernels.Dims[2:])
	groups, each := int(n.Int("group", 1)), kernels.Dims[1]
	out := zeros(v.Dims[0], kernels.Dims[0], w.out[0], w.out[1])
	high, wide, plane := v.Dims[2], v.Dims[3], w.out[0]*w.out[1]
	for image := range v.Dims[0] {
		for f := range kernels.Dims[0] {
			to := out.X[(image*kernels.Dims[0]+f)*plane:][:plane]
			if len(in) > 2 && in[2].X != nil {
				for i := range to {
					to[i] = in[2].X[f]
				}
			}
			first := f / (kernels.Dims[0] / groups) * each
			for c := range each {
				from := v.X[(image*v.Dims[1]+first+c)*high*wide:]
				kernel, at := kernels.X[(f*each+c)*w.kernel[0]*w.kernel[1]:], 0
				w.slide(high, wide, func(a int) { at = a }, func(k, p int) { to[at] += kernel[k] * from[p] })
			}
		}
	}
	return out
}

// pool reduces what each window sees.
func pool(n node, v Value, start float64, see func(sum, x float64) float64,
	end func(sum float64, seen, all int) float64) Value {
	w := n.window(v, n.ints("kernel_shape", nil, 0))
	out := zeros(v.Dims[0], v.Dims[1], w.out[0], w.out[1])
	high, wide, plane := v.Dims[2], v.Dims[3], w.out[0]*w.out[1]
	for p := range v.Dims[0] * v.Dims[1] {
		from, to, at := v.X[p*high*wide:], out.X[p*plane:][:plane], 0
		seen := make([]int, plane)
		w.slide(high, wide, func(a int) { at, to[a] = a, start }, func(_, i int) {
			to[at] = see(to[at], from[i])
			seen[at]++
		})
		for i := range to {
			to[i] = end(to[i], seen[i], w.kernel[0]*w.kernel[1])
		}
	}
	return out
}

func matmul(a, b Value) Value {
	dims := broadcast(a.Dims[:len(a.Dims)-2], b.Dims[:len(b.Dims)-2])
	n, k, m := a.Dims[len(a.Dims)-2], a.Dims[len(a.Dims)-1], b.Dims[len(b.Dims)-1]
	a, b = expand(a, append(slices.Clone(dims), n, k)), expand(b, append(slices.Clone(dims), k, m))
	out := zeros(append(slices.Clone(dims), n, m)...)
	for o := range size(dims) {
		for i := range n {
			for j := range m {
				for l := range k {
					out.X[(o*n+i)*m+j] += a.X[(o*n+i)*k+l] * b.X[(o*k+l)*m+j]
				}
			}
		}
	}
	return out
}

func turned(v Value) Value {
	return pick(v, []int{v.Dims[1], v.Dims[0]}, func(index, source []int) {
		source[0], source[1] = index[1], index[0]
	})
}

// channel applies a function with a number for each channel.
func channel(v Value, f func(c int, x float64) float64) Value {
	out, plane := zeros(v.Dims...), size(v.Dims[2:])
	for i, x := range v.X {
		out.X[i] = f(i/plane%v.Dims[1], x)
	}
	return out
}

var windows = map[string]operator{
	"Conv": one(conv),
	"FusedConv": one(func(n node, in []Value) Value {
		v := conv(n, in)
		if n.Text("activation", "") == "Relu" {
			v = apply(v, func(x float64) float64 { return math.Max(x, 0) })
		}
		return v
	}),
	"MaxPool": one(func(n node, in []Value) Value {
		return pool(n, in[0], math.Inf(-1), math.Max, func(s float64, _, _ int) float64 { return s })
	}),
	"AveragePool": one(func(n node, in []Value) Value {
		return pool(n, in[0], 0, func(s, x float64) float64 { return s + x }, func(s float64, seen, all int) float64 {
			if n.Int("count_include_pad", 0) == 1 {
				return s / float64(all)
			}
			return s / float64(seen)
		})
	}),
	"GlobalAveragePool": one(func(n node, in []Value) Value {
		v, plane := in[0], size(in[0].Dims[2:])
		out := zeros(v.Dims[0], v.Dims[1], 1, 1)
		for i, x := range v.X {
			out.X[i/plane] += x / float64(plane)
		}
		return out
	}),
	"BatchNormalization": one(func(n node, in []Value) Value {
		eps := float64(n.Float("epsilon", 1e-5))
		return channel(in[0], func(c int, x float64) float64 {
			return (x-in[3].X[c])/math.Sqrt(in[4].X[c]+eps)*in[1].X[c] + in[2].X[c]
		})
	}),
	"LRN": one(func(n node, in []Value) Value {
		v, plane := in[0], size(in[0].Dims[2:])
		alpha, beta, bias, span := float64(n.Float("alpha", 1e-4)), float64(n.Float("beta", .75)),
			float64(n.Float("bias", 1)), int(n.Int("size", 1))
		out := zeros(v.Dims...)
		for i, x := range v.X {
			c, sum := i/plane%v.Dims[1], 0.
			for k := max(c-(span-1)/2, 0); k <= min(c+span/2, v.Dims[1]-1); k++ {
				y := v.X[i+(k-c)*plane]
				sum += y * y
			}
			out.X[i] = x / math.Pow(bias+alpha/float64(span)*sum, beta)
		}
		return out
	}),
	"MatMul": one(func(_ node, in []Value) Value { return matmul(in[0], in[1]) }),
	"Gemm": one(func(n node, in []Value) Value {
		a, b := in[0], in[1]
		if n.Int("transA", 0) == 1 {
			a = turned(a)
		}
		if n.Int("transB", 0) == 1 {
			b = turned(b)
		}
		alpha, beta := float64(n.Float("alpha", 1)), float64(n.Float("beta", 1))
		v := apply(matmul(a, b), func(x float64) float64 { return alpha * x })
		if len(in) > 2 && in[2].X != nil {
			v = both(v, in[2], func(x, y float64) float64 { return x + beta*y })
		}
		return v
	}),
}
