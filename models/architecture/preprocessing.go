package architecture

import "winnow/backbone"

// readPreprocessing reads the preprocessing, in the words of a registry entry. The default is the whole image at
// the input's size, with bytes mapped to values from -1 to 1.
func readPreprocessing(s *section, channels, side int) (q backbone.Preprocessing, err error) {
	p, ok := s.of["preprocessing"]
	k := &section{part: s.partBelow("preprocessing", s.node)}
	if ok {
		k = p.readKeys("resize", "exact", "crop", "interpolation", "channels", "scale", "mean", "std")
	}
	planes := "RGB"
	if channels == 1 {
		planes = "L"
	}
	q.Resize, q.Exact = k.readInteger("resize", side, 0, maxSide), k.readBool("exact", true)
	q.Crop, q.Interpolation = k.readInteger("crop", side, 1, maxSide), k.readTextLine("interpolation", "bilinear")
	q.Channels, q.Scale = k.readTextLine("channels", planes), float32(k.readFraction("scale", 1./255))
	q.Mean, q.Std = k.readThree("mean", 0.5), k.readThree("std", 0.5)
	q.EXIF = true
	if q.Resize == 0 {
		q.Exact = false
	}
	if err := q.Validate(); err != nil {
		k.failSection(k.errorHere("%v", err))
	}
	if q.Planes() != channels || q.Crop != side {
		k.failSection(k.errorHere("gives images of %d×%d×%d, expected the input's %d×%d×%d", q.Planes(), q.Crop, q.Crop,
			channels, side, side))
	}
	return q, k.err
}
