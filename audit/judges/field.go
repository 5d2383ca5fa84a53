package judges

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"winnow/features"

	"gonum.org/v1/gonum/floats"
)

// field holds the similarities of each image to its candidates: the nearest classes and always the class of the given
// label. For the other classes it holds only the mean, the variance and the maximum of their similarities.
type field struct {
	n, m    int       // number of images, and of candidates per image
	classes int       // number of columns
	column  []int32   // n×m
	fit     []float32 // n×m
	given   []int32   // n: index of the given label among the candidates
	tail    []tail    // n; nil if every class is a candidate
}

type tail struct{ mean, variance, least float32 }

const (
	fieldEntries = 1 << 24 // candidates of all images together
	mostOf       = 64      // most candidates per image
	leastWidth   = 16      // fewest, if there are so many classes
)

// countCandidates returns the number of candidates per image for n images.
func countCandidates(n, classes int) int {
	return min(classes, mostOf, max(leastWidth, fieldEntries/n))
}

// newField returns an empty field for n images.
func newField(n, classes int) *field {
	f := &field{n: n, m: countCandidates(n, classes), classes: classes}
	f.column, f.fit, f.given = make([]int32, f.n*f.m), make([]float32, f.n*f.m), make([]int32, f.n)
	if f.m < f.classes {
		f.tail = make([]tail, f.n)
	}
	return f
}

// storeSimilarities stores the similarities of image i, whose given label has column y.
func (f *field) storeSimilarities(i, y int, row []float64, order []int32) {
	column, fit := f.column[i*f.m:][:f.m], f.fit[i*f.m:][:f.m]
	if f.tail == nil {
		for k, v := range row {
			column[k], fit[k] = int32(k), float32(v)
		}
		f.given[i] = int32(y)
		return
	}
	order = order[:len(row)]
	for k := range order {
		order[k] = int32(k)
	}
	largestFirst(order, row, f.m)
	at := slices.Index(order[:f.m], int32(y))
	if at < 0 {
		at = 0
		for j, k := range order[:f.m] {
			if row[k] < row[order[at]] {
				at = j
			}
		}
		order[slices.Index(order, int32(y))], order[at] = order[at], int32(y)
	}
	f.given[i] = int32(at)
	for j := range column {
		column[j], fit[j] = order[j], float32(row[order[j]])
	}
	f.tail[i] = tailOf(row, order[f.m:])
}

// tailOf summarises the given columns of a row.
func tailOf(row []float64, columns []int32) tail {
	var sum, squares float64
	most := math.Inf(-1)
	for _, k := range columns {
		sum += row[k]
		squares += row[k] * row[k]
		most = max(most, row[k])
	}
	n := float64(len(columns))
	mean := sum / n
	return tail{float32(mean), float32(max(squares/n-mean*mean, 0)), float32(most)}
}

// countImages returns the number of images with the given label of each class, by column.
func (f *field) countImages() []float64 {
	images := make([]float64, f.classes)
	for i, at := range f.given {
		images[f.column[i*f.m+int(at)]]++
	}
	return images
}

// computeChance returns the mean log probability of the given labels if labels are predicted from class sizes only.
func (f *field) computeChance() (v float64) {
	for _, n := range f.countImages() {
		if n > 0 {
			v += n / float64(f.n) * math.Log(n/float64(f.n))
		}
	}
	return v
}

// largestFirst moves the columns of the m largest values of row to the front of order, by quickselect. The lower column
// wins ties.
func largestFirst(order []int32, row []float64, m int) {
	before := func(a, b int32) bool { return row[a] > row[b] || row[a] == row[b] && a < b }
	for low, high := 0, len(order); high-low > 1; {
		pivot := order[(low+high)/2]
		i, j := low, high-1
		for i <= j {
			for before(order[i], pivot) {
				i++
			}
			for before(pivot, order[j]) {
				j--
			}
			if i <= j {
				order[i], order[j] = order[j], order[i]
				i++
				j--
			}
		}
		switch {
		case m <= j:
			high = j + 1
		case m >= i:
			low = i
		default:
			low, high = m, m
		}
	}
}

// softenField fills p with the probabilities softmax(β fit + lean) of every image's candidates, and rest with the total
// probability of all other classes. lean has an offset for each class; nil: zeros. The exponentials of the other
// classes are summed as if their similarities were normally distributed, but at most as if all were as similar as the
// nearest of them.
func (f *field) softenField(beta float64, lean []float64, p []float32, rest []float32) {
	if lean == nil {
		lean = make([]float64, f.classes)
	}
	parts := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { f.softenSome(beta, lean, p, rest, part*f.n/parts, (part+1)*f.n/parts) })
	}
	all.Wait()
}

// softenSome does the work of softenField for images from ≤ i < to.
func (f *field) softenSome(beta float64, lean []float64, p []float32, rest []float32, from, to int) {
	ordinary, e := floats.LogSumExp(lean)-math.Log(float64(len(lean))), make([]float64, f.m)
	for i := from; i < to; i++ {
		fit, out := f.fit[i*f.m:][:f.m], p[i*f.m:][:f.m]
		top, column := math.Inf(-1), f.column[i*f.m:][:f.m]
		for j, v := range fit {
			e[j] = beta*float64(v) + lean[column[j]]
			top = max(top, e[j])
		}
		sum, others := features.ExpSlice(e, e, 1, -top), 0.0
		if f.tail != nil {
			t := f.tail[i]
			normal := beta*float64(t.mean) + beta*beta*float64(t.variance)/2
			others = float64(f.classes-f.m) * math.Exp(math.Min(normal, beta*float64(t.least))+ordinary-top)
			sum += others
		}
		for j, v := range e {
			out[j] = float32(v / sum)
		}
		rest[i] = float32(others / sum)
	}
}
