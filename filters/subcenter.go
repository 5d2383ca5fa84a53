package filters

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// SubCenter is the cosine to the dominant centre of the given class, among the proxies of the loss: the centre
// that is nearest to most of the class's members in the bank.
//
//	h(v) = argmax_h cos(p_y^h, v),  H_y = argmax_h |{v in class y: h(v) = h}|,  score = cos(p_y^{H_y}, z), in [-1, 1]
//
// When trained with several centres per class, right labels gather around one centre and wrong ones around the
// others. A row beyond a fixed angle of the dominant centre is dropped, 75° in the paper (threshold fixed,
// fixed 0.2588). Rows at another centre of their class are usually far from the dominant one and are dropped by
// that. Being nearer to another centre is not enough: two centres may share the right labels. The paper drops
// once and trains again without the other centres; here every batch is judged. Freshly drawn centres are 75°
// and more from every row, so a fixed bar needs a warm-up (filter.warm_up); a threshold by rank does not.
//
// Proxies is (C·H)×d as in [ProxySim], read at every call. The bank is the only memory: it holds the kept rows,
// so the dominant centre stays dominant. Of equal counts the first centre is taken. An own row counts for no
// centre. A label without members scores 1, and so does an own row that is its class's only member. A zero
// proxy has cosine 0. With one proxy per class that proxy is dominant, and nothing is counted.
//
// Time O((n+M)·H·d), where M members have a class of the batch: at most H/n of the product of the batch with
// the bank. Source: Deng et al., "Sub-center ArcFace", ECCV 2020, section 3.
type SubCenter struct {
	Proxies  *features.Param
	PerClass int

	scales []float64 // 1/‖p‖ of the proxies of the batch's classes, class after class
	counts []int     // members nearest to each of them
	slots  []int     // of every class: its position among those of the batch, or -1
	row    []float64 // cosines of one vector
}

// Score returns the cosine for each row of z.
func (s *SubCenter) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return replaceUnjudged(s.scoreMarked(dst, z, ref, own))
}

func (s *SubCenter) scoreMarked(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	s.enterBatch(z.Labels[:z.Len()])
	if s.PerClass > 1 {
		members := ref.Set()
		for m, y := range members.Labels {
			if slot := s.slots[y]; slot >= 0 {
				s.counts[slot*s.PerClass+s.nearestCentre(members.Row(m), y)]++
			}
		}
	}
	for i, y := range z.Labels[:z.Len()] {
		if ref.Count(y) == 0 || own && ref.Count(y) == 1 {
			dst[i] = Unjudged
			continue
		}
		h := s.nearestCentre(z.Row(i), y)
		counts := s.counts[s.slots[y]*s.PerClass:][:s.PerClass]
		if own {
			counts[h]--
		}
		dst[i] = s.row[slices.Index(counts, slices.Max(counts))]
		if own {
			counts[h]++
		}
	}
	return dst
}

// enterBatch assigns slots to the classes of a batch, clears the counts and computes 1/‖p‖ of their proxies.
func (s *SubCenter) enterBatch(labels []int) {
	s.slots = features.Grow(s.slots, s.Proxies.Rows/s.PerClass)
	for k := range s.slots {
		s.slots[k] = -1
	}
	s.scales, s.row = s.scales[:0], features.Grow(s.row, s.PerClass)
	classes := 0
	for _, y := range labels {
		if s.slots[y] >= 0 {
			continue
		}
		s.slots[y] = classes
		classes++
		for h := range s.PerClass {
			p := s.centreVector(y, h)
			s.scales = append(s.scales, 1/math.Max(math.Sqrt(blas32.DDot(p, p)), 1e-12))
		}
	}
	s.counts = features.Grow(s.counts, classes*s.PerClass)
	clear(s.counts)
}

// nearestCentre returns the centre of class y nearest to v, and stores the cosines to all its centres in s.row.
func (s *SubCenter) nearestCentre(v []float32, y int) int {
	x, scales := blas32.Vector{N: len(v), Inc: 1, Data: v}, s.scales[s.slots[y]*s.PerClass:]
	best := 0
	for h := range s.row {
		s.row[h] = float64(blas32.Dot(s.centreVector(y, h), x)) * scales[h]
		if s.row[h] > s.row[best] {
			best = h
		}
	}
	return best
}

func (s *SubCenter) centreVector(y, h int) blas32.Vector {
	return blas32.Vector{N: s.Proxies.Cols, Inc: 1, Data: features.Row(s.Proxies.Matrix(), y*s.PerClass+h)}
}
