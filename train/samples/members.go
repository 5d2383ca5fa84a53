package samples

import (
	"fmt"

	"winnow/features"
)

// members knows where the memory bank holds the vectors of each training row. Every push has a number, from 0 on; the
// bank's ring has push s at position s mod capacity, until push s + capacity takes its place. A row's pushes are
// chained from the newest back, so that a push costs O(1), and a look-up as many steps as the row has members.
type members struct {
	capacity int
	pushed   int
	newest   []int // of rows: number of the last push + 1; 0: none
	before   []int // of positions: number of the same row's push before + 1; 0: none
}

func newMembers(rows, capacity int) *members {
	return &members{capacity: capacity, newest: make([]int, rows), before: make([]int, capacity)}
}

// push follows a [features.Bank.Push] of these rows.
func (m *members) push(rows []int) {
	for _, row := range rows[max(0, len(rows)-m.capacity):] {
		m.before[m.pushed%m.capacity] = m.newest[row]
		m.pushed++
		m.newest[row] = m.pushed
	}
}

// of appends the positions of a row's members.
func (m *members) of(dst []int, row int) []int {
	for s := m.newest[row]; s > 0 && s > m.pushed-m.capacity; s = m.before[(s-1)%m.capacity] {
		dst = append(dst, (s-1)%m.capacity)
	}
	return dst
}

// Follow makes the record know the members of a bank: one into which as many vectors were pushed as it holds, or the one that
// a state was taken with.
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
	rowOf := make(map[int]int, held.Len()) // of what the bank holds
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
		m.push([]int{row})
	}
	r.members = m
	return nil
}

// FollowAnew makes the record know the members of a bank that was emptied and filled again.
func (r *Record) FollowAnew(bank *features.Bank) error {
	r.members = nil
	return r.Follow(bank)
}

// Pushed notes that the bank took these training rows in, in this order.
func (r *Record) Pushed(rows []int) { r.members.push(rows) }

// Members appends the positions in the bank's set of the vectors of a training row.
func (r *Record) Members(dst []int, row int) []int { return r.members.of(dst, row) }
