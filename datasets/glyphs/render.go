package glyphs

import (
	"fmt"
	"image"
	"image/draw"
	"math/rand/v2"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// Size is the side of every image in pixels.
const Size = 32

// Renderer draws characters. It is read-only after its creation, so any number of goroutines may draw.
type Renderer struct {
	outlines map[rune][]outline // one for each face that has the character
	clutter  []rune             // characters of which parts appear in the background
}

// NewRenderer loads the outlines of the given characters, and of those used as clutter, from all fonts. Clutter
// comes from Pretrain characters only, so no image shows a part of another class of the dataset.
func NewRenderer(characters []Character) (*Renderer, error) {
	fonts, err := parseFaces()
	if err != nil {
		return nil, err
	}
	r := &Renderer{outlines: map[rune][]outline{}}
	var buf sfnt.Buffer
	for i, c := range Characters(Pretrain) {
		if i%clutterEvery == 0 {
			r.clutter = append(r.clutter, c.Char)
			if err := r.load(fonts, &buf, c.Char); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range characters {
		if err := r.load(fonts, &buf, c.Char); err != nil {
			return nil, err
		}
		if len(r.outlines[c.Char]) == 0 {
			return nil, fmt.Errorf("glyphs: character %U: no font has it", c.Char)
		}
	}
	return r, nil
}

// clutterEvery selects one in so many Pretrain characters as clutter, to load faster.
const clutterEvery = 16

func (r *Renderer) load(fonts []*sfnt.Font, buf *sfnt.Buffer, c rune) error {
	if r.outlines[c] != nil {
		return nil
	}
	for _, f := range fonts {
		o, err := loadOutline(f, buf, c)
		if err != nil {
			return fmt.Errorf("glyphs: character %U: %w", c, err)
		}
		if o != nil {
			r.outlines[c] = append(r.outlines[c], o)
		}
	}
	return nil
}

// Render draws character c into dst, Size×Size grey bytes, with every choice drawn from rng. It uses integers
// throughout (the rasteriser's few floats are exact or single IEEE operations), so equal draws give equal bytes on
// every machine.
func (r *Renderer) Render(dst []byte, c rune, how Conditions, rng *rand.Rand) {
	if len(dst) != Size*Size {
		panic(fmt.Sprintf("glyphs: Render: %d bytes, expected %d", len(dst), Size*Size))
	}
	s := scene{dice: dice{rng}, how: &how, raster: vector.NewRasterizer(Size, Size),
		mask: image.NewAlpha(image.Rect(0, 0, Size, Size))}
	s.raster.DrawOp = draw.Src
	s.paint(r, c)
	s.develop(dst)
}

// scene is an image being drawn, in levels of 1/64 grey step so that shading shows no bands.
type scene struct {
	dice
	how    *Conditions
	raster *vector.Rasterizer
	mask   *image.Alpha
	levels [Size * Size]int32
}

const fine = 64 // levels of a scene per grey level

// paint draws the background, the clutter, the character and, in some images, a scratch in front.
func (s *scene) paint(r *Renderer, c rune) {
	ink, paper := s.contrast()
	slopeX, slopeY := s.within(60), s.within(60) // of the paper, in 1/64 grey per pixel
	for i := range s.levels {
		s.levels[i] = int32(paper*fine + slopeX*(i%Size-Size/2) + slopeY*(i/Size-Size/2))
	}
	for range s.between(0, s.how.Neighbours) {
		other := r.outlines[r.clutter[s.below(len(r.clutter))]]
		s.aside(other[s.below(len(other))])
		s.lay(paper+(ink-paper)*s.between(25, 95)/100, 0, 0)
	}
	for range s.between(0, s.how.Strokes) {
		s.stroke()
		s.lay(paper+(ink-paper)*s.between(20, 70)/100, 0, 0)
	}
	shapes := r.outlines[c]
	s.centre(shapes[s.below(len(shapes))])
	s.lay(ink, s.within(50), s.within(50))
	if s.how.Scratch && s.below(4) == 0 {
		s.stroke()
		s.lay(s.between(0, 255), 0, 0)
	}
}

// contrast draws the grey of ink and paper; either may be the darker.
func (s *scene) contrast() (ink, paper int) {
	difference := s.between(s.how.Contrast[0], s.how.Contrast[1])
	low := s.between(15, 240-difference)
	if s.below(2) == 0 {
		return low, low + difference
	}
	return low + difference, low
}

// centre traces the character near the middle: turned, sheared, stretched.
func (s *scene) centre(o outline) {
	const half = subpixel / 2
	h := s.how
	side := s.between(h.Side[0]*half, h.Side[1]*half)
	turn, shear, stretch := s.within(h.Turn), s.within(h.Shear), 1<<16+s.within(h.Stretch)
	x, y := Size*half+s.within(h.Shift*half), Size*half+s.within(h.Shift*half)
	o.draw(s.raster, place(int64(side), int64(turn), int64(shear), int64(stretch), int64(x), int64(y)))
}

// aside traces a clutter character at the edge of the image, most of it outside.
func (s *scene) aside(o outline) {
	x, y := s.between(-4, Size+4), s.between(-4, Size+4)
	switch s.below(4) {
	case 0:
		x = s.between(-5, 3)
	case 1:
		x = Size - s.between(-5, 3)
	case 2:
		y = s.between(-5, 3)
	case 3:
		y = Size - s.between(-5, 3)
	}
	o.draw(s.raster, place(int64(s.between(14, 30)*subpixel), int64(s.within(30000)), 0, 1<<16,
		int64(x*subpixel), int64(y*subpixel)))
}

// stroke traces a straight line, one to two and a half pixels wide, from edge to edge.
func (s *scene) stroke() {
	x0, y0, x1, y1 := 0, s.below(Size*subpixel), Size*subpixel, s.below(Size*subpixel)
	half := s.between(subpixel/2, subpixel*5/4)
	corners := [4][2]int{{x0, y0 - half}, {x1, y1 - half}, {x1, y1 + half}, {x0, y0 + half}}
	upright := s.below(2)
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

// lay fills the traced path with a level that slopes over the image, and clears the path.
func (s *scene) lay(level, slopeX, slopeY int) {
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

// develop blurs, adds noise and rounds to bytes.
func (s *scene) develop(dst []byte) {
	for range s.between(0, s.how.Blur) {
		s.blur()
	}
	grain := s.between(0, s.how.Grain)
	for i, v := range s.levels {
		noise := s.within(grain * fine)
		dst[i] = byte(min(max((int(v)+noise+fine/2)/fine, 0), 255))
	}
}

// blur applies one pass of the 3×3 binomial kernel, with edges repeated.
func (s *scene) blur() {
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

// dice draws the same integers on 32-bit and 64-bit machines.
type dice struct{ *rand.Rand }

// below draws from 0 … n-1.
func (d dice) below(n int) int { return int(d.Uint64() >> 32 * uint64(n) >> 32) }

// between draws from lo … hi.
func (d dice) between(lo, hi int) int { return lo + d.below(hi-lo+1) }

// within draws from -most … most.
func (d dice) within(most int) int { return d.between(-most, most) }
