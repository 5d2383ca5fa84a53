package samples

import (
	"fmt"

	"winnow/features"
)

// members tracks where the memory bank holds the vectors of each training row. Pushes are numbered from 0. Push
// s is at ring position s mod capacity, until push s + capacity overwrites it. The pushes of a row are linked
// from the newest back, so a push costs O(1), and a look-up one step per member of the row.
type members struct {
	capacity int
	pushed   int
	newest   []int // of rows: number of the last push + 1; 0: none
	before   []int // of positions: number of the same row's previous push + 1; 0: none
}

func newMembers(rows, capacity int) *members {
	return &members{capacity: capacity, newest: make([]int, rows), before: make([]int, capacity)}
}

// pushMembers records a [features.Bank.Push] of these rows.
func (m *members) pushMembers(rows []int) {
	for _, row := range rows[max(0, len(rows)-m.capacity):] {
		m.before[m.pushed%m.capacity] = m.newest[row]
		m.pushed++
		m.newest[row] = m.pushed
	}
}

// memberPositions appends the positions of a row's members.
func (m *members) memberPositions(dst []int, row int) []int {
	for s := m.newest[row]; s > 0 && s > m.pushed-m.capacity; s = m.before[(s-1)%m.capacity] {
		dst = append(dst, (s-1)%m.capacity)
	}
	return dst
}

// Follow links the record to a bank: one that received as many vectors as it holds, or the one that a saved
// state belongs to.
func (r *Record) Follow(bank *features.Bank) error {
	held := bank.Set()
	pushed := held.Len()
	if r.members != nil {
		pushed = r.members.pushed
	}
	if held.Len() > pushed || held.Len() < min(pushed, bank.Cap()) {
		return fmt.Errorf("samples: the bank holds %d vectors after %d pushes, expected %d", held.Len(), pushed,
			min(pushed, bank.Cap()))
	}
	rowOf := make(map[int]int, held.Len()) // of the images in the bank
	for _, id := range held.IDs {
		rowOf[id] = -1
	}
	for row, id := range r.cfg.IDs {
		if _, wanted := rowOf[id]; wanted {
			rowOf[id] = row
		}
	}
	m := newMembers(len(r.cfg.IDs), bank.Cap())
	m.pushed = pushed - held.Len()
	for range held.Len() {
		id := held.IDs[m.pushed%m.capacity]
		row := rowOf[id]
		if row < 0 {
			return fmt.Errorf("samples: the bank holds a vector of sample %d, which is not trained on", id)
		}
		m.pushMembers([]int{row})
	}
	r.members = m
	return nil
}

// FollowAnew links the record to a bank that was cleared and filled again.
func (r *Record) FollowAnew(bank *features.Bank) error {
	r.members = nil
	return r.Follow(bank)
}

// Pushed records that these training rows were pushed into the bank, in this order.
func (r *Record) Pushed(rows []int) { r.members.pushMembers(rows) }

// Members appends the positions, in the bank's set, of the vectors of a training row.
func (r *Record) Members(dst []int, row int) []int { return r.members.memberPositions(dst, row) }
