package decisions

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// SQLite has no sums: a flipped bit in a text or a number stays unnoticed. Each row therefore holds the CRC-32C of its
// values, which is compared whenever the row is read.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Columns that the sum of a row covers, in order.
var (
	imageColumns = []string{"path", "reviewer", "given", "action", "label", "note", "at", "version", "change",
		"batch"}
	historyColumns = []string{"batch", "path", "given", "action", "label", "note", "at", "before_given",
		"before_action", "before_label", "before_note", "before_at", "before_batch"}
	batchColumns   = []string{"batch", "tab", "reviewer", "at"}
	pictureColumns = []string{"path", "at", "bytes", "modified", "content"}
)

// sumOf returns the sum of a row's values: texts and integers, each behind its kind.
func sumOf(values ...any) int64 {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			b = binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(v))
		case string:
			b = append(binary.AppendUvarint(append(b, 't'), uint64(len(v))), v...)
		case Action:
			b = append(binary.AppendUvarint(append(b, 't'), uint64(len(v))), v...)
		default: // another program's value
			b = fmt.Appendf(append(b, '?'), "%T %v", v, v)
		}
	}
	return int64(crc32.Checksum(b, castagnoli))
}

// ErrChanged is the error for a row that is not what winnow wrote.
var ErrChanged = errors.New("a stored decision has changed since it was written, by a fault of the disk or by " +
	"another program: use a copy from before")

// compareSums compares the sums of all rows.
func compareSums(tx *sql.Tx) error {
	for table, columns := range map[string][]string{"images": imageColumns, "history": historyColumns,
		"batches": batchColumns, "pictures": pictureColumns} {
		if err := compareSumsOf(tx, table, columns); err != nil {
			return err
		}
	}
	return nil
}

func compareSumsOf(tx *sql.Tx, table string, columns []string) error {
	rows, err := tx.Query("SELECT " + strings.Join(append(columns[:len(columns):len(columns)], "sum"), ", ") +
		" FROM " + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, to := make([]any, len(columns)+1), []any{}
		for i := range values {
			to = append(to, &values[i])
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		sum, ok := values[len(columns)].(int64)
		if ok && sumOf(values[:len(columns)]...) == sum {
			continue
		}
		if at := slices.Index(columns, "path"); at >= 0 {
			return fmt.Errorf("image %.80q: %w", fmt.Sprint(values[at]), ErrChanged)
		}
		return fmt.Errorf("%s: %w", table, ErrChanged)
	}
	return rows.Err()
}
