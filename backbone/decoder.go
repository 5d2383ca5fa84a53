package backbone

import "fmt"

// Decoders of JPEG photographs, for [Preprocessing].
const (
	ExactDecoder = "exact" // every pixel equals libjpeg's and PIL's; "" in a Preprocessing
	FastDecoder  = "fast"  // large files are reduced by 2, 4 or 8 while decoding, as in PIL's draft mode
)

// Versions of the decoders. They are part of a store's key, so that one store never holds vectors of pictures
// decoded in two ways: raise the number when any pixel changes. Stores without a version are older than this
// distinction.
const (
	exactVersion = 2
	fastVersion  = 1
)

// ParseDecoder returns the Decoder of a Preprocessing for the name that a user wrote.
func ParseDecoder(name string) (string, error) {
	switch name {
	case ExactDecoder:
		return "", nil
	case FastDecoder:
		return FastDecoder, nil
	}
	return "", fmt.Errorf("backbone: decoder is %q, expected %s or %s", name, ExactDecoder, FastDecoder)
}

// DecoderName returns the name of p's decoder.
func (p Preprocessing) DecoderName() string {
	if p.Decoder == "" {
		return ExactDecoder
	}
	return p.Decoder
}

// DecoderVersion returns the name and current version of p's decoder.
func (p Preprocessing) DecoderVersion() string {
	version := exactVersion
	if p.Decoder == FastDecoder {
		version = fastVersion
	}
	return fmt.Sprintf("%s %d", p.DecoderName(), version)
}

// DecodeOptions returns how to decode a picture for p and these views. Without views it is for the centre
// alone.
func (p Preprocessing) DecodeOptions(views ...Augmentation) DecodeOptions {
	o := DecodeOptions{EXIF: p.EXIF}
	if p.Decoder != FastDecoder {
		return o
	}
	if len(views) == 0 {
		views = []Augmentation{{}}
	}
	for _, a := range views {
		if a.Crop == cropResized { // may show a small part at full size
			return o
		}
	}
	o.Enough = func(w, h int) (int, int) {
		mostW, mostH := 0, 0
		for _, a := range views {
			rw, rh := a.resizeForCrops(p).targetSize(w, h)
			mostW, mostH = max(mostW, rw), max(mostH, rh)
		}
		return mostW, mostH
	}
	return o
}

// findReduction returns the factor by which a picture of w×h may be reduced while decoding: the largest of 8, 4, 2
// and 1 that leaves it as large as o needs it, as PIL's draft mode decides.
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
