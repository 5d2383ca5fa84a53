package seal

import (
	"fmt"
	"hash/crc32"
)

// RowColumn is the column of a table that holds the sums of its rows, and RowLength the length of a sum in bytes.
const (
	RowColumn = "checksum"
	RowLength = 1 + digits
)

// Rows sums the rows of a table. The sum of a row includes the one before it, so that a row that was changed, moved,
// added or removed is found; rows missing at the end are not. The zero value begins a table.
type Rows struct{ last string }

// Sum returns the sum of the next row that is written, a text that no program reads as a number.
func (r *Rows) Sum(cells []string) string {
	r.last = r.computeRowSum(cells)
	return r.last
}

// Fits reports whether the next row to be read matches the sum that was written with it.
func (r *Rows) Fits(cells []string, sum string) bool {
	fits := r.computeRowSum(cells) == sum
	r.last = sum
	return fits
}

func (r *Rows) computeRowSum(cells []string) string {
	all := []byte(r.last)
	for _, cell := range cells {
		all = append(append(all, 0), cell...)
	}
	return fmt.Sprintf("x%0*x", digits, crc32.Checksum(all, castagnoli))
}
