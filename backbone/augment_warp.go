package backbone

import "math"

// warp rotates, zooms and shifts a view about its centre: a point p, in pixels from the centre, moves to
// zoom·R(angle)·p + (right, down). Values between samples are interpolated bilinearly and rounded to bytes.
//
// Beyond the image's border, the border samples are repeated; torchvision paints black instead. A white or black
// background thus continues to the edge of the view, and the network sees no artificial edge that it could learn.
type warp struct {
	angle       float64 // radians; clockwise, because y points down
	zoom        float64 // 0: no warp
	right, down float64 // shares of the view's width and height
}

func (a Augmentation) planWarp(d *draws) warp {
	if a.Rotate == 0 && a.Shift == 0 && a.Zoom == 0 {
		return warp{}
	}
	return warp{
		angle: mapBetween(d.angle, -a.Rotate, a.Rotate) * math.Pi / 180,
		zoom:  mapBetween(d.zoom, 1-a.Zoom, 1+a.Zoom),
		right: mapBetween(d.right, -a.Shift, a.Shift),
		down:  mapBetween(d.down, -a.Shift, a.Shift),
	}
}

func (w warp) isWarped() bool { return w.zoom != 0 }

// invertWarp maps a view's sample to its origin: sample (x, y) is read at (ax·x + bx·y + cx, ay·x + by·y + cy). Both
// positions are relative to the centre of the view's first sample.
func (w warp) invertWarp(wide, high int) (ax, bx, cx, ay, by, cy float64) {
	sin, cos := math.Sincos(w.angle)
	ax, bx = cos/w.zoom, sin/w.zoom
	ay, by = -sin/w.zoom, cos/w.zoom
	midX, midY := float64(wide-1)/2, float64(high-1)/2
	x, y := -midX-w.right*float64(wide), -midY-w.down*float64(high)
	return ax, bx, ax*x + bx*y + midX, ay, by, ay*x + by*y + midY
}

// neededArea returns the area that the view's samples are read from, within an image of width × height. frame is the
// place of the view without the warp.
func (w warp) neededArea(frame area, width, height int) area {
	ax, bx, cx, ay, by, cy := w.invertWarp(frame.w, frame.h)
	lastX, lastY := float64(frame.w-1), float64(frame.h-1)
	reach := func(a, b, c float64, first, size int) (lo, n int) {
		least := c + min(a, 0)*lastX + min(b, 0)*lastY
		most := c + max(a, 0)*lastX + max(b, 0)*lastY
		lo = min(max(first+int(math.Floor(least)), 0), size-1)
		return lo, min(max(first+int(math.Floor(most))+2, lo+1), size) - lo
	}
	x, n := reach(ax, bx, cx, frame.x, width)
	y, m := reach(ay, by, cy, frame.y, height)
	return area{x, y, n, m}
}

// applyWarp fills dst, planes × frame.h × frame.w, from the bytes of an area. Coordinates are integers in units of
// 2⁻³² samples; the upper half of the fraction is the weight. Integers are twice as fast as floats here, and give the
// same result on every machine.
func (w warp) applyWarp(dst, src []byte, from, frame area, planes int) {
	const one = 1 << 32
	ax, bx, cx, ay, by, cy := w.invertWarp(frame.w, frame.h)
	cx, cy = cx+float64(frame.x-from.x), cy+float64(frame.y-from.y)
	fixed := func(v float64) int64 { return int64(math.RoundToEven(v * one)) }
	stepX, stepY := fixed(ax), fixed(ay)
	lastX, lastY := int64(from.w-1)*one, int64(from.h-1)*one
	size := from.w * from.h
	for y := range frame.h {
		atX, atY := fixed(bx*float64(y)+cx), fixed(by*float64(y)+cy)
		row := dst[y*frame.w:]
		for x := range frame.w {
			sx, sy := min(max(atX, 0), lastX), min(max(atY, 0), lastY)
			atX, atY = atX+stepX, atY+stepY
			at := int(sy>>32)*from.w + int(sx>>32)
			fx, fy := uint64(sx>>16&0xffff), uint64(sy>>16&0xffff)
			right, below := 0, 0
			if sx < lastX {
				right = 1
			}
			if sy < lastY {
				below = from.w
			}
			for c := range planes {
				p := src[c*size+at:]
				p = p[: below+right+1 : below+right+1]
				upper := uint64(p[0])*(1<<16-fx) + uint64(p[right])*fx
				lower := uint64(p[below])*(1<<16-fx) + uint64(p[below+right])*fx
				row[c*frame.h*frame.w+x] = uint8((upper*(1<<16-fy) + lower*fy + 1<<31) >> 32)
			}
		}
	}
}
