package decisions

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// SQLite has no sums: a flipped bit in a text or a number stays unnoticed. Each row therefore holds the CRC-32C of its
// values, which is compared whenever the row is read.

// First versions of the file whose rows have sums, and that keep all answers.
const (
	summed   = 3
	answered = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Columns that the sum of a row covers, in order.
var (
	imageColumns = []string{"path", "reviewer", "given", "action", "label", "note", "at", "version", "change",
		"batch"}
	historyColumns = []string{"batch", "path", "given", "action", "label", "note", "at", "before_given",
		"before_action", "before_label", "before_note", "before_at", "before_batch"}
	batchColumns    = []string{"batch", "tab", "reviewer", "at"}
	answerColumns   = []string{"path", "reviewer", "given", "action", "label", "at", "change"}
	questionColumns = []string{"path", "reviewer", "change", "question"}
	pictureColumns  = []string{"path", "at", "bytes", "modified", "content"}
	tagColumns      = []string{"path", "tag", "batch"}
	taggingColumns  = []string{"batch", "path", "tag", "given", "before_batch"}
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
	return eachRow(tx, func(table string, columns []string, key, values []any, sum int64) error {
		if sumOf(values...) == sum {
			return nil
		}
		for i, name := range columns {
			if path, ok := values[i].(string); ok && name == "path" {
				return fmt.Errorf("image %.80q: %w", path, ErrChanged)
			}
		}
		return fmt.Errorf("%s, row %v: %w", table, key[0], ErrChanged)
	})
}

// addSums gives the rows of a file of an earlier version the sums that they lack.
func addSums(tx *sql.Tx, from int64) error {
	type row struct {
		table string
		key   []any
		sum   int64
	}
	var rows []row
	err := eachRow(tx, func(table string, _ []string, key, values []any, _ int64) error {
		if from < summed || table == "answers" {
			rows = append(rows, row{table, key, sumOf(values...)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		where := map[string]string{"images": "path = ? AND reviewer = ?", "history": "n = ?", "batches": "batch = ?",
			"answers": "n = ?", "questions": "n = ?", "pictures": "n = ?",
			"tags": "path = ? AND tag = ?", "taggings": "n = ?"}
		_, err := tx.Exec("UPDATE "+r.table+" SET sum = ? WHERE "+where[r.table], append([]any{r.sum}, r.key...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// eachRow calls do for the rows of all tables that have sums: with the key of the row, the values that the sum covers,
// and the sum.
func eachRow(tx *sql.Tx, do func(table string, columns []string, key, values []any, sum int64) error) error {
	for _, t := range []struct {
		name    string
		key     []string
		columns []string
	}{{"images", []string{"path", "reviewer"}, imageColumns}, {"history", []string{"n"}, historyColumns},
		{"batches", []string{"batch"}, batchColumns}, {"answers", []string{"n"}, answerColumns},
		{"questions", []string{"n"}, questionColumns}, {"pictures", []string{"n"}, pictureColumns},
		{"tags", []string{"path", "tag"}, tagColumns}, {"taggings", []string{"n"}, taggingColumns}} {
		if err := eachOf(tx, t.name, t.key, t.columns, do); err != nil {
			return err
		}
	}
	return nil
}

func eachOf(tx *sql.Tx, table string, key, columns []string,
	do func(table string, columns []string, key, values []any, sum int64) error) error {
	rows, err := tx.Query("SELECT " + strings.Join(append(append([]string{"sum"}, key...), columns...), ", ") +
		" FROM " + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		all := make([]any, 1+len(key)+len(columns))
		to := make([]any, len(all))
		for i := range all {
			to[i] = &all[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		sum, _ := all[0].(int64)
		if err := do(table, columns, all[1:1+len(key)], all[1+len(key):], sum); err != nil {
			return err
		}
	}
	return rows.Err()
}
