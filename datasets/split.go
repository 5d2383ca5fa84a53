package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Share is the share of a dataset that a split gets.
type Share struct {
	Split string
	Share float64 // share of the classes, or of the images in each class
}

// splitByClass shuffles the classes with rng and distributes whole classes over the splits. This is the papers' task,
// in which test classes are never seen in training. Unlabelled samples become part of train.
func (d *Dataset) splitByClass(shares []Share, rng *rand.Rand) {
	of := make([]string, len(d.Classes))
	assignItems(rng.Perm(len(d.Classes)), shares, func(class int, split string) { of[class] = split })
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label == Unlabelled {
			s.Split = Train
		} else {
			s.Split = of[s.Label]
		}
	}
}

// splitByImage distributes the images of every class over the splits in the given shares.
func (d *Dataset) splitByImage(shares []Share, rng *rand.Rand) {
	members := make([][]int, len(d.Classes))
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label == Unlabelled {
			s.Split = Train
		} else {
			members[s.Label] = append(members[s.Label], i)
		}
	}
	for _, rows := range members {
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		assignItems(rows, shares, func(i int, split string) { d.Samples[i].Split = split })
	}
}

// assignItems distributes items by cumulative shares, so that rounding never loses an item.
func assignItems(items []int, shares []Share, give func(item int, split string)) {
	from, sum := 0, 0.0
	for k, share := range shares {
		sum += share.Share
		to := int(math.Round(sum * float64(len(items))))
		if k == len(shares)-1 {
			to = len(items)
		}
		for _, item := range items[from:to] {
			give(item, share.Split)
		}
		from = to
	}
}

// checkShares checks that the shares are positive and sum to 1, and returns them with canonical split names.
func checkShares(shares []Share) ([]Share, error) {
	sum := 0.0
	shares = slices.Clone(shares)
	for i, s := range shares {
		split, err := ParseSplit(s.Split)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		if !(s.Share > 0) {
			return nil, fmt.Errorf("datasets: share of %s is %v, expected a number above 0", split, s.Share)
		}
		shares[i].Split = split
		sum += s.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("datasets: shares sum to %v, expected 1", sum)
	}
	return shares, nil
}

// WithValidation holds out whole classes if there are many, because an embedding should work on new classes. Otherwise
// it holds out images of each class.
const (
	manyClasses = 50    // number of classes with two or more images from which whole classes are held out
	leastPart   = 8     // number of images from which a class gives some to validation
	smallPart   = 5     // the same if fewer than LeastChoosing images would be held out
	mostHeld    = 2_000 // images; enough to estimate an accuracy to within 1 %
	leastHeld   = 10    // images; from fewer, an interval is too wide to be of use

	// LeastChoosing is the smallest number of held-out images that choose a state. By fewer, states differ by chance.
	LeastChoosing = 50
)

// Held describes what was held out for validation. If Images is 0, no image was held out.
type Held struct {
	Images  int
	Classes int // number of whole classes; 0: images of each class were held out
	Of      int // number of train classes with two or more images
}

// String describes what was held out.
func (h Held) String() string {
	if h.Classes > 0 {
		return fmt.Sprintf("%d of %d classes, %d images", h.Classes, h.Of, h.Images)
	}
	return fmt.Sprintf("%d images, not all of any class", h.Images)
}

// WithValidation adds a validation split if the dataset has none. It moves a share of the labelled training images, at
// most 2,000: whole classes or, with fewer than 50 classes, images of each class. If these are fewer than
// LeastChoosing, it takes images of as many classes as the share needs or, where too few have 5 images, whole classes.
// It returns d itself if d has a validation split or too few images. seed determines the draw, which takes images that
// people checked first, because their labels are right, and classes with many of them.
func (d *Dataset) WithValidation(share float64, seed uint64, checked map[int]Checked) (*Dataset, Held) {
	labelled := d.Labelled(Train)
	bound := min(int(math.Round(share*float64(len(labelled)))), mostHeld)
	if bound < leastHeld || len(d.Select(Validation)) > 0 {
		return d, Held{}
	}
	h := holding{members: map[int][]int{}, checks: map[int]int{}, checked: checked,
		rng: rand.New(rand.NewPCG(seed, 0x76616c6964))} // "valid"
	for _, i := range labelled {
		h.members[d.Samples[i].Label] = append(h.members[d.Samples[i].Label], i)
		if _, ok := checked[i]; ok {
			h.checks[d.Samples[i].Label]++
		}
	}
	for class := range d.Classes {
		if len(h.members[class]) > 1 {
			h.classes = append(h.classes, class)
		}
	}
	part, held := float64(bound)/float64(len(labelled)), Held{Of: len(h.classes)}
	var rows []int
	tooFew := func() bool { // P@1 of one class is always 1
		return len(rows) < leastHeld || d.Samples[rows[0]].Label == d.Samples[rows[len(rows)-1]].Label
	}
	if len(h.classes) >= manyClasses {
		rows, held.Classes = h.drawClasses(bound)
	} else if rows = h.drawParts(leastPart, part, len(labelled)); len(rows) < LeastChoosing {
		h.orderClasses()
		bound = max(bound, leastHeld+2)
		if rows = h.drawParts(smallPart, part, bound); tooFew() {
			rows, held.Classes = h.drawClasses(bound)
		}
	}
	if held.Images = len(rows); tooFew() {
		return d, Held{}
	}
	out := *d
	out.Samples = slices.Clone(d.Samples)
	for _, i := range rows {
		out.Samples[i].Split = Validation
	}
	return &out, held
}

// holding draws images to hold out.
type holding struct {
	classes []int         // classes with two or more images
	members map[int][]int // images by class
	checks  map[int]int   // number of checked images by class
	checked map[int]Checked
	rng     *rand.Rand
}

// orderClasses shuffles the classes and puts those with many checked images first.
func (h holding) orderClasses() {
	h.rng.Shuffle(len(h.classes), func(a, b int) { h.classes[a], h.classes[b] = h.classes[b], h.classes[a] })
	slices.SortStableFunc(h.classes, func(a, b int) int { return h.checks[b] - h.checks[a] })
}

// drawClasses returns all images of at most half of the classes, at most bound images, and the number of classes.
func (h holding) drawClasses(bound int) (rows []int, whole int) {
	h.orderClasses()
	for _, class := range h.classes {
		if of := h.members[class]; len(rows)+len(of) <= bound && whole < len(h.classes)/2 {
			rows = append(rows, of...)
			whole++
		}
	}
	return rows, whole
}

// drawParts returns a part of each class of least or more images until these are bound images.
func (h holding) drawParts(least int, part float64, bound int) (rows []int) {
	for _, class := range h.classes {
		of := h.members[class]
		if len(of) < least || len(rows) >= bound {
			continue
		}
		h.rng.Shuffle(len(of), func(a, b int) { of[a], of[b] = of[b], of[a] })
		first := 0
		for k, i := range of {
			if _, ok := h.checked[i]; ok {
				of[first], of[k] = of[k], of[first]
				first++
			}
		}
		// At least two, because a query needs another image of its class to find.
		rows = append(rows, of[:max(2, int(math.Round(part*float64(len(of)))))]...)
	}
	return rows
}

// ParseShares parses SPLIT=SHARE,... such as train=0.6,test=0.4. Deal checks that the shares sum to 1.
func ParseShares(text string) ([]Share, error) {
	var shares []Share
	for _, part := range strings.Split(text, ",") {
		split, number, _ := strings.Cut(part, "=")
		share, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not SPLIT=SHARE, for example train=0.5,test=0.5", part)
		}
		if _, err := ParseSplit(split); err != nil {
			return nil, err
		}
		shares = append(shares, Share{Split: split, Share: share})
	}
	return shares, nil
}

// Deal splits d by whole classes, or by images of each class; seed determines the draw.
func (d *Dataset) Deal(shares []Share, byImage bool, seed uint64) error {
	shares, err := checkShares(shares)
	if err != nil {
		return err
	}
	split := d.splitByClass
	if byImage {
		split = d.splitByImage
	}
	split(shares, rand.New(rand.NewPCG(seed, 0x73706c6974))) // "split"
	return nil
}

// HoldOut moves a share of each class's training images to validation.
func (d *Dataset) HoldOut(share float64, seed uint64) {
	train := d.Select(Train)
	part := &Dataset{Classes: d.Classes}
	for _, i := range train {
		part.Samples = append(part.Samples, d.Samples[i])
	}
	rng := rand.New(rand.NewPCG(seed, 0x686f6c64)) // "hold"
	part.splitByImage([]Share{{Split: Train, Share: 1 - share}, {Split: Validation, Share: share}}, rng)
	for k, i := range train {
		d.Samples[i].Split = part.Samples[k].Split
	}
}

// ToplineRand returns the random source of [Dataset.Topline] for a seed.
func ToplineRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x746f706c696e65)) // "topline"
}

// toplineLeast is the number of images that a class keeps at least, if it has as many: a single image has no pair.
const toplineLeast = 2

// Topline returns the data that remain if, at a noise rate of p, every wrong label were known and dropped. Each true
// class of n images of the split keeps
//
//	max(2, ⌊(1-p)·n + 1/2⌋)
//
// images, drawn by rng, with their true labels; a class of one image keeps its image. With the same random source, the
// images kept at a higher rate are a subset of the images kept at a lower rate. If the split has true labels, every
// labelled image needs one; otherwise the given labels are taken as true. Unlabelled images, other splits and the order
// are unchanged.
// Source: 000 section 6.1, "only 1-p clean random data samples". The paper does not specify the selection; see METHODS
// 000-13.
func (d *Dataset) Topline(split string, rate float64, rng *rand.Rand) (*Dataset, ToplineReport, error) {
	r := ToplineReport{Split: split, Rate: rate}
	if err := CheckRate(rate); err != nil {
		return nil, r, err
	}
	rows := d.Labelled(split)
	if len(rows) == 0 {
		return nil, r, fmt.Errorf("datasets: split %s has no image with a label", split)
	}
	labels, err := d.trueLabels(split, rows, &r)
	if err != nil {
		return nil, r, err
	}
	drop := make([]bool, len(d.Samples))
	for class, members := range membersOf(labels, len(d.Classes)) {
		n := len(members)
		if n == 0 {
			continue
		}
		keep := min(n, max(toplineLeast, halfUp((1-rate)*float64(n)+1e-9)))
		r.countKept(d.Classes[class], n, keep)
		for _, k := range chooseItems(members, n, rng)[keep:] {
			drop[rows[k]] = true
		}
	}
	out := &Dataset{Classes: d.Classes, Columns: d.Columns, Samples: slices.Clone(d.Samples)}
	for k, i := range rows {
		out.Samples[i].Label = labels[k]
	}
	at := 0
	out.Samples = slices.DeleteFunc(out.Samples, func(Sample) bool { at++; return drop[at-1] })
	return out, r, nil
}

// ToplineReport counts the images that a topline keeps of a split.
type ToplineReport struct {
	Split     string   `json:"split"`
	Rate      float64  `json:"rate"`
	Truth     bool     `json:"truth"`     // true labels are known; otherwise the given labels are taken as true
	Images    int      `json:"images"`    // labelled images
	Kept      int      `json:"kept"`      // images kept
	Relabeled int      `json:"relabeled"` // images whose given label was wrong, kept or not
	Classes   int      `json:"classes"`
	Smallest  int      `json:"smallest"` // number of images kept in the smallest and largest class
	Largest   int      `json:"largest"`
	Raised    int      `json:"raised"` // classes that keep more than their share, because they need two images
	Lone      []string `json:"lone"`   // classes of one image, which have no positive pair
}

// trueLabels returns the true class ids of the rows.
func (d *Dataset) trueLabels(split string, rows []int, r *ToplineReport) ([]int, error) {
	labels := make([]int, len(rows))
	unknown := 0
	for k, i := range rows {
		s := d.Samples[i]
		if labels[k] = s.True; s.True == Unlabelled {
			unknown++
			labels[k] = s.Label
		} else if s.True != s.Label {
			r.Relabeled++
		}
	}
	if unknown > 0 && unknown < len(rows) {
		return nil, fmt.Errorf("datasets: split %s: %d of %d images have no true label, expected true labels for all "+
			"images or for none", split, unknown, len(rows))
	}
	r.Truth, r.Images, r.Lone = unknown == 0, len(rows), []string{}
	return labels, nil
}

// countKept adds a class of n images that keeps keep of them.
func (r *ToplineReport) countKept(name string, n, keep int) {
	r.Classes++
	r.Kept += keep
	if r.Classes == 1 || keep < r.Smallest {
		r.Smallest = keep
	}
	r.Largest = max(r.Largest, keep)
	switch {
	case n == 1:
		r.Lone = append(r.Lone, name)
	case keep > halfUp((1-r.Rate)*float64(n)+1e-9):
		r.Raised++
	}
}
