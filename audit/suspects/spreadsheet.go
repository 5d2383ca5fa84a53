package suspects

import "strings"

// A spreadsheet evaluates a cell that starts with = + - @ as a formula; some also do so after a tab or a line end. So a
// label could run code. In a file for spreadsheets, texts that start like a formula, or with ', have a ' in front. The
// column spreadsheet marks each row of such a file, and reading the file removes the '.
const (
	SheetColumn = "spreadsheet"
	SheetMark   = "quoted" // the value of each row
)

// formulas holds the characters that start a formula, including the full-width forms of East Asian keyboards.
const formulas = "=+-@＝＋－＠"

// Cell returns the text in a form that no spreadsheet evaluates.
func Cell(s string) string {
	begin := strings.TrimLeft(s, " \t\r\n")
	if s != "" && strings.IndexByte("\t\r\n", s[0]) >= 0 || strings.HasPrefix(begin, "'") ||
		begin != "" && strings.IndexAny(begin, formulas) == 0 {
		return "'" + s
	}
	return s
}

// unescapeCell undoes Cell.
func unescapeCell(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && Cell(rest) == s {
		return rest
	}
	return s
}
