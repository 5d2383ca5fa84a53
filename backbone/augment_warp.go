package backbone

import "math"

// warp turns, zooms and shifts a view about its centre: a thing at p, measured from the centre in pixels, comes
// to lie at zoom·R(angle)·p + (right, down). Values between samples are bilinear, rounded to bytes.
//
// What comes from beyond the picture's border repeats the border (torchvision paints it black): a page stays a
// page whether its ground is white or black, and there is no new edge a network could learn to read.
type warp struct {
	angle       float64 // radians, clockwise as y points down
	zoom        float64 // 0: no warp
	right, down float64 // shares of the view's side
}

func (a Augmentation) planWarp(d *draws) warp {
	if a.Rotate == 0 && a.Shift == 0 && a.Zoom == 0 {
		return warp{}
	}
	return warp{
		angle: between(d.angle, -a.Rotate, a.Rotate) * math.Pi / 180,
		zoom:  between(d.zoom, 1-a.Zoom, 1+a.Zoom),
		right: between(d.right, -a.Shift, a.Shift),
		down:  between(d.down, -a.Shift, a.Shift),
	}
}

func (w warp) on() bool { return w.zoom != 0 }

// inverse says where a view's sample comes from: sample (x, y) from (ax·x + bx·y + cx, ay·x + by·y + cy), both
// counted from the centre of the view's first sample.
func (w warp) inverse(side int) (ax, bx, cx, ay, by, cy float64) {
	sin, cos := math.Sincos(w.angle)
	ax, bx = cos/w.zoom, sin/w.zoom
	ay, by = -sin/w.zoom, cos/w.zoom
	middle := float64(side-1) / 2
	x, y := -middle-w.right*float64(side), -middle-w.down*float64(side)
	return ax, bx, ax*x + bx*y + middle, ay, by, ay*x + by*y + middle
}

// needs is the area that the samples of a view come from, within a picture of width × height; frame is where
// the view would lie without the warp.
func (w warp) needs(side int, frame area, width, height int) area {
	ax, bx, cx, ay, by, cy := w.inverse(side)
	last := float64(side - 1)
	reach := func(a, b, c float64, first, size int) (lo, n int) {
		least := c + min(a, 0)*last + min(b, 0)*last
		most := c + max(a, 0)*last + max(b, 0)*last
		lo = min(max(first+int(math.Floor(least)), 0), size-1)
		return lo, min(max(first+int(math.Floor(most))+2, lo+1), size) - lo
	}
	x, n := reach(ax, bx, cx, frame.x, width)
	y, m := reach(ay, by, cy, frame.y, height)
	return area{x, y, n, m}
}

// apply fills dst, planes × side × side, from the bytes of an area.
func (w warp) apply(dst []byte, side int, src []byte, from, frame area, planes int) {
	ax, bx, cx, ay, by, cy := w.inverse(side)
	cx, cy = cx+float64(frame.x-from.x), cy+float64(frame.y-from.y)
	lastX, lastY := float64(from.w-1), float64(from.h-1)
	size := from.w * from.h
	for y := range side {
		for x := range side {
			sx := min(max(ax*float64(x)+bx*float64(y)+cx, 0), lastX)
			sy := min(max(ay*float64(x)+by*float64(y)+cy, 0), lastY)
			x0, y0 := int(sx), int(sy)
			fx, fy := float32(sx-float64(x0)), float32(sy-float64(y0))
			at := y0*from.w + x0
			right, below := 0, 0
			if x0+1 < from.w {
				right = 1
			}
			if y0+1 < from.h {
				below = from.w
			}
			for c := range planes {
				p := src[c*size+at:]
				v00, v01 := float32(p[0]), float32(p[right])
				v10, v11 := float32(p[below]), float32(p[below+right])
				upper, lower := v00+fx*(v01-v00), v10+fx*(v11-v10)
				dst[(c*side+y)*side+x] = uint8(upper + fy*(lower-upper) + 0.5)
			}
		}
	}
}
