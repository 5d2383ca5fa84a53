package backbone

// exactVersion is the version of the decoders. They decode JPEG photographs to the same pixels as libjpeg and PIL. The
// version is part of a store's key, so that one store never mixes vectors of images decoded in two ways: increase the
// number whenever a pixel changes.
const exactVersion = "exact 2"

// DecoderVersion returns the name and version of the decoder.
func (p Preprocessing) DecoderVersion() string { return exactVersion }

// DecodeOptions returns how to decode an image for p.
func (p Preprocessing) DecodeOptions() DecodeOptions { return DecodeOptions{EXIF: p.EXIF} }

// findReduction returns the factor by which an image of w×h may be reduced while decoding: the largest of 8, 4, 2 and
// 1 whose result is still as large as o.Enough requires.
func (o DecodeOptions) findReduction(w, h int) int {
	if o.Enough == nil {
		return 1
	}
	needW, needH := o.Enough(w, h)
	for _, by := range [3]int{8, 4, 2} {
		if w/by >= needW && h/by >= needH {
			return by
		}
	}
	return 1
}
