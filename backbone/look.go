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

// lookSide is the largest number of cells along the longer side of an image in which the image is measured.
const lookSide = 256

// Look holds the measurements of an image. The zero value means unknown.
type Look struct {
	W, H int // pixels of the image or the crop
	// Lightest and Darkest are the 99th and the 5th percentile of the luminance, 0 to 255.
	Lightest, Darkest int
	// Entropy is the entropy of the luminance's histogram, in bits: 0 (one colour) to 8.
	Entropy float64
	// Sharpness is the standard deviation of the luminance's Laplacian divided by that of the luminance, on the image
	// reduced to at most 256 cells a side. Blur lowers it; contrast does not change it. It is 0 for an image of one
	// colour.
	Sharpness float64
	// Colour is the share of cells that are not grey.
	Colour float64
	Hash   Hash
}

// String formats a Look in the form that ParseLook reads; an unknown Look gives "".
func (l Look) String() string {
	if l == (Look{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d %.3f %.4f %.4f %s", l.W, l.H, l.Lightest, l.Darkest, l.Entropy, l.Sharpness,
		l.Colour, l.Hash)
}

// ParseLook parses the text of [Look.String]. Text that is empty or invalid gives the unknown Look.
func ParseLook(text string) Look {
	fields := strings.Fields(text)
	var v [7]float64
	if len(fields) != len(v)+1 {
		return Look{}
	}
	hash, err := parseHash(fields[len(v)])
	if err != nil {
		return Look{}
	}
	for i, f := range fields[:len(v)] {
		if v[i], err = strconv.ParseFloat(f, 64); err != nil || !(v[i] >= 0 && v[i] < math.MaxInt32) {
			return Look{}
		}
	}
	return Look{int(v[0]), int(v[1]), int(v[2]), int(v[3]), v[4], v[5], v[6], hash}
}

// Looks measures images that were not measured while extracting. A file that cannot be read gets the unknown Look.
// done is called after each image, from several goroutines, and may be nil. Looks fails only if ctx is done.
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
				// ignored: the command that needs the image reports the error
				_ = r.usePicture(paths[i], func(img image.Image) error {
					out[i] = r.look.measureLook(img)
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

// looker measures images and reuses its memory.
type looker struct{ light []int32 }

// grey is the largest difference, of 255, between the colours of a grey pixel. JPEG changes colours a little.
const grey = 16

// tinted is the distance, in both directions, between the cells whose colour is measured.
const tinted = 4

// measureLook measures an image in cells of f×f pixels; it reads four pixels of each cell.
func (l *looker) measureLook(img image.Image) Look {
	b := img.Bounds()
	f := max(1, (max(b.Dx(), b.Dy())+lookSide-1)/lookSide)
	f = min(f, b.Dx(), b.Dy())
	c := cells{w: min(b.Dx()/f, lookSide), h: min(b.Dy()/f, lookSide), f: f}
	if cap(l.light) < c.w*c.h {
		l.light = make([]int32, c.w*c.h)
	}
	c.light = l.light[:c.w*c.h]
	switch p := img.(type) {
	case *image.YCbCr:
		c.reducePlane(p.Y[p.YOffset(b.Min.X, b.Min.Y):], p.YStride)
		for y := 0; y < c.h; y += tinted {
			for x := 0; x < c.w; x += tinted {
				at := p.COffset(b.Min.X+x*f, b.Min.Y+y*f)
				c.measureTint(max(byteDistance(p.Cb[at], 128), byteDistance(p.Cr[at], 128)) > grey/2)
			}
		}
	case *image.Gray:
		c.reducePlane(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
		c.looked = 1
	case *image.RGBA:
		c.reduceColours(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
	case *image.NRGBA:
		c.reduceColours(p.Pix[p.PixOffset(b.Min.X, b.Min.Y):], p.Stride)
	case *image.Paletted:
		q := lookedUp(p)
		c.reduceColours(q.Pix, q.Stride)
	default:
		for y := range c.h {
			for x := range c.w {
				r, g, b, _ := p.At(b.Min.X+x*f, b.Min.Y+y*f).RGBA()
				c.addColour(x, y, int32(r>>8), int32(g>>8), int32(b>>8))
			}
		}
	}
	out := Look{W: b.Dx(), H: b.Dy(), Colour: float64(c.coloured) / float64(c.looked)}
	c.measureLuminance(&out)
	out.Hash = c.hashLuminances()
	return ParseLook(out.String()) // rounded as in the stored text
}

// cells holds the luminance of a reduced image, 0 to 255, the number of cells whose colour was measured, and how many
// of these have a colour.
type cells struct {
	w, h, f          int
	light            []int32
	looked, coloured int
}

func (c *cells) measureTint(coloured bool) {
	c.looked++
	if coloured {
		c.coloured++
	}
}

// reducePlane reduces a plane of luminances to the cells.
func (c *cells) reducePlane(pix []byte, stride int) {
	f, o := c.f, c.f/2
	for y := range c.h {
		above, below, row := pix[y*f*stride:], pix[(y*f+o)*stride:], c.light[y*c.w:][:c.w]
		for x := range row {
			at := x * f
			row[x] = (int32(above[at]) + int32(above[at+o]) + int32(below[at]) + int32(below[at+o])) / 4
		}
	}
}

// reduceColours reduces an image of four bytes per pixel to the cells: red, green, blue and an ignored byte.
func (c *cells) reduceColours(pix []byte, stride int) {
	f, o := c.f, c.f/2
	for y := range c.h {
		above, below := pix[y*f*stride:], pix[(y*f+o)*stride:]
		for x := range c.w {
			at, next := 4*x*f, 4*(x*f+o)
			mean := func(k int) int32 {
				return (int32(above[at+k]) + int32(above[next+k]) + int32(below[at+k]) + int32(below[next+k])) / 4
			}
			c.addColour(x, y, mean(0), mean(1), mean(2))
		}
	}
}

func (c *cells) addColour(x, y int, r, g, b int32) {
	c.light[y*c.w+x] = (299*r + 587*g + 114*b + 500) / 1000
	if x%tinted == 0 && y%tinted == 0 {
		c.measureTint(max(r, g, b)-min(r, g, b) > grey)
	}
}

func byteDistance(a, b byte) byte { return max(a, b) - min(a, b) }

// measureLuminance computes the measurements of the luminance.
func (c *cells) measureLuminance(out *Look) {
	var histogram [256]int
	for _, v := range c.light {
		histogram[v&255]++
	}
	n := float64(len(c.light))
	var sum, square float64
	below, dark := 0, -1
	for v, k := range histogram {
		if k == 0 {
			continue
		}
		sum, square = sum+float64(k*v), square+float64(k*v*v)
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
	var edge int64
	edges, every := 0.0, 1
	if c.h > lookSide/4 {
		every = 2 // every second row is enough
	}
	for y := 1; y < c.h-1; y += every {
		row, above, under := c.light[y*c.w:][:c.w], c.light[(y-1)*c.w:][:c.w], c.light[(y+1)*c.w:][:c.w]
		edges += float64(max(0, c.w-2))
		for x := 1; x < len(row)-1; x++ {
			v := int64(4*row[x] - row[x-1] - row[x+1] - above[x] - under[x])
			edge += v * v
		}
	}
	if deviation := math.Sqrt(max(square/n-(sum/n)*(sum/n), 0)); deviation > 0.5 && edges > 0 {
		out.Sharpness = math.Sqrt(float64(edge)/edges) / deviation
	}
}
