package glyphs

// Conditions sets how hard images are to recognise. Each value is drawn uniformly from its range.
type Conditions struct {
	Turn, Shear, Stretch int    // largest rotation (radians), slant and change of width, all in 2^-16
	Side                 [2]int // longer side of the character, in half pixels
	Shift                int    // largest shift of the centre, in half pixels
	Contrast             [2]int // difference of ink and paper, in grey levels
	Neighbours           int    // largest number of other characters behind it, partly visible
	Strokes              int    // largest number of lines behind it
	Scratch              bool   // whether one in four images has a line in front
	Blur                 int    // largest number of passes with a binomial kernel
	Grain                int    // largest amplitude of the noise, in grey levels
}

// Found returns the conditions of the dataset, which imitate characters photographed outdoors.
func Found() Conditions {
	return Conditions{
		Turn: 16500, Shear: 13000, Stretch: 11000, Side: [2]int{32, 54}, Shift: 7, Contrast: [2]int{38, 165},
		Neighbours: 2, Strokes: 2, Scratch: true, Blur: 2, Grain: 17,
	}
}
