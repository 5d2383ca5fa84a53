package features

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// Bank is a first-in first-out memory of unit vectors. For each class it keeps the sum, the number and the mean of its
// current members (PRISM, section III-B; the authors' ring buffer has a bug that loses new rows).
//
//	M_k = number of members of class k,  Sum(k) = Σ v,  row k of Centres() = Sum(k)/M_k (zero if M_k = 0)
//
// An image pushed in several epochs is a member several times, always with the same ID.
//
// Vectors are float32. Sums are float64 and updated vector by vector, so a push costs O(d) for any capacity. To stop
// rounding errors from accumulating, a class is recomputed from its members after every [refreshAfter] changes; this
// depends only on the pushes. Only Push, Clear and SetState write; between writes, goroutines may read concurrently.
type Bank struct {
	set      Set            // capacity×dim ring; only the first filled rows are members
	next     int            // index of the next vector
	filled   int            // members, ≤ capacity
	sums     []float64      // classes×dim
	counts   []int          // classes
	images   []int          // classes: number of distinct IDs among the members
	copies   map[shown]int  // members per class and ID; nil: every member is a separate image
	changes  []int          // classes: pushes and evictions since the last recomputation
	versions []uint64       // classes: increases with every change
	centres  blas32.General // classes×dim
	touched  []int          // scratch: classes changed by the current Push
	stale    []bool         // classes: whether the class is in touched
}

// shown is an image with a label.
type shown struct{ label, id int }

// refreshAfter is the number of changes after which the sum of a class is recomputed from its members.
const refreshAfter = 1000

// NewBank allocates an empty bank for capacity vectors of dimension dim with labels 0 … classes-1.
func NewBank(capacity, dim, classes int) *Bank {
	if capacity < 1 || dim < 1 || classes < 1 {
		panic(fmt.Sprintf("features: bank of %d vectors, dimension %d, %d classes: all must be positive", capacity,
			dim, classes))
	}
	b := newBank(NewSet(capacity, dim), classes)
	b.copies = map[shown]int{}
	return b
}

// BankOf returns a full bank of all vectors of z, used to compare a whole set with itself; every row is a separate
// image. The bank shares the vectors of z, which must not change while the bank is used. Push would overwrite them.
func BankOf(z Set, classes int) *Bank {
	if z.Len() < 1 || z.Dim() < 1 || classes < 1 || z.X.Stride != z.X.Cols || len(z.Labels) != z.Len() {
		panic(fmt.Sprintf("features: bank of a set of %d×%d, stride %d, %d labels, %d classes", z.Len(), z.Dim(),
			z.X.Stride, len(z.Labels), classes))
	}
	ring := Set{X: z.X, Labels: append([]int(nil), z.Labels...), IDs: make([]int, z.Len())}
	copy(ring.IDs, z.IDs)
	b := newBank(ring, classes)
	b.filled = z.Len()
	for i, k := range b.set.Labels {
		b.checkLabel(k)
		b.addSigned(k, b.set.IDs[i], b.set.Row(i), 1)
	}
	clear(b.changes)
	b.updateCentres()
	return b
}

func newBank(ring Set, classes int) *Bank {
	return &Bank{
		set:      ring,
		sums:     make([]float64, classes*ring.Dim()),
		counts:   make([]int, classes),
		images:   make([]int, classes),
		changes:  make([]int, classes),
		versions: make([]uint64, classes),
		centres:  NewMatrix(classes, ring.Dim()),
		stale:    make([]bool, classes),
	}
}

// Len returns the number of members.
func (b *Bank) Len() int { return b.filled }

// Cap returns the number of members the bank can hold.
func (b *Bank) Cap() int { return b.set.Len() }

// Dim returns the dimension of the vectors.
func (b *Bank) Dim() int { return b.set.Dim() }

// Classes returns the number of class IDs, including classes without members.
func (b *Bank) Classes() int { return len(b.counts) }

// Count returns M_k, the number of members of class k.
func (b *Bank) Count(k int) int { return b.counts[k] }

// Images returns the number of distinct images among the members of class k. Rows pushed without IDs are
// separate images.
func (b *Bank) Images(k int) int { return b.images[k] }

// Sum returns a view of the sum of the members of class k, which is exactly zero if there are no members.
func (b *Bank) Sum(k int) []float64 {
	d := b.Dim()
	return b.sums[k*d : (k+1)*d : (k+1)*d]
}

// Centres returns a view of the classes×dim matrix of class means (not renormalised), with zero rows for empty classes.
// The product Z·Centresᵀ gives the mean similarity of each row of Z to each class.
func (b *Bank) Centres() blas32.General { return b.centres }

// Version increases whenever a member of class k is added or removed. Results computed from Sum(k) and Count(k) may be
// cached while it is unchanged.
func (b *Bank) Version(k int) uint64 { return b.versions[k] }

// Set returns a view of the members in ring order, not in order of arrival. It is valid until the next Push.
func (b *Bank) Set() Set {
	s := Set{Labels: b.set.Labels[:b.filled], IDs: b.set.IDs[:b.filled]}
	s.X = blas32.General{Rows: b.filled, Cols: b.set.X.Cols, Stride: b.set.X.Stride,
		Data: b.set.X.Data[:b.filled*b.set.X.Stride]}
	return s
}

// Clear removes all members.
func (b *Bank) Clear() {
	if err := b.SetState(NewBank(b.Cap(), b.Dim(), b.Classes()).State()); err != nil {
		panic(err) // impossible: the state has the bank's own shape
	}
}

// Push appends the rows of z one by one; in a full bank, each row evicts the oldest member. If there are more rows than
// the capacity, only the last are kept. Push panics for a label outside the classes, which is a bug in winnow.
func (b *Bank) Push(z Set) {
	if z.Len() > 0 && z.Dim() != b.Dim() {
		panic(fmt.Sprintf("features: bank: found vectors of dimension %d, expected %d", z.Dim(), b.Dim()))
	}
	for _, k := range z.Labels[:z.Len()] {
		b.checkLabel(k)
	}
	for i := max(0, z.Len()-b.Cap()); i < z.Len(); i++ {
		id := -1
		if z.IDs != nil {
			id = z.IDs[i]
		}
		b.pushRow(z.Row(i), z.Labels[i], id)
	}
	b.updateCentres()
}

func (b *Bank) checkLabel(k int) {
	if k < 0 || k >= len(b.counts) {
		panic(fmt.Sprintf("features: bank of %d classes: label %d is not a class", len(b.counts), k))
	}
}

func (b *Bank) pushRow(row []float32, label, id int) {
	slot := b.set.Row(b.next)
	if b.filled == b.Cap() {
		b.addSigned(b.set.Labels[b.next], b.set.IDs[b.next], slot, -1)
	} else {
		b.filled++
	}
	copy(slot, row)
	b.set.Labels[b.next], b.set.IDs[b.next] = label, id
	b.addSigned(label, id, slot, 1)
	b.next++
	if b.next == b.Cap() {
		b.next = 0
	}
}

// addSigned adds sign·row to the sum of class k for the image id, and marks the class as changed.
func (b *Bank) addSigned(k, id int, row []float32, sign int) {
	addTo(b.Sum(k), row, float64(sign))
	b.counts[k] += sign
	b.images[k] += b.countMember(shown{k, id}, sign)
	b.changes[k]++
	b.versions[k]++
	if !b.stale[k] {
		b.stale[k] = true
		b.touched = append(b.touched, k)
	}
}

// countMember adds sign (±1) to the number of members of an image, and returns the change in the number of images of
// the class.
func (b *Bank) countMember(s shown, sign int) int {
	if b.copies == nil || s.id < 0 {
		return sign
	}
	was := b.copies[s]
	b.copies[s] = was + sign
	switch was + sign {
	case 0:
		delete(b.copies, s)
		return sign
	case 1:
		return max(sign, 0)
	}
	return 0
}

// updateCentres updates the centres of the touched classes.
func (b *Bank) updateCentres() {
	for _, k := range b.touched {
		b.stale[k] = false
		if b.counts[k] == 0 || b.changes[k] > refreshAfter {
			b.sumAnew(k)
		}
		scaleInto(Row(b.centres, k), b.Sum(k), b.counts[k])
	}
	b.touched = b.touched[:0]
}

// sumAnew recomputes the sum of class k from its members, in ring order.
func (b *Bank) sumAnew(k int) {
	sum := b.Sum(k)
	clear(sum)
	b.changes[k] = 0
	if b.counts[k] == 0 {
		return
	}
	for i, label := range b.set.Labels[:b.filled] {
		if label == k {
			addTo(sum, b.set.Row(i), 1)
		}
	}
}

// addTo adds sign·row to sum; sign is ±1.
func addTo(sum []float64, row []float32, sign float64) {
	sum = sum[:len(row)]
	for j, v := range row {
		sum[j] += sign * float64(v)
	}
}

// scaleInto writes sum/count to dst, or zeros if count is 0.
func scaleInto(dst []float32, sum []float64, count int) {
	if count == 0 {
		clear(dst)
		return
	}
	sum = sum[:len(dst)]
	scale := 1 / float64(count)
	for j := range dst {
		dst[j] = float32(scale * sum[j])
	}
}
