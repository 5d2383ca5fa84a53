package inspect

import (
	"strings"
	"testing"
)

// A table of the classes for spreadsheets says in each row that texts are protected, as lists do.
func TestClassesForSpreadsheets(t *testing.T) {
	a := &Report{Classes: []Class{{Class: "=cmd", Images: 3, Like: "'b"}, {Class: "b", Like: "c"}}}
	for sheet, want := range map[bool]string{
		false: "looks_like_two|=cmd,3,0,0,0,0,'b,0,false,0,false|b,0,0,0,0,0,c,0,false,0,false|",
		true: "looks_like_two,spreadsheet|'=cmd,3,0,0,0,0,''b,0,false,0,false,quoted|" +
			"b,0,0,0,0,0,c,0,false,0,false,quoted|",
	} {
		var out strings.Builder
		if err := a.writeClasses(&out, sheet); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(out.String(), "\n", "|"); !strings.HasSuffix(got, ","+want) {
			t.Errorf("%v: %q, expected %q", sheet, got, want)
		}
	}
}
