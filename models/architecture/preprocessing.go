package architecture

import "winnow/backbone"

// readPreprocessing reads the preprocessing, in the words of a registry entry. The default is the whole image at
// the input's size, with bytes mapped to values from -1 to 1.
func readPreprocessing(s *section, channels, side int) (q backbone.Preprocessing, err error) {
	p, ok := s.of["preprocessing"]
	k := &section{part: s.below("preprocessing", s.node)}
	if ok {
		k = p.keys("resize", "exact", "crop", "interpolation", "channels", "scale", "mean", "std")
	}
	planes := "RGB"
	if channels == 1 {
		planes = "L"
	}
	q.Resize, q.Exact = k.whole("resize", side, 0, maxSide), k.yes("exact", true)
	q.Crop, q.Interpolation = k.whole("crop", side, 1, maxSide), k.text("interpolation", "bilinear")
	q.Channels, q.Scale = k.text("channels", planes), float32(k.number("scale", 1./255))
	q.Mean, q.Std = k.numbers("mean", 0.5), k.numbers("std", 0.5)
	q.EXIF = true
	if q.Resize == 0 {
		q.Exact = false
	}
	if err := q.Validate(); err != nil {
		k.fail(k.errorf("%v", err))
	}
	if q.Planes() != channels || q.Crop != side {
		k.fail(k.errorf("gives images of %d×%d×%d, expected the input's %d×%d×%d", q.Planes(), q.Crop, q.Crop,
			channels, side, side))
	}
	return q, k.err
}
