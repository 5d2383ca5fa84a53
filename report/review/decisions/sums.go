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

// SQLite has no checksums, so it does not detect a flipped bit in a text or a number. Each row therefore contains the
// CRC-32C of its values, which is verified when the file is opened.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Columns that the checksum of a row covers, in order.
var (
	imageColumns = []string{"path", "reviewer", "given", "action", "label", "note", "at", "version", "change",
		"batch"}
	historyColumns = []string{"batch", "path", "given", "action", "label", "note", "at", "before_given",
		"before_action", "before_label", "before_note", "before_at", "before_batch"}
	batchColumns   = []string{"batch", "tab", "reviewer", "at"}
	pictureColumns = []string{"path", "at", "bytes", "modified", "content"}
)

// sumOf returns the checksum of a row's values. Each value is preceded by its type.
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
		default: // a value that winnow does not write
			b = fmt.Appendf(append(b, '?'), "%T %v", v, v)
		}
	}
	return int64(crc32.Checksum(b, castagnoli))
}

// ErrChanged is the error for a row whose checksum does not match.
var ErrChanged = errors.New("a stored decision has changed since it was written, because of a disk error or " +
	"another program: use an older copy")

// compareSums verifies the checksums of all rows.
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
