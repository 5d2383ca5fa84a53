package backbone

import (
	"image"
	"image/color"
	"testing"
)

// BenchmarkLookAt measures photographs of 500×375 pixels, as they are decoded from JPEG and from PNG.
func BenchmarkLookAt(b *testing.B) {
	photo := Photograph(500, 375, 1)
	jpeg, png := image.NewYCbCr(photo.Bounds(), image.YCbCrSubsampleRatio420), image.NewNRGBA(photo.Bounds())
	for y := range 375 {
		for x := range 500 {
			c := color.NRGBAModel.Convert(photo.At(x, y)).(color.NRGBA)
			jpeg.Y[jpeg.YOffset(x, y)], _, _ = color.RGBToYCbCr(c.R, c.G, c.B)
			png.SetNRGBA(x, y, c)
		}
	}
	for name, img := range map[string]image.Image{"JPEG": jpeg, "PNG": png} {
		b.Run(name, func(b *testing.B) {
			var l looker
			for b.Loop() {
				l.measureLook(img)
			}
		})
	}
}
