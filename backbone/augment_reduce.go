package backbone

import "image"

// form describes how an image was resized. The zero value means that the image was not resized after decoding.
type form struct {
	resize, high  int // size of the box in pixels
	exact, long   bool
	grey          bool
	interpolation string
}

// sharedForm returns the resize that is the first step of all views of v, or the zero form if each view resizes a
// different part of the image.
func (v *Viewer) sharedForm() form {
	r := v.a.resizeForCrops(v.q.p)
	if v.a.Crop == cropResized || r.Resize == 0 {
		return form{}
	}
	return form{r.Resize, r.boxHeight(), r.Exact, r.Long, r.Channels == "L", r.Interpolation}
}

// reducedBytes returns how many bytes reducePicture(img) takes.
func (v *Viewer) reducedBytes(img image.Image) int64 {
	b := img.Bounds()
	f := v.sharedForm()
	if f == (form{}) || b.Empty() {
		return bytesOf(img)
	}
	rw, rh := v.a.resizeForCrops(v.q.p).targetSize(b.Dx(), b.Dy())
	n := int64(rw) * int64(rh)
	if !f.grey {
		n *= 4
	}
	if rw == b.Dx() && rh == b.Dy() {
		return bytesOf(img)
	}
	return min(n+imageHeader, bytesOf(img))
}

// reducePicture returns img resized to the size that the views of v are cut from. The result gives v the same views as
// img, bit for bit, in less memory and time. reducePicture returns img itself if resizing saves no memory, or if the
// views of v resize different parts. Other viewers and evaluation views of another size must not use the result.
func (v *Viewer) reducePicture(img image.Image) image.Image {
	if v.reducedBytes(img) == bytesOf(img) {
		return img
	}
	b := img.Bounds()
	rw, rh := v.a.resizeForCrops(v.q.p).targetSize(b.Dx(), b.Dy())
	v.q.across.computeTaps(b.Dx(), rw, 0, rw, v.q.kernel)
	v.q.down.computeTaps(b.Dy(), rh, 0, rh, v.q.kernel)
	if v.q.p.Planes() == 1 {
		return v.reducedGrey(img, rw, rh)
	}
	out := image.NewNRGBA(image.Rect(0, 0, rw, rh))
	v.q.streamRows(sourceOf(img), func(y int, values []int32) {
		row := out.Pix[y*out.Stride:][:4*rw]
		r, g, b := values[:rw], values[rw:2*rw], values[2*rw:3*rw]
		for x := range r {
			row[4*x], row[4*x+1] = clipTable[uint32(r[x])>>weightBits], clipTable[uint32(g[x])>>weightBits]
			row[4*x+2], row[4*x+3] = clipTable[uint32(b[x])>>weightBits], 255
		}
	})
	return out
}

func (v *Viewer) reducedGrey(img image.Image, rw, rh int) image.Image {
	out := image.NewGray(image.Rect(0, 0, rw, rh))
	v.q.streamRows(sourceOf(img), func(y int, values []int32) {
		row := out.Pix[y*out.Stride:][:rw]
		for x, s := range values[:rw] {
			row[x] = clipTable[uint32(s)>>weightBits]
		}
	})
	return out
}
