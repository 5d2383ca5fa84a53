package backbone

import "fmt"

// The decoders of JPEG photographs that a [Preprocessing] may ask for.
const (
	ExactDecoder = "exact" // every pixel as libjpeg and PIL have it; written as "" in a Preprocessing
	FastDecoder  = "fast"  // large ones reduced by 2, 4 or 8 while they are decoded, as PIL's draft mode does
)

// Versions of the decoders. A store's key has them, so that vectors of pictures that were read in two ways never stand in
// one store: a change of any pixel raises the number. Stores without one are of before decoders were told apart.
const (
	exactVersion = 2
	fastVersion  = 1
)

// ParseDecoder returns the Decoder of a Preprocessing by the name that a user knows.
func ParseDecoder(name string) (string, error) {
	switch name {
	case ExactDecoder:
		return "", nil
	case FastDecoder:
		return FastDecoder, nil
	}
	return "", fmt.Errorf("backbone: decoder is %q, expected %s or %s", name, ExactDecoder, FastDecoder)
}

// DecoderName returns what p's decoder is called.
func (p Preprocessing) DecoderName() string {
	if p.Decoder == "" {
		return ExactDecoder
	}
	return p.Decoder
}

// DecoderVersion names p's decoder and what it is today.
func (p Preprocessing) DecoderVersion() string {
	version := exactVersion
	if p.Decoder == FastDecoder {
		version = fastVersion
	}
	return fmt.Sprintf("%s %d", p.DecoderName(), version)
}

// DecodeOptions returns how a picture is decoded of which views are made as p and the augmentations say; none of these:
// the centre alone.
func (p Preprocessing) DecodeOptions(views ...Augmentation) DecodeOptions {
	o := DecodeOptions{EXIF: p.EXIF}
	if p.Decoder != FastDecoder {
		return o
	}
	if len(views) == 0 {
		views = []Augmentation{{}}
	}
	for _, a := range views {
		if a.Crop == cropResized { // may look at a small part, at its full size
			return o
		}
	}
	o.Enough = func(w, h int) (int, int) {
		mostW, mostH := 0, 0
		for _, a := range views {
			rw, rh := a.resize(p).target(w, h)
			mostW, mostH = max(mostW, rw), max(mostH, rh)
		}
		return mostW, mostH
	}
	return o
}

// reduction is by how much a picture of w×h may be reduced while it is decoded: the most of 8, 4, 2 and 1 that leaves it
// as large as o needs it, as PIL's draft mode decides.
func (o DecodeOptions) reduction(w, h int) int {
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
