package backbone

import (
	"fmt"
	"math"
	"slices"
)

// Problem names a defect of an image that does not depend on its label.
type Problem string

// The problems, as CleanVision (github.com/cleanlab/cleanvision) lists them.
const (
	Dark           Problem = "dark"
	Bright         Problem = "bright"
	Blurred        Problem = "blurred"
	LowInformation Problem = "low information"
	OddSize        Problem = "odd size"
	OddAspect      Problem = "odd aspect"
	Greyscale      Problem = "greyscale"
)

// Problems lists all problems in the order in which they are reported.
var Problems = []Problem{Dark, Bright, Blurred, LowInformation, OddSize, OddAspect, Greyscale}

// Thresholds of the problems. Of 200 photographs of things, 1,006 of birds and 6,000 of 32 pixels, 0 to 2 % have each
// problem. Of photographs blurred by a Gaussian of 2/256 of their longer side, 19 in 20 are reported as blurred.
const (
	lightest = 82    // dark: 99 % of the image is at most this light, of 255
	darkest  = 243   // bright: 95 % of the image is at least this light
	dull     = 3.0   // low information: entropy in bits
	blunt    = 0.2   // blurred: sharpness divided by the set's median
	narrow   = 0.35  // odd aspect: shorter side divided by longer side
	twice    = 2.0   // odd size: least ratio to the set's median, or its inverse
	beyond   = 3.0   // odd size: interquartile ranges beyond the quartiles
	pale     = 0.001 // greyscale: share of the image that has colour
	common   = 0.1   // share of a set above which a problem is not reported
)

// Found is a problem found in an image, and the reason why it is reported.
type Found struct {
	Problem Problem
	Why     string
}

// FindProblems returns the problems of each image of a set, in the order of [Problems]. A problem of more than a tenth
// of the images is normal for the set and is not reported. Drawings on white paper, for example, are not reported as
// bright, but a greyscale image among coloured images is. An image with the unknown Look has no problems.
func FindProblems(looks []Look) [][]Found {
	var sharp, sizes []float64
	known := 0
	for _, l := range looks {
		if l.W > 0 {
			known++
			sharp, sizes = append(sharp, l.Sharpness), append(sizes, logSize(l))
		}
	}
	found := make([][]Found, len(looks))
	if known == 0 {
		return found
	}
	slices.Sort(sharp)
	slices.Sort(sizes)
	at := func(list []float64, quarter int) float64 { return list[(len(list)-1)*quarter/4] }
	median, middle := at(sharp, 2), at(sizes, 2)
	reach := beyond * (at(sizes, 3) - at(sizes, 1))
	least := min(at(sizes, 1)-reach, middle-math.Log2(twice))
	most := max(at(sizes, 3)+reach, middle+math.Log2(twice))
	why := func(p Problem, l Look) string {
		switch ratio, size := aspectOf(l), logSize(l); {
		case p == Dark && l.Lightest < lightest:
			return fmt.Sprintf("99 %% of the image is below %d %% brightness", percentOf(l.Lightest))
		case p == Bright && l.Darkest > darkest:
			return fmt.Sprintf("95 %% of the image is above %d %% brightness", percentOf(l.Darkest))
		case p == Blurred && l.Sharpness < blunt*median && l.Entropy >= dull: // else there are no edges to blur
			return fmt.Sprintf("its sharpness is %.0f %% of the median of all images", 100*l.Sharpness/median)
		case p == LowInformation && l.Entropy < dull:
			return fmt.Sprintf("the brightness has an entropy of %.1f bits per pixel, of at most 8", l.Entropy)
		case p == OddSize && (size < least || size > most):
			return fmt.Sprintf("%d×%d pixels, where the median is about %.0f×%.0f", l.W, l.H, math.Exp2(middle),
				math.Exp2(middle))
		case p == OddAspect && ratio < narrow:
			return fmt.Sprintf("%d×%d pixels", l.W, l.H)
		case p == Greyscale && l.Colour < pale:
			return "has no colour, while most other images do"
		}
		return ""
	}
	for _, p := range Problems {
		var rows []int
		for i, l := range looks {
			if l.W > 0 && why(p, l) != "" {
				rows = append(rows, i)
			}
		}
		if len(rows) > max(1, int(common*float64(known))) || len(rows) == known {
			continue
		}
		for _, i := range rows {
			found[i] = append(found[i], Found{p, why(p, looks[i])})
		}
	}
	return found
}

// percentOf converts a brightness from 0 to 255 to percent, rounded up.
func percentOf(of255 int) int { return (of255*100 + 254) / 255 }

// logSize returns the binary logarithm of the side of a square with as many pixels as the image.
func logSize(l Look) float64 { return math.Log2(float64(l.W)*float64(l.H)) / 2 }

func aspectOf(l Look) float64 { return float64(min(l.W, l.H)) / float64(max(l.W, l.H)) }
