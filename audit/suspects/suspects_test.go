package suspects

import (
	"bytes"
	compare "cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var formats = []Format{CSV, JSON}

// readText reads a list in the given format from a text.
func readText(t testing.TB, text string, format Format) ([]Suspect, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x."+string(format))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(file)
}

func ref(v float64) *float64 { return &v }

// made returns a list like an audit's. Numbers have no more digits than CSV keeps.
func made(n int) []Suspect {
	rng := rand.New(rand.NewPCG(1, 2))
	score := func() float64 { return float64(rng.IntN(1e6)) / 1e6 }
	path := func() string { return fmt.Sprintf("c%02d/%06d.jpg", rng.IntN(50), rng.IntN(n)) }
	list := make([]Suspect, n)
	for i := range list {
		e := &list[i]
		*e = Suspect{Rank: i + 1, Path: fmt.Sprintf("c%02d/%06d.jpg", i%50, i), Given: strconv.Itoa(i % 50),
			Suggested: strconv.Itoa(rng.IntN(50)),
			Score:     score(), SuggestedScore: ref(score()), Flagged: i < n/5, Outlier: rng.IntN(30) == 0,
			RateKnown: n%2 == 1}
		for range 3 {
			e.SupportGiven = append(e.SupportGiven, Near{Path: path(), Similarity: score()})
			e.SupportSuggested = append(e.SupportSuggested, Near{Path: path(), Similarity: score()})
		}
		if i%2 == 0 {
			e.SuggestedProbability, e.Fit, e.True = e.SuggestedScore, ref(-score()), strconv.Itoa(i%50)
		}
		if i%9 == 4 {
			e.Checked = []Verdict{Kept, Wrong}[i%2]
		}
		if rng.IntN(100) == 0 {
			e.Copies = []Copy{{Path: path(), Label: "7", Similarity: 0.99}}
			e.Problems = []Problem{{"dark", "a|b, 7 %"}, {"odd size", "3×4 pixels"}}[:rng.IntN(3)]
			e.CopyGroup, e.CopyVerdict = i+1, []Verdict{Kept, Wrong, Look, ""}[rng.IntN(4)]
		}
	}
	return list
}

func written(t testing.TB, format Format, list []Suspect) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, list); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	odd := []Suspect{
		{Rank: 1, Path: `a|b\c\\|.jpg`, Given: "a|b", Suggested: `\`, Score: -0.25, SuggestedScore: ref(0.5),
			True: "ü", Flagged: true,
			SupportGiven:     []Near{{Path: `\|`, Similarity: 1}, {Path: "x\ny,\"z\".png", Similarity: -1}},
			SupportSuggested: []Near{{Path: `|`, Similarity: 0.125}}, Fit: ref(-3), Outlier: true,
			GivenProbability: ref(0.25), Unjudged: true,
			Copies: []Copy{{Path: `one\`, Label: "l|1", Similarity: 0.999}, {Label: `"`, Similarity: 0.5}}},
		{Rank: 2, Path: "鳥/\t 1.jpg ", Given: " ", Suggested: "\"", Score: 1e-300, SuggestedProbability: ref(1)},
		{Rank: 5, Path: "=1+1", Given: "null", Suggested: "NaN", Score: 1},
	}
	for _, format := range formats {
		for name, list := range map[string][]Suspect{"odd": odd, "many": made(1000)} {
			file := filepath.Join(t.TempDir(), "x."+string(format))
			if err := os.WriteFile(file, written(t, format, list), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(file)
			if err != nil {
				t.Fatalf("%s, %s: %v", format, name, err)
			}
			if len(list) != len(got) {
				t.Fatalf("%s, %s: %d of %d rows read", format, name, len(got), len(list))
			}
			if diff := cmp.Diff(list, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%.3000s", format, name, diff)
			}
		}
	}
}

// A row that was edited or moved, or whose previous row was removed, is read and marked as changed; no other row is.
// Lists without checksums, or with another tool's column of that name, are read without marks.
func TestChanged(t *testing.T) {
	list := []Suspect{
		{Rank: 1, Path: "a.jpg", Given: "cat", Suggested: "dog", Score: 0.125, Flagged: true,
			SupportGiven: []Near{{"n.jpg", 0.5, 0}}},
		{Rank: 2, Path: "\xfc.jpg", Given: "cat", Suggested: "cat", Score: 1.0 / 3, SuggestedScore: ref(1e-7)},
		{Rank: 3, Path: "b.jpg", Given: "cow", Suggested: "cow", Score: 0.75},
	}
	for _, format := range formats {
		for name, c := range map[string]struct {
			from, to string
			want     []bool
		}{
			"nothing":    {"", "", []bool{false, false, false}},
			"score":      {`0\.125`, "0.5", []bool{true, false, false}},
			"suggestion": {`(cat,|"suggested_label":")dog`, "${1}hen", []bool{true, false, false}},
			"flag":       {`(,|"dropped":)true`, "${1}false", []bool{true, false, false}},
			"neighbour":  {`n\.jpg`, "c.jpg", []bool{true, false, false}},
			"removed":    {`(?m)^.*fc?\.jpg.*\n|^.*"rank":2.*\n|^2,.*\n`, "", []bool{false, true}},
			"checksum":   {`x[0-9a-f]{8}`, "x00000000", []bool{true, true, true}},
			"without":    {`,checksum|,"checksum":"x[0-9a-f]{8}"|,x[0-9a-f]{8}`, "", []bool{false, false, false}},
			"another's":  {`x[0-9a-f]{8}`, "d41d8cd98f00b204", []bool{false, false, false}},
		} {
			text := regexp.MustCompile(c.from).ReplaceAll(written(t, format, list), []byte(c.to))
			file := filepath.Join(t.TempDir(), "x."+string(format))
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			var got []bool
			if _, err := Each(file, func(e Suspect) error {
				got = append(got, e.Changed)
				return nil
			}); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: changed %v, %v; expected %v:\n%s", format, name, got, err, c.want, text)
			}
		}
	}
}

// Reading a file for spreadsheets removes the quotes in front of texts that start like a formula.
func TestSpreadsheet(t *testing.T) {
	got, err := readText(t, "path,given_label,suggested_label,score,spreadsheet\n'=1.jpg,'+x,''a,-0.5,quoted\n", CSV)
	want := []Suspect{{Rank: 1, Path: "=1.jpg", Given: "+x", Suggested: "'a", Score: -0.5}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("'= a-\t\r"))).Draw(t, "text")
		if unescapeCell(Cell(s)) != s {
			t.Fatalf("%q became %q by way of %q", s, unescapeCell(Cell(s)), Cell(s))
		}
	})
}

func TestCleanlab(t *testing.T) {
	list := made(300)
	list[3].Path, list[4].Given = `a, "b".jpg`, "ü"
	path := filepath.Join(t.TempDir(), "issues.CLEANLAB.csv")
	if err := WriteFile(path, list); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\n")
	if want := "path,is_label_issue,label_score,given_label,suggested_label"; head != want {
		t.Errorf("header %q, expected %q", head, want)
	}
	var want []Suspect
	for _, e := range list {
		want = append(want, Suspect{Path: e.Path, Given: e.Given, Suggested: e.Suggested, Score: e.Score,
			Flagged: e.Flagged})
	}
	slices.SortStableFunc(want, func(a, b Suspect) int { return compare.Compare(a.Score, b.Score) })
	for i := range want {
		want[i].Rank = i + 1
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	calls, err := Each(path, func(Suspect) error { return nil })
	if !calls || err != nil {
		t.Errorf("the list flags labels: %v, %v", calls, err)
	}
}

func TestJoin(t *testing.T) {
	value := rapid.StringOf(rapid.RuneFrom([]rune(`ab\|,"`)))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(value, 0, 4).Draw(t, "values")
		if len(values) == 1 && values[0] == "" {
			return // equals no values; paths are not empty
		}
		if got := splitValues(nil, joinValues(values)); !cmp.Equal(values, got, cmpopts.EquateEmpty()) {
			t.Fatalf("%q became %q by way of %q", values, got, joinValues(values))
		}
	})
	if got := splitValues(nil, `a\b|c\`); !cmp.Equal(got, []string{`a\b`, `c\`}) {
		t.Errorf("unescaped list: %q", got)
	}
}

// Lists of other tools may have few columns, other names, no ranks, and numbers as labels.
func TestReadOthers(t *testing.T) {
	want := []Suspect{
		{Rank: 1, Path: "b.jpg", Given: "7", Suggested: "3", Score: 0.125},
		{Rank: 2, Path: "a.jpg", Given: "3", Suggested: "3", Score: 0.5},
		{Rank: 3, Path: "c.jpg", Given: "7", Suggested: "7", Score: 0.5},
	}
	for name, text := range map[string]struct {
		format Format
		text   string
	}{
		"csv": {CSV, "path,label,suggested_label,score\na.jpg,3,3,0.5\nb.jpg,7,3,.125\nc.jpg,7,7,0.5\n"},
		"bom": {CSV, "\ufeffScore,Path, Given_Label ,predicted_label,label\r\n" +
			"0.5,a.jpg,3,3,x\r\n0.125,b.jpg,7,3,x\r\n0.5,c.jpg,7,7,x\r\n"},
		"json": {JSON, `[{"path":"a.jpg","label":"3","predicted_label":3,"score":0.5},` +
			`{"path":"b.jpg","label":"7","predicted_label":3,"score":0.125},` +
			`{"path":"c.jpg","label":"7","predicted_label":7,"score":0.5}]`},
	} {
		got, err := readText(t, text.text, text.format)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A data frame of cleanlab's confident learning, joined with the paths.
	frame := ",path,is_label_issue,label_quality,given_label,predicted_label\n0,\"a, é.jpg\",True,0.03125,\"cat, " +
		"\"\"big\"\"\",鳥\n1,b.jpg,False,0.5,鳥,鳥\n"
	want = []Suspect{{Rank: 1, Path: "a, é.jpg", Given: `cat, "big"`, Suggested: "鳥", Score: 0.03125, Flagged: true},
		{Rank: 2, Path: "b.jpg", Given: "鳥", Suggested: "鳥", Score: 0.5}}
	if got, err := readText(t, frame, CSV); err != nil ||
		!cmp.Equal(want, got, cmpopts.EquateEmpty()) {
		t.Errorf("data frame: %+v, %v", got, err)
	}
	whole := `{"scorer":"centres","classes":[{"class":"a]"},[]],` +
		`"images":[{"path":"a.jpg","given_label":"a","suggested_label":"b","score":0}],"left_out":[]}`
	if got, err := readText(t, whole, JSON); err != nil || len(got) != 1 ||
		got[0].Suggested != "b" {
		t.Errorf("object of winnow audit --json: %+v, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	const head = "path,given_label,suggested_label,score,rank,fit," +
		"nearest_with_given_label,nearest_with_given_label_similarity,outlier\n"
	for _, c := range []struct {
		format Format
		text   string
		want   string
	}{
		{CSV, "", "EOF"},
		{CSV, head, "no rows, expected"},
		{CSV, "path,label,score\n", "columns path,label,score: missing suggested_label or predicted_label"},
		{CSV, head + "a.jpg,x,y,1,1,,,,\nb.jpg,x\n", "line 3: wrong number of fields"},
		{CSV, head + "a.jpg,x,y,NaN,1,,,,\n", `line 2: score: found "NaN", expected a finite number`},
		{CSV, head + "\"a\nb.jpg\",x,y,0,1,,,,\n,x,y,0,2,,,,\n", "line 4: path: found an empty value"},
		{CSV, head + "a.jpg,x,y,0,0,,,,\n", `line 2: rank: found "0", expected a whole number from 1`},
		{CSV, head + "a.jpg,x,y,0,1,,,,\nb.jpg,x,y,0,,,,,\n", "1 of 2 rows have a rank, expected all or none"},
		{CSV, head + "a.jpg,x,y,0,1,,p|q,0.5,\n", "line 2: nearest_with_given_label_similarity: 1 values"},
		{CSV, head + "a.jpg,\"" + strings.Repeat("x,y\n", mostOfRow/4+1<<16), "a row is longer than 16 MiB"},
		{JSON, "{\n\"images\":\n3}", "found \"3\", expected a list of images"},
		{JSON, "{\"a\":[{}]}", "object without \"images\""},
		{JSON, "[\n{\"path\":\"a\",\"label\":\"x\",\"suggested_label\":\"x\",\"score\":1},\n{\"path\":\"a\"}]",
			"lacks one of path"},
		{JSON, "[{\"path\":\"a\",\n", "EOF"},
		{JSON, "[]", "no rows, expected"},
		{JSON, "[{\"path\":\"a" + strings.Repeat("a", mostOfRow+1<<16), "a row is longer than 16 MiB"},
	} {
		if _, err := readText(t, c.text, c.format); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "suspects: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.60q: got %v, expected %q in it", c.format, c.text, err, c.want)
		}
	}
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none.csv"), filepath.Join(dir, "x.txt"), dir} {
		if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), "suspects: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestEach: in every format, Each passes the rows in the order of the file, with their ranks, and returns an error of
// yield unchanged.
func TestEach(t *testing.T) {
	list := made(500)
	slices.Reverse(list)
	stop := errors.New("enough")
	for _, format := range formats {
		file := filepath.Join(t.TempDir(), "x."+string(format))
		if err := os.WriteFile(file, written(t, format, list), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []Suspect
		if calls, err := Each(file, func(e Suspect) error { got = append(got, e); return nil }); err != nil || !calls {
			t.Fatalf("%s: %v, has flags: %t", format, err, calls)
		}
		if diff := cmp.Diff(list, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", format, diff)
		}
		n := 0
		if _, err := Each(file, func(Suspect) error {
			if n++; n == 3 {
				return stop
			}
			return nil
		}); err != stop || n != 3 {
			t.Errorf("%s: %v after %d rows, expected %v after 3", format, err, n, stop)
		}
	}
}

// A score is printed according to its kind, with only meaningful digits.
func TestSaid(t *testing.T) {
	for want, e := range map[string]Suspect{
		"not judged": {Score: 1, GivenProbability: ref(1), Unjudged: true},
		"< 0.1 %":    {Score: 1.9e-109, GivenProbability: ref(1.9e-109)}, "> 99.9 %": {GivenProbability: ref(0.99999)},
		"3.0 %": {GivenProbability: ref(0.03)}, "-0.123": {Score: -0.123456}, "≈ 0": {Score: 1.9e-109}, "0": {},
		"-1.23e+04": {Score: -12345},
	} {
		if got := e.Said(); got != want {
			t.Errorf("%+v: text %q, expected %q", e, got, want)
		}
	}
}
