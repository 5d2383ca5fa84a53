package glyphs

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// unit is the longer side of every outline's bounding box, in the outline's integer coordinates.
const unit = 1 << 14

// subpixel is the grid of transformed points: 1/512 pixel, as in the rasteriser. So no point is rounded twice and
// every float32 below is exact.
const subpixel = 512

// point is a corner of a polygon in outline coordinates, y downwards.
type point struct{ x, y int32 }

// outline is a glyph as closed polygons, centred on its bounding box and scaled to unit.
type outline [][]point

// loadOutline reads a character from a font. It returns nil if the font does not have it or draws nothing for it.
func loadOutline(f *sfnt.Font, buf *sfnt.Buffer, c rune) (outline, error) {
	index, err := f.GlyphIndex(buf, c)
	if err != nil || index == 0 { // glyph 0 is .notdef: the box of a missing character
		return nil, err
	}
	// Two units of 26.6 per font unit keep the halves of quadratic mid-points.
	segments, err := f.LoadGlyph(buf, index, fixed.Int26_6(2*f.UnitsPerEm()), &sfnt.LoadGlyphOptions{})
	if err != nil {
		return nil, err
	}
	o := flattenCurves(segments)
	if !o.normalizeOutline() {
		return nil, nil
	}
	return o, nil
}

// steps is the number of chords per curve: at 32 pixels the error is far below the noise.
const steps = 4

// flattenCurves turns curves into chords, in integers.
func flattenCurves(segments sfnt.Segments) outline {
	var o outline
	var last fixed.Point26_6
	add := func(x, y fixed.Int26_6) {
		o[len(o)-1] = append(o[len(o)-1], point{int32(x), int32(y)})
	}
	for _, s := range segments {
		p := s.Args
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			o = append(o, nil)
			add(p[0].X, p[0].Y)
			last = p[0]
		case sfnt.SegmentOpLineTo:
			add(p[0].X, p[0].Y)
			last = p[0]
		case sfnt.SegmentOpQuadTo:
			for i := fixed.Int26_6(1); i <= steps; i++ {
				j := steps - i
				a, b, c := j*j, 2*i*j, i*i
				add((a*last.X+b*p[0].X+c*p[1].X)/(steps*steps), (a*last.Y+b*p[0].Y+c*p[1].Y)/(steps*steps))
			}
			last = p[1]
		case sfnt.SegmentOpCubeTo:
			for i := fixed.Int26_6(1); i <= steps; i++ {
				j := steps - i
				a, b, c, d := j*j*j, 3*i*j*j, 3*i*i*j, i*i*i
				add((a*last.X+b*p[0].X+c*p[1].X+d*p[2].X)/(steps*steps*steps),
					(a*last.Y+b*p[0].Y+c*p[1].Y+d*p[2].Y)/(steps*steps*steps))
			}
			last = p[2]
		}
	}
	return o
}

// normalizeOutline centres the outline and scales its longer side to unit. It reports false if the outline is empty.
func (o outline) normalizeOutline() bool {
	lo, hi := point{1 << 30, 1 << 30}, point{-1 << 30, -1 << 30}
	for _, polygon := range o {
		for _, p := range polygon {
			lo.x, lo.y = min(lo.x, p.x), min(lo.y, p.y)
			hi.x, hi.y = max(hi.x, p.x), max(hi.y, p.y)
		}
	}
	side := max(hi.x-lo.x, hi.y-lo.y)
	if len(o) == 0 || side <= 0 {
		return false
	}
	for _, polygon := range o {
		for i, p := range polygon {
			polygon[i].x = int32((int64(2*p.x-lo.x-hi.x) * unit) / int64(2*side))
			polygon[i].y = int32((int64(2*p.y-lo.y-hi.y) * unit) / int64(2*side))
		}
	}
	return true
}

// affine maps outline coordinates to subpixels: (a·x + b·y)/2^24 + dx, (c·x + d·y)/2^24 + dy.
type affine struct{ a, b, c, d, dx, dy int64 }

// drawOutline adds the transformed outline to the rasteriser's path.
func (o outline) drawOutline(z *vector.Rasterizer, m affine) {
	for _, polygon := range o {
		for i, p := range polygon {
			x := (m.a*int64(p.x)+m.b*int64(p.y))>>24 + m.dx
			y := (m.c*int64(p.x)+m.d*int64(p.y))>>24 + m.dy
			fx, fy := float32(x)/subpixel, float32(y)/subpixel
			if i == 0 {
				z.MoveTo(fx, fy)
			} else {
				z.LineTo(fx, fy)
			}
		}
		z.ClosePath()
	}
}

// newPlacement returns the transformation that turns by angle (radians, 2^-16), shears x by shear·y, scales the longer
// side to size subpixels and centres on (dx, dy) subpixels. shear and stretch are in 2^-16; stretch widens x
// relative to y.
func newPlacement(size, angle, shear, stretch, dx, dy int64) affine {
	sin, cos := computeSineCosine(angle)
	// Columns of scale·shear: (sx, 0) and (sx·shear, sy), in 2^-24 subpixels per outline unit.
	sy := size << 24 / unit
	sx := sy * stretch >> 16
	kx := sx * shear >> 16
	return affine{
		a: sx * cos >> 16, b: (kx*cos - sy*sin) >> 16, dx: dx,
		c: sx * sin >> 16, d: (kx*sin + sy*cos) >> 16, dy: dy,
	}
}

// computeSineCosine returns the sine and cosine of a small angle from their series, all in 2^-16. A library's sine may
// differ in its last bit between processors. The error is below 2^-15 for |angle| ≤ 0.6 radians.
func computeSineCosine(angle int64) (sin, cos int64) {
	a2 := angle * angle >> 16
	a4 := a2 * a2 >> 16
	cos = 1<<16 - a2/2 + a4/24 - a4*a2>>16/720
	sin = angle - (angle*a2>>16)/6 + (angle*a4>>16)/120
	return sin, cos
}
