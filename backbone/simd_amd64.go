package backbone

import "golang.org/x/sys/cpu"

// avx2 reports whether images are prepared with AVX2. Tests set it to false to compare both implementations.
var avx2 = cpu.X86.HasAVX2

// Each function below does the first part of the work of a Go function, named in its comment. It returns how many
// pixels or outputs it has computed; the Go function computes the rest. The functions do not read or write beyond
// their slices.

// weighVector does the work of weighChroma; a bias and a shift by 2 give the result of interpolateChroma.
func weighVector(t []uint32, nb, nr, fb, fr []byte, bias uint32, shift uint) int {
	n := min(len(t), len(nb), len(nr), len(fb), len(fr)) &^ 7
	if !avx2 || n == 0 {
		return 0
	}
	weighAVX2(&t[0], &nb[0], &nr[0], &fb[0], &fr[0], n, bias, shift)
	return n
}

// triangleVector does the work of doubleColumns in pairs of columns. t has two more values than there are pairs.
func triangleVector(uv, t []uint32, even, odd uint32) int {
	n := min(len(uv)/2, len(t)-2) &^ 7
	if !avx2 || n <= 0 {
		return 0
	}
	triangleAVX2(&uv[0], &t[0], n, even, odd)
	return n
}

// toRGBVector does the work of toRGB. Its last store writes four bytes beyond its pixels, and they must fit in dst.
func toRGBVector(dst, luma []byte, uv []uint32) int {
	n := min(len(luma), len(uv), (len(dst)-4)/3) &^ 7
	if !avx2 || n <= 0 {
		return 0
	}
	toRGBAVX2(&dst[0], &luma[0], &uv[0], n)
	return n
}

// resampleRowVector does the work of resampleRow if t.width is a multiple of group. Reading a group of four pixels
// also reads the four bytes after it.
func resampleRowVector(red, green, blue, src []byte, from int, t *taps) int {
	if !avx2 || t.width%group != 0 {
		return 0
	}
	n := min(len(t.start), len(red), len(green), len(blue), len(t.weights)/t.width)
	for n > 0 && 3*(t.start[n-1]-from+t.width)+4 > len(src) {
		n--
	}
	if n == 0 || t.start[0] < from {
		return 0
	}
	resampleRowAVX2(&red[0], &green[0], &blue[0], &src[0], from, &t.start[0], &t.weights[0], n, t.width)
	return n
}

// resampleColumnsVector does the work of resampleColumns.
func resampleColumnsVector(sum []int32, rows *[group][]byte, w *[group]int32, begin bool) int {
	n := len(sum)
	for _, r := range rows {
		n = min(n, len(r))
	}
	n &^= 7
	if !avx2 || n == 0 {
		return 0
	}
	resampleColumnsAVX2(&sum[0], &rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], w, n, begin)
	return n
}

//go:noescape
func weighAVX2(t *uint32, nb, nr, fb, fr *byte, n int, bias uint32, shift uint)

//go:noescape
func triangleAVX2(uv, t *uint32, n int, even, odd uint32)

//go:noescape
func toRGBAVX2(dst, luma *byte, uv *uint32, n int)

//go:noescape
func resampleRowAVX2(red, green, blue, src *byte, from int, start *int, weights *int32, n, width int)

//go:noescape
func resampleColumnsAVX2(sum *int32, a, b, c, d *byte, w *[group]int32, n int, begin bool)
