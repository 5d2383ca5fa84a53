package crossfit

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/losses"
)

// Seen holds what fine-tuned networks see of each row's given label: means of the margin
//
//	z_y - max_{k≠y} z_k
//
// where z are the cosines to the classes and y is the given label. NaN: unknown.
type Seen struct {
	// Unseen is by networks that have not learned from the row; Learned by the others, while they learned, just before
	// each step that used the row: the area under the margin of Pleiss et al., NeurIPS 2020, equation 1.
	Unseen, Learned []float64
	// Rival is the likeliest other class by a network of Unseen, the one that is surest if there are several;
	// RivalShare is its share of the probability of all other classes. Negative: none.
	Rival      []int
	RivalShare []float64
	Epochs     []int // that each network learned

	unseen, learned []int // networks that say so
}

// growRows makes room for n rows.
func (s *Seen) growRows(n int) {
	if s.Unseen != nil {
		return
	}
	s.Unseen, s.Learned, s.RivalShare = make([]float64, n), make([]float64, n), make([]float64, n)
	s.Rival, s.unseen, s.learned = make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		s.Unseen[i], s.Learned[i], s.Rival[i] = math.NaN(), math.NaN(), features.Unlabelled
	}
}

// addJudged adds a network's judgement of images that it has not learned from, rows of the set.
func (s *Seen) addJudged(t Tuned, rows []int, c columned) {
	var scratch []float32
	cosines := features.Products(&scratch, t.Z, t.Directions)
	s.Epochs = append(s.Epochs, t.Epochs)
	for i, row := range rows {
		z, y := features.Row(cosines, i), c.of[row]
		rival, most := findLargestExcept(z, y)
		addMean(&s.Unseen[row], &s.unseen[row], float64(z[y]-most))
		var others float64
		for k, v := range z {
			if k != y {
				others += math.Exp(float64(v-most) / temperature)
			}
		}
		if share := 1 / others; share > s.RivalShare[row] {
			s.Rival[row], s.RivalShare[row] = c.classes[rival], share
		}
	}
}

// addObserved adds a network's margins of images while it learned them.
func (s *Seen) addObserved(t Tuned, rows []int) {
	for i, row := range rows {
		if v := float64(t.Margins[i]); !math.IsNaN(v) {
			addMean(&s.Learned[row], &s.learned[row], v)
		}
	}
}

// addMean adds v to a mean of n values.
func addMean(mean *float64, n *int, v float64) {
	if *n++; *n == 1 {
		*mean = v
		return
	}
	*mean += (v - *mean) / float64(*n)
}

// findLargestExcept returns the largest of row except that of y.
func findLargestExcept(row []float32, y int) (at int, most float32) {
	most = float32(math.Inf(-1))
	for k, v := range row {
		if k != y && v > most {
			at, most = k, v
		}
	}
	return at, most
}

// observing is a loss that notes the margin of every row's label just before a network learns from it.
type observing struct {
	losses.Loss
	proxies *features.Param
	labels  []int
	at      map[int]int // row of each image
	sum     []float64
	visits  []int
	scratch []float32
}

// newObserving returns loss, observing the images of set.
func newObserving(loss losses.Loss, proxies *features.Param, set features.Set) *observing {
	o := &observing{Loss: loss, proxies: proxies, labels: set.Labels, at: make(map[int]int, set.Len()),
		sum: make([]float64, set.Len()), visits: make([]int, set.Len())}
	for i, id := range set.IDs {
		o.at[id] = i
	}
	return o
}

func (o *observing) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	p := o.proxies.Matrix()
	norms := make([]float32, p.Rows)
	for k := range norms {
		norms[k] = 1 / max(blas32.Nrm2(viewRow(p, k)), 1e-30)
	}
	cosines := features.Products(&o.scratch, z.X, p)
	for i, id := range z.IDs {
		row := features.Row(cosines, i)
		for k, v := range norms {
			row[k] *= v
		}
		at := o.at[id]
		_, most := findLargestExcept(row, o.labels[at])
		o.sum[at] += float64(row[o.labels[at]] - most)
		o.visits[at]++
	}
	return o.Loss.Eval(grad, z, ref)
}

// computeMeanMargins returns the mean margin of every image, NaN for one that no step used.
func (o *observing) computeMeanMargins() []float32 {
	list := make([]float32, len(o.sum))
	for i, n := range o.visits {
		list[i] = float32(o.sum[i] / float64(n)) // 0/0 is NaN
	}
	return list
}
