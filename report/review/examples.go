package review

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
)

// example is an image of a class.
type example struct {
	pic
	ID int32 `json:"id"`
}

// getExamples returns images of a given label, drawn at random without repetition. The same seed draws the same ones.
func (r *Reviewer) getExamples(_ *http.Request, values url.Values) (any, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	p, t := &parameters{values: values}, r.table
	class, n := p.getClass("class", t), p.getNumber("n", 6, 1, mostTypical)
	seed := p.getNumber("seed", 1, 0, 1<<31-1)
	if p.err == nil && class == none {
		p.failWith("class: is missing")
	}
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	ids := t.listIDsOfClass(class, true)
	list := []example{}
	for _, at := range drawSome(len(ids), n, rand.New(rand.NewPCG(uint64(seed), uint64(class)))) {
		id := ids[at]
		list = append(list, example{t.newPic(t.image[id]), id})
	}
	return map[string]any{"class": t.classes[class], "images": len(ids), "pictures": list}, nil
}

// drawSome draws at most k different numbers below n. It needs no memory for the others.
//
// Source: Bentley and Floyd, A sample of brilliance, Communications of the ACM 30(9), 1987, algorithm F2.
func drawSome(n, k int, rng *rand.Rand) (list []int) {
	for i := max(0, n-k); i < n; i++ {
		at := rng.IntN(i + 1)
		if slices.Contains(list, at) {
			at = i
		}
		list = append(list, at)
	}
	return list
}
