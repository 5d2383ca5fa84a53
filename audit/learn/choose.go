package learn

import (
	"math"
	"slices"
)

// spreading is the factor by which each image of a class lowers the next one of the same batch, so that ties and near
// ties are spread over classes.
const spreading = 0.98

// chooseBatch returns the images to show next, a batch of those in order, which are sorted by how likely their labels
// are wrong: of duplicates with the same label one, and not too many of one class.
func (s *State) chooseBatch(order []int) (list []int) {
	b := s.base
	type key struct{ group, given int }
	shown, perClass := map[key]bool{}, map[int]int{}
	var window []int // a batch of candidates, of which the best after spreading is taken
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
