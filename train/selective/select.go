package selective

import (
	"cmp"
	"math"
	"slices"

	"winnow/features"
	"winnow/internal/spread"
)

// selclDetector selects rows whose neighbours agree with their label, with the same quota for every class, and
// confident pairs of rows.
//
//	pseudo label of i  = the most frequent given label among its K nearest rows (ties: the lowest label)
//	share_i            = the share of i's K nearest rows whose pseudo label is i's given label
//	discrepancy_i      = -log clip(share_i, 0.01, 0.99)
//	quota              = the Alpha-quantile, over classes, of the number of agreeing rows: the most frequent pseudo
//	                     label among their neighbours is their given label
//	selected           = in each class the ⌊quota⌋ rows of least discrepancy (all rows, if it has fewer)
//	confident (i, j)   = same label, and both selected or s_ij ≥ the Beta-quantile of the similarities of all
//	                     ordered pairs of selected rows with equal labels, including each row with itself
//
// s is the cosine. The Alpha-quantile interpolates linearly between two counts, except at 0.5, where it is the
// lower median. A class without rows has 0 agreeing rows. Of rows with equal discrepancy the earlier is
// selected. If no row is selected, only pairs of a row with itself are confident.
// Time O(n²·d), memory O(n·K).
// A row is never its own neighbour; in the released code this holds only for the first block of rows.
// Source: Li, Xia, Ge & Liu, Selective-Supervised Contrastive Learning with Noisy Labels, CVPR 2022, section
// 3.2 and its code; METHODS 13.1.
type selclDetector struct {
	K           int // number of voting neighbours; 0: 250, or half the mean class size if that is less
	Alpha, Beta float64
}

// Bounds of the share in a discrepancy.
const (
	leastShare = 1e-2
	mostShare  = 1 - 1e-2
)

// selection is the result of Sel-CL for a set.
type selection struct {
	Pseudo      []int     // pseudo label of each row; -1 if no neighbour has a label
	Share       []float64 // share_i, used as P(clean); 0 without a label
	Discrepancy []float64 // +Inf without a label
	Agree       []bool    // the neighbours' most frequent pseudo label is the given label
	Quota       float64
	Selected    []bool
	Neighbours  *neighbours

	z    features.Set // unit rows
	beta float64
}

// selectRows scores and selects rows of z. z has unit rows and labels 0 … classes-1, or negative without a label.
func (c selclDetector) selectRows(z features.Set, classes int) (*selection, error) {
	near, err := findNeighbours(z, c.countVoters(z.Labels))
	if err != nil {
		return nil, err
	}
	n := z.Len()
	s := &selection{
		Pseudo: make([]int, n), Share: make([]float64, n), Discrepancy: make([]float64, n), Agree: make([]bool, n),
		Selected: make([]bool, n), Neighbours: near, z: z, beta: c.Beta,
	}
	s.computeVotes(classes)
	s.chooseRows(classes, c.Alpha)
	return s, nil
}

// countVoters returns the number of voting neighbours.
func (c selclDetector) countVoters(labels []int) int {
	if c.K > 0 {
		return c.K
	}
	labelled, seen := 0, map[int]bool{}
	for _, y := range labels {
		if y >= 0 {
			labelled++
			seen[y] = true
		}
	}
	return min(250, max(labelled/(2*max(len(seen), 1)), 1))
}

// computeVotes lets the neighbours vote twice: with their given labels, then with their pseudo labels.
func (s *selection) computeVotes(classes int) {
	p := poll{counts: make([]int, classes)}
	for i := range s.Pseudo {
		p.takeVotes(s.Neighbours, i, s.z.Labels)
		s.Pseudo[i] = p.findWinner()
	}
	for i, y := range s.z.Labels {
		if y < 0 {
			s.Discrepancy[i] = math.Inf(1)
			continue
		}
		p.takeVotes(s.Neighbours, i, s.Pseudo)
		s.Agree[i] = p.findWinner() == y
		s.Share[i] = float64(p.counts[y]) / float64(s.Neighbours.K)
		s.Discrepancy[i] = -math.Log(min(max(s.Share[i], leastShare), mostShare))
	}
}

// chooseRows computes the quota and selects rows.
func (s *selection) chooseRows(classes int, alpha float64) {
	agreeing, members := make([]float64, classes), make([][]int, classes)
	for i, y := range s.z.Labels {
		if y < 0 {
			continue
		}
		members[y] = append(members[y], i)
		if s.Agree[i] {
			agreeing[y]++
		}
	}
	slices.Sort(agreeing)
	s.Quota = spread.Quantile(agreeing, alpha)
	if alpha == 0.5 {
		s.Quota = agreeing[(classes-1)/2]
	}
	for _, m := range members {
		slices.SortStableFunc(m, func(a, b int) int { return cmp.Compare(s.Discrepancy[a], s.Discrepancy[b]) })
		for _, i := range m[:min(int(s.Quota), len(m))] {
			s.Selected[i] = true
		}
	}
}
