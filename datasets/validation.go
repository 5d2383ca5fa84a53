package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// What is held out for validation: whole classes where there are many, as new classes are what an embedding is for, else images of each class.
const (
	manyClasses = 50    // with two images or more
	leastPart   = 8     // images of a class of which some are held out
	mostHeld    = 2_000 // images: a share of right answers is known to one in a hundred by then
	leastHeld   = 50    // images: fewer tell two states of a training apart by chance alone
)

// Held says what was held out for validation: of no images nothing was.
type Held struct {
	Images  int
	Classes int // whole ones; 0: images of each class
	Of      int // classes with two images or more in the train split
}

// String says what was held out.
func (h Held) String() string {
	if h.Classes > 0 {
		return fmt.Sprintf("%d of %d classes, %d images", h.Classes, h.Of, h.Images)
	}
	return fmt.Sprintf("%d images, some of each class", h.Images)
}

// WithValidation returns the dataset with about a share of its labelled training images, at most 2,000, as validation split, where it has none:
// whole classes, or images of each class where there are fewer than 50. A dataset that has such a split, or too few images for one, is returned
// as it is. The draw is the seed's.
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
			rows = append(rows, of[:max(2, int(math.Round(part*float64(len(of)))))]...) // a lone image finds nothing of its class
		}
	}
	if held.Images = len(rows); len(rows) < leastHeld {
		return d, Held{}
	}
	out := *d
	out.Samples = slices.Clone(d.Samples)
	for _, i := range rows {
		out.Samples[i].Split = Validation
	}
	return &out, held
}
