package learn

import (
	"math"
	"slices"
)

// spreading is the factor by which each chosen image of a class lowers the probabilities of the class's other images in
// the same batch, so that images with nearly equal probabilities come from several classes.
const spreading = 0.98

// chooseBatch returns the next Batch images to show. order lists the open images, most likely wrong first. chooseBatch
// takes one image from each group of duplicates with the same label, and spreads its choice over classes.
func (s *State) chooseBatch(order []int) (list []int) {
	b := s.base
	type key struct{ group, given int }
	shown, perClass := map[key]bool{}, map[int]int{}
	var window []int // candidates for the next place; the best after spreading is chosen
	for next := 0; len(list) < Batch; {
		for ; len(window) < Batch && next < len(order); next++ {
			k := key{b.Group[order[next]], b.Given[order[next]]}
			if k.group > 0 && shown[k] {
				continue
			}
			shown[k] = true
			window = append(window, order[next])
		}
		if len(window) == 0 {
			break
		}
		best, top := 0, math.Inf(-1)
		for a, i := range window {
			if v := s.Wrong[i] * math.Pow(spreading, float64(perClass[b.Given[i]])); v > top {
				best, top = a, v
			}
		}
		i := window[best]
		window = slices.Delete(window, best, best+1)
		perClass[b.Given[i]]++
		list = append(list, i)
	}
	return list
}
