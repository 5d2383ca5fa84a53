package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// conv is a square convolution without bias (batch normalisation follows), as one matrix product:
//
//	Y = cols(X)·W    X n·h·w × in, cols n·oh·ow × k·k·in, W k·k·in × out, Y n·oh·ow × out
//
// Images lie channel-last (NHWC), so that a window's row is one copy and every later step sees channels side
// by side. Padding is (k-1)/2.
type conv struct {
	name               string
	side, in           int // of the input, square
	outSide, out       int
	kernel, stride     int
	weight             *features.Param
	cols, y, dCols, dx []float32
}

// newConv draws the weights as He et al. (Delving Deep into Rectifiers, ICCV 2015, eq. 10).
func newConv(name string, side, in, out, kernel, stride int, rng *rand.Rand) *conv {
	c := &conv{name: name, side: side, in: in, out: out, kernel: kernel, stride: stride}
	c.outSide = (side + stride - 1) / stride
	c.weight = features.NewParam(name+".weight", kernel*kernel*in, out)
	std := math.Sqrt(2 / float64(kernel*kernel*in))
	for i := range c.weight.Data {
		c.weight.Data[i] = float32(std * rng.NormFloat64())
	}
	return c
}

// forward convolves n images. The result is valid until the next forward.
func (c *conv) forward(x []float32, n int) []float32 {
	rows, width := n*c.outSide*c.outSide, c.kernel*c.kernel*c.in
	c.cols = sized(c.cols, rows*width)
	c.y = sized(c.y, rows*c.out)
	inChunks(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.gather(x[i*c.side*c.side*c.in:][:c.side*c.side*c.in], c.cols[i*c.outSide*c.outSide*width:])
		}
	})
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(c.cols, rows, width), c.weight.Matrix(), 0, matrix(c.y, rows, c.out))
	return c.y
}

// backward fills the weight's gradient and, if wanted, returns the gradient of the last forward's input.
func (c *conv) backward(dy []float32, n int, wantInput bool) []float32 {
	rows, width := n*c.outSide*c.outSide, c.kernel*c.kernel*c.in
	g := matrix(dy, rows, c.out)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, matrix(c.cols, rows, width), g, 0, c.weight.GradMatrix())
	if !wantInput {
		return nil
	}
	c.dCols = sized(c.dCols, rows*width)
	c.dx = sized(c.dx, n*c.side*c.side*c.in)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, g, c.weight.Matrix(), 0, matrix(c.dCols, rows, width))
	inChunks(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dx := c.dx[i*c.side*c.side*c.in:][:c.side*c.side*c.in]
			clear(dx)
			c.scatter(c.dCols[i*c.outSide*c.outSide*width:], dx)
		}
	})
	return c.dx
}

// gather copies the window of every output pixel of one image into its row; outside the image are zeros.
func (c *conv) gather(x, cols []float32) {
	c.windows(func(at, from, count, before, after int) {
		row := cols[at:]
		clear(row[:before])
		copy(row[before:before+count], x[from:from+count])
		clear(row[before+count : before+count+after])
	})
}

// scatter adds the rows' gradients back to the pixels they came from.
func (c *conv) scatter(cols, dx []float32) {
	c.windows(func(at, from, count, before, _ int) {
		src, dst := cols[at+before:at+before+count], dx[from:from+count]
		for i, v := range src {
			dst[i] += v
		}
	})
}

// windows calls visit for each line of each window: its place in cols, where its pixels start in the image,
// how many values of it lie inside, and how many lie before and after them outside.
func (c *conv) windows(visit func(at, from, count, before, after int)) {
	pad, line := (c.kernel-1)/2, c.kernel*c.in
	at := 0
	for oy := range c.outSide {
		for ox := range c.outSide {
			left := ox*c.stride - pad
			lo, hi := max(left, 0), min(left+c.kernel, c.side)
			for ky := range c.kernel {
				y := oy*c.stride - pad + ky
				if y < 0 || y >= c.side {
					visit(at, 0, 0, line, 0)
				} else {
					visit(at, (y*c.side+lo)*c.in, (hi-lo)*c.in, (lo-left)*c.in, (left+c.kernel-hi)*c.in)
				}
				at += line
			}
		}
	}
}

// matrix is a contiguous view.
func matrix(data []float32, rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}

// sized is a slice of length n, reusing s where it has room. Its contents are not cleared.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
