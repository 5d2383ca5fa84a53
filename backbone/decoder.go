package backbone

// exactVersion is the version of the decoders, whose JPEG photographs equal libjpeg's and PIL's in every pixel. It is
// part of a store's key, so that one store never holds vectors of pictures decoded in two ways: raise the number when
// any pixel changes. Stores without a version are older than this distinction.
const exactVersion = "exact 2"

// DecoderVersion returns the name and version of the decoder.
func (p Preprocessing) DecoderVersion() string { return exactVersion }

// DecodeOptions returns how to decode a picture for p.
func (p Preprocessing) DecodeOptions() DecodeOptions { return DecodeOptions{EXIF: p.EXIF} }

// findReduction returns the factor by which a picture of w×h may be reduced while decoding: the largest of 8, 4, 2
// and 1 that leaves it as large as o needs it.
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
