package suspects

import (
	"io"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
)

// A spreadsheet computes a cell that begins with = + - @ as a formula: a label could run code of its author. In a
// file for spreadsheets such texts have a ' in front, and so have texts that begin with '. The column spreadsheet
// marks these rows, so that reading removes the '.
const (
	sheetColumn = "spreadsheet"
	sheetMark   = "quoted"
)

// formulas are the characters that begin a formula, including the wide forms of East Asian keyboards.
const formulas = "=+-@＝＋－＠"

// Cell returns a text that no spreadsheet computes.
func Cell(s string) string {
	begin := strings.TrimLeft(s, " \t\r\n")
	if strings.HasPrefix(begin, "'") || begin != "" && strings.IndexAny(begin, formulas) == 0 {
		return "'" + s
	}
	return s
}

// uncell undoes Cell.
func uncell(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && Cell(rest) == s {
		return rest
	}
	return s
}

// Unquoted returns a cell of a row, without the ' that a file for spreadsheets puts in front of it.
func Unquoted(header, row []string, at int) string {
	if mark := slices.Index(header, sheetColumn); mark >= 0 && row[mark] == sheetMark {
		return uncell(row[at])
	}
	return row[at]
}

// WriteSpreadsheet writes a list as CSV that spreadsheets show but do not compute.
func WriteSpreadsheet(path string, list []Suspect) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writeCSV(w, list, columns, true) })
}
