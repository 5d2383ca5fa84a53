package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// oneHotForm is a table without a column of labels whose other columns are the classes: the label's is 1.
const oneHotForm = "a column for each class"

// oneHot are the columns of such a table.
type oneHot struct {
	at        places
	classes   []int
	otherwise error // if the first row shows that the table is no such table
}

// oneHot returns the columns of a table without a column of labels, or nil if it cannot be such: no path, or fewer than
// two other columns.
func (o reading) oneHot(header []string) *oneHot {
	at, _, err := o.findColumns(header)
	if err != nil || at[pathColumn] < 0 || at[labelColumn] >= 0 || o.unlabelled != nil || o.Numbered {
		return nil
	}
	h := &oneHot{at: at}
	for i := range header {
		if !slices.Contains(at[:], i) {
			h.classes = append(h.classes, i)
		}
	}
	if len(h.classes) < 2 {
		return nil
	}
	return h
}

// errSeveral says that a row has several labels.
var errSeveral = errors.New("found several labels, expected one an image")

// labelOfOne returns the name of the column that holds a 1, or errSeveral.
func (h *oneHot) labelOfOne(header, record []string) (string, error) {
	label := ""
	for _, i := range h.classes {
		v, err := strconv.ParseFloat(strings.TrimSpace(record[i]), 64)
		switch {
		case err != nil || v != 0 && v != 1:
			return "", fmt.Errorf("%w: found %.80q in the column %.80q, expected 0 or 1, as in the rows above",
				errOther, record[i], header[i])
		case v == 1 && label != "":
			return "", errSeveral
		case v == 1:
			label = strings.TrimSpace(header[i])
		}
	}
	return label, nil
}

// moveOne exchanges the cells of the given and the new label in a record, as they are written: the 1 moves.
func (h *oneHot) moveOne(header, record []string, was, label string) error {
	column := func(name string) int {
		for _, i := range h.classes {
			if strings.TrimSpace(header[i]) == name {
				return i
			}
		}
		return -1
	}
	from, to := column(was), column(label)
	switch {
	case to < 0:
		return fmt.Errorf("the new label %q is not among the %d columns of classes: add a column of that name to "+
			"the table", label, len(h.classes))
	case from < 0: // the row had no label
		record[to] = "1"
	default:
		record[from], record[to] = record[to], record[from]
	}
	return nil
}
