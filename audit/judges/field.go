package judges

import (
	"cmp"
	"math"
	"slices"
)

// field is how well each image fits the classes that it fits best, and that of its given label always: candidates of
// a column and a similarity each. Of the other classes it knows how many there are, and the mean and the variance of
// their similarities.
type field struct {
	n, m    int       // images, candidates of each
	classes int       // columns
	column  []int32   // n×m
	fit     []float32 // n×m
	given   []int32   // which candidate the given label is
	tail    []tail    // n, empty where every class is a candidate
}

type tail struct{ mean, variance, least float32 }

const (
	fieldEntries = 1 << 25 // candidates of all images together
	mostOf       = 64      // candidates of an image
	leastWidth   = 16
)

// newField returns an empty one for n images.
func newField(n, classes int) *field {
	f := &field{n: n, classes: classes}
	f.m = min(f.classes, mostOf, max(leastWidth, fieldEntries/f.n))
	f.column, f.fit, f.given = make([]int32, f.n*f.m), make([]float32, f.n*f.m), make([]int32, f.n)
	if f.m < f.classes {
		f.tail = make([]tail, f.n)
	}
	return f
}

// set notes the row of image i with the given column y.
func (f *field) set(i, y int, row []float64, order []int32) {
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
		at = f.m - 1
		order[slices.Index(order, int32(y))], order[at] = order[at], int32(y)
	}
	f.given[i] = int32(at)
	for j := range column {
		column[j], fit[j] = order[j], float32(row[order[j]])
	}
	f.tail[i] = tailOf(row, order[f.m:])
}

// tailOf sums up columns of a row.
func tailOf(row []float64, columns []int32) tail {
	var sum, squares float64
	most := math.Inf(-1)
	for _, k := range columns {
		sum += row[k]
		squares += row[k] * row[k]
		most = math.Max(most, row[k])
	}
	n := float64(len(columns))
	mean := sum / n
	return tail{float32(mean), float32(math.Max(squares/n-mean*mean, 0)), float32(most)}
}

// chance is the mean log probability of the given labels by how many images have each.
func (f *field) chance() (v float64) {
	images := make([]float64, f.classes)
	for i, at := range f.given {
		images[f.column[i*f.m+int(at)]]++
	}
	for _, n := range images {
		if n > 0 {
			v += n / float64(f.n) * math.Log(n/float64(f.n))
		}
	}
	return v
}

// largestFirst moves the m largest of row to the front of order, by quickselect; ties by column.
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
	slices.SortFunc(order[:m], func(a, b int32) int { return cmp.Or(cmp.Compare(row[b], row[a]), cmp.Compare(a, b)) })
}

// soften fills p with the probabilities softmax(β fit) of every image's candidates, and rest with what is left for all
// other classes together: their sum of exponentials is that of a normal distribution, but no more than if all were as
// similar as the nearest.
func (f *field) soften(beta float64, p []float32, rest []float32) {
	for i := range f.n {
		fit, out := f.fit[i*f.m:][:f.m], p[i*f.m:][:f.m]
		top := fit[0]
		for _, v := range fit {
			top = max(top, v)
		}
		sum, others := 0.0, 0.0
		for j, v := range fit {
			e := math.Exp(beta * float64(v-top))
			out[j] = float32(e)
			sum += e
		}
		if f.tail != nil {
			t := f.tail[i]
			others = float64(f.classes-f.m) * math.Exp(math.Min(beta*float64(t.mean-top)+beta*beta*float64(t.variance)/2, beta*float64(t.least-top)))
			sum += others
		}
		for j := range out {
			out[j] /= float32(sum)
		}
		rest[i] = float32(others / sum)
	}
}
