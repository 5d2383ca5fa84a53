package suspects

import (
	"io"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
)

// A spreadsheet takes a cell that begins with = + - @ for a formula and computes it: a label could run what its author
// likes. In a file written for spreadsheets such texts have a ' in front, and so has a text that begins with ' itself. A
// row says so in the column spreadsheet, and is read back without it.
const (
	sheetColumn = "spreadsheet"
	sheetMark   = "quoted"
)

// formulas begin what spreadsheets compute, the wide forms of East Asian keyboards too.
const formulas = "=+-@＝＋－＠"

// Cell returns a text so that no spreadsheet computes it.
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

// Unquoted returns a text of a row, without the ' that a file for spreadsheets has in front of it.
func Unquoted(header, row []string, at int) string {
	if mark := slices.Index(header, sheetColumn); mark >= 0 && row[mark] == sheetMark {
		return uncell(row[at])
	}
	return row[at]
}

// WriteSpreadsheet writes a list as CSV that spreadsheets show and do not compute.
func WriteSpreadsheet(path string, list []Suspect) error {
	return atomicfile.Write(path, func(w io.Writer) error { return writeCSV(w, list, columns, true) })
}
