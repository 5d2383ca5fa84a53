package glyphs

// Conditions say how hard an image is to read. Each draw is uniform in its range.
type Conditions struct {
	Turn, Shear, Stretch int    // at most, in 2^-16: radians, slant, and widening or narrowing
	Side                 [2]int // longer side of the character, in half pixels
	Shift                int    // of the centre, at most, in half pixels
	Contrast             [2]int // of ink and paper, in grey levels
	Neighbours           int    // parts of other characters behind it, at most
	Strokes              int    // lines behind it, at most
	Scratch              bool   // every fourth image has a line in front
	Blur                 int    // passes of a binomial kernel, at most
	Grain                int    // amplitude of the noise, at most, in grey levels
}

// Found returns the conditions of characters photographed outdoors, those of the dataset.
func Found() Conditions {
	return Conditions{
		Turn: 16500, Shear: 13000, Stretch: 11000, Side: [2]int{32, 54}, Shift: 7, Contrast: [2]int{38, 165},
		Neighbours: 2, Strokes: 2, Scratch: true, Blur: 2, Grain: 17,
	}
}
