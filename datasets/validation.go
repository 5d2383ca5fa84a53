package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// WithValidation holds out whole classes if there are many, because an embedding is meant for new classes, else
// images of each class.
const (
	manyClasses = 50    // with two images or more
	leastPart   = 8     // smallest class of which images are held out
	mostHeld    = 2_000 // images: enough to know a share of right answers to one in a hundred

	// LeastHeld images are held out at least, or none: with fewer, two training states differ by chance alone.
	LeastHeld = 50
)

// Held says what was held out for validation. Zero images mean that nothing was.
type Held struct {
	Images  int
	Classes int // whole classes; 0: images of each class
	Of      int // classes with two images or more in the train split
}

// String describes what was held out.
func (h Held) String() string {
	if h.Classes > 0 {
		return fmt.Sprintf("%d of %d classes, %d images", h.Classes, h.Of, h.Images)
	}
	return fmt.Sprintf("%d images, some of each class", h.Images)
}

// WithValidation adds a validation split if the dataset has none: about a share of its labelled training images, at
// most 2,000, as whole classes or, if there are fewer than 50 classes, as images of each class. A dataset that has
// a validation split, or too few images for one, is returned unchanged. seed determines the draw.
func (d *Dataset) WithValidation(share float64, seed uint64) (*Dataset, Held) {
	if !(share > 0) || len(d.Select(Validation)) > 0 {
		return d, Held{}
	}
	members := map[int][]int{}
	labelled := 0
	for _, i := range d.Labelled(Train) {
		members[d.Samples[i].Label] = append(members[d.Samples[i].Label], i)
		labelled++
	}
	var classes []int // with a pair
	for class := range d.Classes {
		if len(members[class]) > 1 {
			classes = append(classes, class)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x76616c6964)) // "valid"
	bound := min(int(math.Round(share*float64(labelled))), mostHeld)
	held := Held{Of: len(classes)}
	var rows []int
	if len(classes) >= manyClasses {
		rng.Shuffle(len(classes), func(a, b int) { classes[a], classes[b] = classes[b], classes[a] })
		for _, class := range classes {
			if of := members[class]; len(rows)+len(of) <= bound {
				rows = append(rows, of...)
				held.Classes++
			}
		}
	} else {
		part := float64(bound) / float64(max(labelled, 1))
		for _, class := range classes {
			of := members[class]
			if len(of) < leastPart {
				continue
			}
			rng.Shuffle(len(of), func(a, b int) { of[a], of[b] = of[b], of[a] })
			// At least two: a single image has no other of its class to find.
			rows = append(rows, of[:max(2, int(math.Round(part*float64(len(of)))))]...)
		}
	}
	if held.Images = len(rows); len(rows) < LeastHeld {
		return d, Held{}
	}
	out := *d
	out.Samples = slices.Clone(d.Samples)
	for _, i := range rows {
		out.Samples[i].Split = Validation
	}
	return &out, held
}
