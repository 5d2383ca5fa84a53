package architecture

import "winnow/backbone"

// readPreprocessing reads how images are prepared, in the words of a registry entry. Left out it means: the
// whole picture at the input's size, bytes to values from -1 to 1.
func readPreprocessing(s section, channels, side int) (q backbone.Preprocessing, err error) {
	p, ok := s.of["preprocessing"]
	if !ok {
		p = s.below("preprocessing", s.node)
	}
	keys := section{part: p}
	if ok {
		if keys, err = p.keys("resize", "exact", "crop", "interpolation", "channels", "scale", "mean", "std", "exif"); err != nil {
			return q, err
		}
	}
	planes := "RGB"
	if channels == 1 {
		planes = "L"
	}
	var scale float64
	for _, step := range []func() error{
		func() (err error) { q.Resize, err = keys.whole("resize", side, 0, maxSide); return },
		func() (err error) { q.Exact, err = keys.yes("exact", true); return },
		func() (err error) { q.Crop, err = keys.whole("crop", side, 1, maxSide); return },
		func() (err error) { q.Interpolation, err = keys.text("interpolation", "bilinear"); return },
		func() (err error) { q.Channels, err = keys.text("channels", planes); return },
		func() (err error) { scale, err = keys.number("scale", 1./255); return },
		func() (err error) { q.Mean, err = keys.numbers("mean", 0.5); return },
		func() (err error) { q.Std, err = keys.numbers("std", 0.5); return },
		func() (err error) { q.EXIF, err = keys.yes("exif", false); return },
	} {
		if err := step(); err != nil {
			return q, err
		}
	}
	q.Scale = float32(scale)
	if q.Resize == 0 {
		q.Exact = false
	}
	if err := q.Validate(); err != nil {
		return q, p.errorf("%v", err)
	}
	if q.Planes() != channels || q.Crop != side {
		return q, p.errorf("gives images of %d×%d×%d, expected the input's %d×%d×%d", q.Planes(), q.Crop, q.Crop, channels, side, side)
	}
	return q, nil
}
