package glyphs

import (
	"fmt"
	"image"
	"image/draw"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// Size is the side of every image in pixels.
const Size = 32

// Renderer draws characters. It is never modified after its creation, so goroutines may share it.
type Renderer struct {
	outlines map[rune][]outline // one for each font that contains the character
	clutter  []rune             // characters that partly appear in the background
}

// NewRenderer loads the outlines of the given characters and of the clutter characters from all fonts. Clutter consists
// of Pretrain characters, so no image shows part of another class of the dataset.
func NewRenderer(characters []Character) (*Renderer, error) {
	r, wanted := &Renderer{}, map[rune]bool{}
	for i, c := range Characters(Pretrain) {
		if i%clutterEvery == 0 {
			r.clutter, wanted[c.Char] = append(r.clutter, c.Char), true
		}
	}
	for _, c := range characters {
		wanted[c.Char] = true
	}
	var err error
	if r.outlines, err = readOutlines(wanted); err != nil {
		return nil, err
	}
	for c := range wanted {
		if len(r.outlines[c]) == 0 {
			return nil, fmt.Errorf("glyphs: character %U is in no font", c)
		}
	}
	return r, nil
}

// clutterEvery selects every 16th Pretrain character as clutter, which makes loading faster.
const clutterEvery = 16

// Render draws character c into dst, Size×Size grey bytes, with all choices drawn from rng. It uses integer arithmetic
// (the rasteriser's few floats are exact or single IEEE operations), so equal draws give equal bytes on every machine.
func (r *Renderer) Render(dst []byte, c rune, how Conditions, rng *rand.Rand) {
	if len(dst) != Size*Size {
		panic(fmt.Sprintf("glyphs: Render: %d bytes, expected %d", len(dst), Size*Size))
	}
	s := scene{dice: dice{rng}, how: &how, raster: vector.NewRasterizer(Size, Size),
		mask: image.NewAlpha(image.Rect(0, 0, Size, Size))}
	s.raster.DrawOp = draw.Src
	s.paintScene(r, c)
	s.developPixels(dst)
}

// scene is an image being drawn. Its levels are 1/64 of a grey level, so that shading shows no bands.
type scene struct {
	dice
	how    *Conditions
	raster *vector.Rasterizer
	mask   *image.Alpha
	levels [Size * Size]int32
}

const fine = 64 // levels of a scene per grey level

// paintScene draws the background, the clutter, the character and, in some images, a scratch in front.
func (s *scene) paintScene(r *Renderer, c rune) {
	ink, paper := s.drawContrast()
	slopeX, slopeY := s.drawWithin(60), s.drawWithin(60) // slope of the paper, in 1/64 grey level per pixel
	for i := range s.levels {
		s.levels[i] = int32(paper*fine + slopeX*(i%Size-Size/2) + slopeY*(i/Size-Size/2))
	}
	for range s.drawBetween(0, s.how.Neighbours) {
		other := r.outlines[r.clutter[s.drawBelow(len(r.clutter))]]
		s.traceAside(other[s.drawBelow(len(other))])
		s.fillTraced(paper+(ink-paper)*s.drawBetween(25, 95)/100, 0, 0)
	}
	for range s.drawBetween(0, s.how.Strokes) {
		s.traceStroke()
		s.fillTraced(paper+(ink-paper)*s.drawBetween(20, 70)/100, 0, 0)
	}
	shapes := r.outlines[c]
	s.traceCentred(shapes[s.drawBelow(len(shapes))])
	s.fillTraced(ink, s.drawWithin(50), s.drawWithin(50))
	if s.how.Scratch && s.drawBelow(4) == 0 {
		s.traceStroke()
		s.fillTraced(s.drawBetween(0, 255), 0, 0)
	}
}

// drawContrast draws the grey levels of ink and paper; either may be darker.
func (s *scene) drawContrast() (ink, paper int) {
	difference := s.drawBetween(s.how.Contrast[0], s.how.Contrast[1])
	low := s.drawBetween(15, 240-difference)
	if s.drawBelow(2) == 0 {
		return low, low + difference
	}
	return low + difference, low
}

// traceCentred traces the character near the middle, rotated, sheared and stretched.
func (s *scene) traceCentred(o outline) {
	const half = subpixel / 2
	h := s.how
	side := s.drawBetween(h.Side[0]*half, h.Side[1]*half)
	turn, shear, stretch := s.drawWithin(h.Turn), s.drawWithin(h.Shear), 1<<16+s.drawWithin(h.Stretch)
	x, y := Size*half+s.drawWithin(h.Shift*half), Size*half+s.drawWithin(h.Shift*half)
	o.drawOutline(s.raster, newPlacement(int64(side), int64(turn), int64(shear), int64(stretch), int64(x), int64(y)))
}

// traceAside traces a clutter character at the edge of the image, mostly outside it.
func (s *scene) traceAside(o outline) {
	x, y := s.drawBetween(-4, Size+4), s.drawBetween(-4, Size+4)
	switch s.drawBelow(4) {
	case 0:
		x = s.drawBetween(-5, 3)
	case 1:
		x = Size - s.drawBetween(-5, 3)
	case 2:
		y = s.drawBetween(-5, 3)
	case 3:
		y = Size - s.drawBetween(-5, 3)
	}
	o.drawOutline(s.raster, newPlacement(int64(s.drawBetween(14, 30)*subpixel), int64(s.drawWithin(30000)), 0, 1<<16,
		int64(x*subpixel), int64(y*subpixel)))
}

// traceStroke traces a straight line, one to two and a half pixels wide, from edge to edge.
func (s *scene) traceStroke() {
	x0, y0, x1, y1 := 0, s.drawBelow(Size*subpixel), Size*subpixel, s.drawBelow(Size*subpixel)
	half := s.drawBetween(subpixel/2, subpixel*5/4)
	corners := [4][2]int{{x0, y0 - half}, {x1, y1 - half}, {x1, y1 + half}, {x0, y0 + half}}
	upright := s.drawBelow(2)
	for i, p := range corners {
		x, y := float32(p[upright])/subpixel, float32(p[1-upright])/subpixel
		if i == 0 {
			s.raster.MoveTo(x, y)
		} else {
			s.raster.LineTo(x, y)
		}
	}
	s.raster.ClosePath()
}

// fillTraced fills the traced path with a grey level that varies linearly over the image, and clears the path.
func (s *scene) fillTraced(level, slopeX, slopeY int) {
	s.raster.Draw(s.mask, s.mask.Rect, image.Opaque, image.Point{})
	s.raster.Reset(Size, Size)
	s.raster.DrawOp = draw.Src
	for i, cover := range s.mask.Pix {
		if cover != 0 {
			to := int32(level*fine + slopeX*(i%Size-Size/2) + slopeY*(i/Size-Size/2))
			s.levels[i] += (to - s.levels[i]) * int32(cover) / 255
		}
	}
}

// developPixels blurs the scene, adds noise and rounds to bytes.
func (s *scene) developPixels(dst []byte) {
	for range s.drawBetween(0, s.how.Blur) {
		s.blurScene()
	}
	grain := s.drawBetween(0, s.how.Grain)
	for i, v := range s.levels {
		noise := s.drawWithin(grain * fine)
		dst[i] = byte(min(max((int(v)+noise+fine/2)/fine, 0), 255))
	}
}

// blurScene applies one pass of the 3×3 binomial kernel, with edges repeated.
func (s *scene) blurScene() {
	var rows [Size * Size]int32
	for y := range Size {
		row := s.levels[y*Size : (y+1)*Size]
		for x, v := range row {
			rows[y*Size+x] = row[max(x-1, 0)] + 2*v + row[min(x+1, Size-1)]
		}
	}
	for y := range Size {
		up, down := max(y-1, 0)*Size, min(y+1, Size-1)*Size
		for x := range Size {
			s.levels[y*Size+x] = (rows[up+x] + 2*rows[y*Size+x] + rows[down+x]) / 16
		}
	}
}

// dice draws the same integers on 32-bit and on 64-bit machines.
type dice struct{ *rand.Rand }

// drawBelow draws an integer from 0 … n-1.
func (d dice) drawBelow(n int) int { return int(d.Uint64() >> 32 * uint64(n) >> 32) }

// drawBetween draws an integer between lo and hi, both included.
func (d dice) drawBetween(lo, hi int) int { return lo + d.drawBelow(hi-lo+1) }

// drawWithin draws an integer whose absolute value is at most the given one.
func (d dice) drawWithin(most int) int { return d.drawBetween(-most, most) }
