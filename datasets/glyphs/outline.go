package glyphs

import (
	"bufio"
	"cmp"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/image/vector"
)

// unit is the longer side of every outline's bounding box in outline coordinates, which are integers.
const unit = 1 << 14

// subpixel is the number of grid steps per pixel for transformed points, as in the rasteriser. Therefore no point is
// rounded twice, and every float32 below is exact.
const subpixel = 512

// point is a corner of a polygon in outline coordinates; y points down.
type point struct{ x, y int32 }

// outline is a glyph as closed polygons, scaled to unit and centred on its bounding box.
type outline [][]point

// outlinesFile holds the curves of all characters in 29 open fonts (NOTICE); not every font has every character. Commit
// 0d43a2a7 contains experiments/outlines, which wrote this file from the fonts and describes its format.
//
//go:embed outlines.flate
var outlinesFile string

// readOutlines reads the outlines of the wanted characters, one for each font that contains the character.
func readOutlines(wanted map[rune]bool) (map[rune][]outline, error) {
	in := bufio.NewReader(flate.NewReader(strings.NewReader(outlinesFile)))
	all := map[rune][]outline{}
	for {
		c, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		faces, err := binary.ReadUvarint(in)
		if err != nil {
			return nil, fmt.Errorf("glyphs: %w", err)
		}
		for range faces {
			o, err := readOutline(in, wanted[rune(c)])
			if err != nil {
				return nil, fmt.Errorf("glyphs: character %U: %w", c, err)
			}
			if o != nil {
				all[rune(c)] = append(all[rune(c)], o)
			}
		}
	}
}

// readOutline reads an outline. It returns nil if the outline is not wanted or is empty.
func readOutline(in *bufio.Reader, wanted bool) (o outline, err error) {
	segments, err := binary.ReadUvarint(in)
	var last point
	for range segments {
		op, wrong := in.ReadByte()
		curve := []point{last}
		for range max(1, op) { // move, line, quadratic, cubic
			x, wrongX := binary.ReadVarint(in)
			y, wrongY := binary.ReadVarint(in)
			err = cmp.Or(err, wrong, wrongX, wrongY)
			last = point{last.x + int32(x), last.y + int32(y)}
			curve = append(curve, last)
		}
		if err != nil {
			return nil, err
		}
		if op == 0 {
			o = append(o, nil)
		}
		if wanted {
			o[len(o)-1] = appendChords(o[len(o)-1], curve)
		}
	}
	if err != nil || !wanted || !o.normalizeOutline() {
		return nil, err
	}
	return o, nil
}

// steps is the number of chords per curve: at 32 pixels the error is far below the noise.
const steps = 4

// appendChords appends the end point of a line, or the chords of a curve with three or four points, in integers.
func appendChords(polygon, curve []point) []point {
	if len(curve) == 2 {
		return append(polygon, curve[1])
	}
	for i := int32(1); i <= steps; i++ {
		j := steps - i
		weights, sum := []int32{j * j, 2 * i * j, i * i}, int32(steps*steps)
		if len(curve) == 4 {
			weights, sum = []int32{j * j * j, 3 * i * j * j, 3 * i * i * j, i * i * i}, steps*steps*steps
		}
		var p point
		for k, w := range weights {
			p.x, p.y = p.x+w*curve[k].x, p.y+w*curve[k].y
		}
		polygon = append(polygon, point{p.x / sum, p.y / sum})
	}
	return polygon
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

// newPlacement returns the transformation that rotates by angle (radians, 2^-16), shears x by shear·y, scales the
// longer side to size subpixels and moves the centre to (dx, dy) subpixels. shear and stretch are in 2^-16; stretch
// widens x relative to y.
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
// differ in the last bit between processors. The error is below 2^-15 for |angle| ≤ 0.6 radians.
func computeSineCosine(angle int64) (sin, cos int64) {
	a2 := angle * angle >> 16
	a4 := a2 * a2 >> 16
	cos = 1<<16 - a2/2 + a4/24 - a4*a2>>16/720
	sin = angle - (angle*a2>>16)/6 + (angle*a4>>16)/120
	return sin, cos
}
