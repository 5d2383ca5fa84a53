package seal

import (
	"fmt"
	"hash/crc32"
)

// RowColumn is the table column with the checksums of the rows; RowLength is the length of a checksum in bytes.
const (
	RowColumn = "checksum"
	RowLength = 1 + digits
)

// Rows computes checksums of a table's rows. Each checksum includes the previous one, so that changed, moved, added and
// removed rows are found, except rows missing at the end. The zero value starts a table.
type Rows struct{ last string }

// Sum returns the checksum of the next row to write, as a text that no program reads as a number.
func (r *Rows) Sum(cells []string) string {
	r.last = r.computeRowSum(cells)
	return r.last
}

// Fits reports whether the next row read matches the checksum written with it.
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
