package suspects

import "strings"

// A spreadsheet computes a cell that begins with = + - @ as a formula, and some also one behind a tab or a line end:
// a label could run code of its author. In a file for spreadsheets texts that begin so have a ' in front, and so have
// texts that begin with '. Files with the column spreadsheet say so in each row, so that reading removes the '.
const (
	SheetColumn = "spreadsheet"
	SheetMark   = "quoted" // the value of each row
)

// formulas are the characters that begin a formula, including the wide forms of East Asian keyboards.
const formulas = "=+-@＝＋－＠"

// Cell returns a text that no spreadsheet computes.
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
