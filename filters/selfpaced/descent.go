package selfpaced

import (
	"math"
	"math/rand/v2"
)

// descent implements BSPML's Algorithm 3: it moves one coordinate at a time, against a gradient over random samples.
type descent struct {
	*problem
	rate     float64 // γ
	printed  bool
	classes  int // P; 0: complete gradients
	perClass int // K

	same   []int
	others [][]int
	drawn  []int
}

// visitWeights moves every weight once, in a random order, and returns the largest change of a weight.
func (d *descent) visitWeights(rng *rand.Rand) (change float64) {
	d.recomputeSums()
	for _, a := range rng.Perm(len(d.w)) {
		before := d.w[a]
		if d.classes == 0 {
			d.moveWeight(a, d.exactGradient(a))
		} else {
			d.drawStep(a, rng)
			d.moveWeight(a, d.gradientOf(a, d.same, d.others))
		}
		change = max(change, math.Abs(d.w[a]-before))
	}
	return change
}

// drawStep draws K other samples of a's class, P other classes and K samples of each of them, without replacement;
// fewer if there are not enough.
func (d *descent) drawStep(a int, rng *rand.Rand) {
	own := d.class[a]
	mates := d.members[own]
	d.same = drawDistinct(d.same[:0], len(mates)-1, d.perClass, rng)
	for k, v := range d.same {
		d.same[k] = mates[skipNumber(v, d.place[a])]
	}
	d.drawn = drawDistinct(d.drawn[:0], len(d.members)-1, d.classes, rng)
	for len(d.others) < len(d.drawn) {
		d.others = append(d.others, nil)
	}
	d.others = d.others[:len(d.drawn)]
	for k, v := range d.drawn {
		members := d.members[skipNumber(v, own)]
		list := drawDistinct(d.others[k][:0], len(members), d.perClass, rng)
		for m, place := range list {
			list[m] = members[place]
		}
		d.others[k] = list
	}
}

// skipNumber returns the v-th number when left is left out.
func skipNumber(v, left int) int {
	if v >= left {
		return v + 1
	}
	return v
}

// moveWeight moves the weight of a one step against its gradient and clips it to [0, 1].
func (d *descent) moveWeight(a int, g parts) {
	step := d.rate * d.weightSlope(g)
	if d.printed {
		step /= d.classSize(a)
	}
	d.setWeight(a, min(1, max(0, d.w[a]-step)))
}

// ceilShare returns ⌈share·n⌉, treating a product that is an integer up to rounding as that integer.
func ceilShare(share float64, n int) int {
	return int(math.Ceil(share*float64(n) - 1e-9))
}
