package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readCSV reads a manifest with a header and fields separated by comma.
func readCSV(r io.Reader, name string, comma rune, opts reading) (*Dataset, error) {
	bounded := &rowReader{r: r}
	in := newCells(bounded, comma)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("datasets: %s: file is empty, expected a header path,label,split", name)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", inTable(name, err))
	}
	header = slices.Clone(header) // the reader uses it again
	at, columns, extra, err := opts.readTableHeader(name, header)
	hot := opts.oneHot(header)
	if err != nil {
		err = fmt.Errorf("datasets: %s:1: %w", name, err)
		if hot == nil {
			return nil, err
		}
		at, columns, extra, hot.otherwise = hot.at, nil, nil, err
	} else {
		hot = nil
	}
	var boxes *boxColumns
	if hot == nil {
		if boxes, err = opts.boxColumns(header, at); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
	}
	rival := opts.newRivals(header, at)
	fields, empty := len(header), 0 // the header itself has been checked
	left, first := map[Left]int{}, true
	b := builder{}
	var next row
	for {
		bounded.row = 0
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			d := b.buildSorted(columns)
			left[Left{Reason: "of empty cells", Of: "rows"}] = empty
			if boxes != nil {
				d.Reading = boxes.describeBoxTable(name, d)
			}
			if hot != nil {
				d.Reading = &Reading{Form: oneHotForm, Left: []Left{}, Empty: []string{}, Alike: lookAlikes(d.Classes)}
				opts.noteLines(name, []string{"read as " + oneHotForm + ": " + strings.Join(d.Classes, ", ")})
			}
			opts.leaveOut(d, name, append(d.leaveOutSeveral(), countReasons(left)...))
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", inTable(name, err))
		}
		line, _ := in.FieldPos(0)
		if len(record) != fields {
			return nil, fmt.Errorf("datasets: %s:%d: %d fields, expected %d as in the header", name, line,
				len(record), fields)
		}
		if !slices.ContainsFunc(record, func(cell string) bool { return cell != "" }) && len(record) > 1 {
			empty++ // as Excel writes below a table
			continue
		}
		if first {
			if first = false; hot == nil {
				columns, extra = opts.guessSplit(name, &at, header, record, columns, extra)
			}
			if boxes != nil {
				if boxes, err = boxes.settleColumns(header, record); err != nil {
					return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
				}
			}
		}
		next = at.newRow(record, extra, b.countAdded())
		if hot != nil {
			if next.label, err = hot.labelOfOne(header, record); errors.Is(err, errOther) && b.countAdded() == 0 {
				return nil, hot.otherwise
			} else if errors.Is(err, errSeveral) {
				left[Left{Reason: joinedLabels, Of: "rows"}]++
				continue
			} else if err != nil {
				return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
			}
		}
		if boxes != nil {
			why, err := boxes.takeRecord(&next, record)
			if err != nil {
				why = notReadable
				boxes.unread = append(boxes.unread, unreadFor(boxes.opts.file, fmt.Sprintf("line %d", line), err))
			}
			if why != "" {
				boxes.left[Left{Reason: why, Of: "rows"}]++
				continue
			}
		}
		if rival != nil {
			err = rival.checkRivals(next.path, next.label, func(i int) string { return trimLineEnd(record[i]) })
		}
		if err := cmp.Or(err, opts.completeRow(&next)); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
		if len(extra) == 0 {
			next.path = b.clonePath(next.path)
		}
		b.addSample(next)
		if b.countAdded() == guessAfter {
			b.reserveRows(float64(opts.size) / float64(in.InputOffset()))
		}
	}
}

// mostRow is the largest row of a table in bytes.
const mostRow = 64 << 20

// rowReader ends with an error where a row is larger than any of a table, such as one whose quote never ends.
type rowReader struct {
	r   io.Reader
	row int64 // bytes read since the last row
}

// Read implements io.Reader.
func (b *rowReader) Read(p []byte) (int, error) {
	if b.row > mostRow {
		return 0, fmt.Errorf("a row has more than %d MB: is there a quote that never ends?", mostRow>>20)
	}
	n, err := b.r.Read(p)
	b.row += int64(n)
	return n, err
}

// appendRow checks, completes and appends a row.
func appendRow(rows []row, r row, opts reading) ([]row, error) {
	if err := opts.completeRow(&r); err != nil {
		return nil, err
	}
	return append(rows, r), nil
}
