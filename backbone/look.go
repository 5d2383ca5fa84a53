package backbone

import (
	"context"
	"fmt"
	"image"
	"io/fs"
	"math"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// lookSide is the most cells along the longer side of a picture in which it is measured.
const lookSide = 256

// Look is what is measured of a picture, apart from what it shows. The zero value is unknown.
type Look struct {
	W, H int // pixels of the picture or the crop
	// Lightest and Darkest are the 99th and the 5th percentile of the luminance, 0 to 255.
	Lightest, Darkest int
	// Entropy of the luminance's histogram, in bits: 0, one colour, to 8.
	Entropy float64
	// Sharpness is the deviation of the Laplacian of the luminance over that of the luminance, in a picture reduced
	// to at most 256 cells: blur lowers it, contrast does not change it. 0 for a picture of one colour.
	Sharpness float64
	// Colour is the share of cells that are not grey.
	Colour float64
}

// String writes a look as ParseLook reads it; "" if it is unknown.
func (l Look) String() string {
	if l == (Look{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d %.3f %.4f %.4f", l.W, l.H, l.Lightest, l.Darkest, l.Entropy, l.Sharpness, l.Colour)
}

// ParseLook reads a look; "" and what is none are the unknown look.
func ParseLook(text string) Look {
	fields := strings.Fields(text)
	if len(fields) != 7 {
		return Look{}
	}
	var v [7]float64
	for i, f := range fields {
		var err error
		if v[i], err = strconv.ParseFloat(f, 64); err != nil || !(v[i] >= 0 && v[i] < math.MaxInt32) {
			return Look{}
		}
	}
	return Look{int(v[0]), int(v[1]), int(v[2]), int(v[3]), v[4], v[5], v[6]}
}

// Looks measures pictures that no extraction has decoded. A file that cannot be read has the unknown look. done is
// called after each picture, from several goroutines, and may be nil. The only error is that of ctx.
func Looks(ctx context.Context, fsys fs.FS, paths []string, done func()) ([]Look, error) {
	out := make([]Look, len(paths))
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			r := reader{fsys: fsys, options: DecodeOptions{EXIF: true}}
			for i := w; i < len(paths); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				// what cannot be read is told by who needs it
				_ = r.picture(paths[i], func(img image.Image) error {
					out[i] = r.look.at(img)
					return nil
				})
				if done != nil {
					done()
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// looker measures pictures, and reuses its memory.
type looker struct{ light []int32 }

// grey is the most difference between the colours of a grey pixel, of 255: JPEG changes colours a little.
const grey = 16

// at measures a picture in cells of f×f pixels, of which it reads at most nine.
func (l *looker) at(img image.Image) Look {
	size := extentOf(img)
	out := Look{W: size.w, H: size.h}
	p := samplesOf(img)
	b := p.Bounds()
	f := max(1, (max(b.Dx(), b.Dy())+lookSide-1)/lookSide)
	w, h, step := max(1, b.Dx()/f), max(1, b.Dy()/f), max(1, f/2)
	f = min(f, b.Dx(), b.Dy())
	if cap(l.light) < w*h {
		l.light = make([]int32, w*h)
	}
	light := l.light[:w*h]
	c := cells{w: w, h: h, f: f, step: step, light: light}
	switch p := p.(type) {
	case *image.YCbCr:
		c.plane(p.Y[p.YOffset(b.Min.X, b.Min.Y):], p.YStride)
		for y := range h {
			for x := range w {
				at := p.COffset(b.Min.X+x*f, b.Min.Y+y*f)
				c.tint(max(differ(p.Cb[at], 128), differ(p.Cr[at], 128)) > grey/2)
			}
		}
	case *image.Gray:
		c.plane(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
	case *image.RGBA:
		c.colours(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
	case *image.NRGBA:
		c.colours(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
	case *image.Paletted:
		q := lookedUp(p)
		c.colours(q.Pix, q.Stride)
	default:
		for y := range h {
			for x := range w {
				r, g, b, _ := p.At(b.Min.X+x*f, b.Min.Y+y*f).RGBA()
				c.colour(y*w+x, int32(r>>8), int32(g>>8), int32(b>>8))
			}
		}
	}
	out.Colour = float64(c.coloured) / float64(w*h)
	c.measure(&out)
	return out
}

// cells are the luminance of a reduced picture, 0 to 255, and the number of those that are not grey.
type cells struct {
	w, h, f, step int
	light         []int32
	coloured      int
}

func (c *cells) tint(coloured bool) {
	if coloured {
		c.coloured++
	}
}

// plane reduces a picture of luminances.
func (c *cells) plane(pix []byte, stride int) {
	for y := range c.h {
		for x := range c.w {
			var sum, n int32
			for dy := 0; dy < c.f; dy += c.step {
				row := pix[(y*c.f+dy)*stride+x*c.f:][:c.f]
				for dx := 0; dx < c.f; dx += c.step {
					sum += int32(row[dx])
					n++
				}
			}
			c.light[y*c.w+x] = sum / n
		}
	}
}

// colours reduces a picture of four bytes a pixel: red, green, blue, and one that is not read.
func (c *cells) colours(pix []byte, stride int) {
	for y := range c.h {
		for x := range c.w {
			var r, g, b, n int32
			for dy := 0; dy < c.f; dy += c.step {
				row := pix[(y*c.f+dy)*stride+4*x*c.f:][:4*c.f]
				for dx := 0; dx < c.f; dx += c.step {
					r, g, b, n = r+int32(row[4*dx]), g+int32(row[4*dx+1]), b+int32(row[4*dx+2]), n+1
				}
			}
			c.colour(y*c.w+x, r/n, g/n, b/n)
		}
	}
}

func (c *cells) colour(at int, r, g, b int32) {
	c.light[at] = (299*r + 587*g + 114*b + 500) / 1000
	c.tint(max(r, g, b)-min(r, g, b) > grey)
}

func differ(a, b byte) byte { return max(a, b) - min(a, b) }

// measure fills in what the luminance tells.
func (c *cells) measure(out *Look) {
	var histogram [256]int
	var sum, square, edge, edges float64
	for _, v := range c.light {
		histogram[v]++
		sum += float64(v)
		square += float64(v) * float64(v)
	}
	n := float64(len(c.light))
	below, dark := 0, -1
	for v, k := range histogram {
		if k == 0 {
			continue
		}
		share := float64(k) / n
		out.Entropy -= share * math.Log2(share)
		if below += k; dark < 0 && float64(below) >= 0.05*n {
			dark = v
			out.Darkest = v
		}
		if float64(below-k) < 0.99*n {
			out.Lightest = v
		}
	}
	for y := 1; y < c.h-1; y++ {
		row := c.light[y*c.w:]
		above, under := c.light[(y-1)*c.w:], c.light[(y+1)*c.w:]
		for x := 1; x < c.w-1; x++ {
			v := float64(4*row[x] - row[x-1] - row[x+1] - above[x] - under[x])
			edge += v * v
			edges++
		}
	}
	if deviation := math.Sqrt(max(square/n-(sum/n)*(sum/n), 0)); deviation > 0.5 && edges > 0 {
		out.Sharpness = math.Sqrt(edge/edges) / deviation
	}
}
