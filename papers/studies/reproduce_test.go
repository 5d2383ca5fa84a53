package studies

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const example = `
name: example
title: Two methods
paper: Nobody (999)
source: Table 0
measures: [p@1, map@r]
columns:
  - {name: ten, data: birds, noise: symmetric, rate: 0.1}
  - {name: half, data: birds, noise: symmetric, rate: 0.5}
rows:
  - {name: plain, recipe: prism/mcl, paper: [70.5/20.1, 40]}
  - {name: filtered, recipe: prism/mcl-vmf, paper: ["71.5/21.0 ?", "-"]}
  - {name: top, recipe: prism/mcl, labels: topline}
  - {name: share of top, ratio: {of: plain, to: top}}
claims:
  - {say: filtered is better, better: filtered, than: [plain]}
  - {say: filtered reaches 0.7, better: filtered, at_least: 0.7, columns: ten}
  - {say: less noise is better, better: [plain], better_columns: ten, than_columns: half}
`

func parsed(t *testing.T, text string) *Study {
	t.Helper()
	s, err := parseStudy("example", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// filled returns results with two seeds of every cell: plain .70 .72 | .50 .50, filtered .72 .75 | .49 .53, top .80 .80
// | .75 .75.
func filled(t *testing.T, standIn bool) *Results {
	r := NewResults(parsed(t, example), "birds.csv", standIn)
	for i, row := range [][][]float64{
		{{.70, .72}, {.50, .50}}, {{.72, .75}, {.49, .53}}, {{.80, .80}, {.75, .75}},
	} {
		for j, seeds := range row {
			for k, v := range seeds {
				r.Add(Cell{Row: i, Column: j, Seed: uint64(k + 1)}, Outcome{
					Data: "birds.csv", Measures: map[string]float64{"p@1": v, "map@r": v / 2}, Seconds: 2,
				})
			}
		}
	}
	return r
}

func TestEveryStudy(t *testing.T) {
	all, err := List()
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	for _, s := range all {
		checkStudy(t, s)
		if found, err := Find(s.Name); err != nil || found.Title != s.Title {
			t.Errorf("%s: %v", s.Name, err)
		}
		if _, err := os.Stat(filepath.Join("studies", s.Name+".yaml")); err != nil {
			t.Errorf("a study has the name of its file: %v", err)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), all[0].Name) {
		t.Error(err)
	}
}

// checkStudy reports inconsistencies in a study.
func checkStudy(t *testing.T, s Study) {
	t.Helper()
	bad := func(format string, args ...any) { t.Errorf(s.Name+": "+format, args...) }
	if s.Title == "" || s.Paper == "" || s.Source == "" || len(s.Measures)*len(s.Rows)*len(s.Columns)*s.Seeds == 0 ||
		s.State != Last && s.State != Best || s.Unit != "percent" && s.Unit != "share" {
		bad("a field is missing or has an unknown value: %+v", s)
	}
	columns := func(names []string) {
		for _, name := range names {
			if slices.Index(s.ColumnNames(), name) < 0 {
				bad("there is no column %q", name)
			}
		}
	}
	rows := func(names []string) {
		for _, name := range names {
			if s.findRowIndex(name) < 0 {
				bad("there is no row %q", name)
			}
		}
	}
	for i, c := range s.Columns {
		if c.Name == "" || slices.Index(s.ColumnNames(), c.Name) != i || !(c.Rate >= 0 && c.Rate < 1) ||
			(c.Data == Drawn) != s.Drawn() {
			bad("column %+v", c)
		}
	}
	for i, r := range s.Rows {
		draws, ways := r.Estimator != "", 0
		for _, is := range []bool{r.Recipe != "", r.Ratio != nil, r.Untrained != "",
			r.Judge != "" && r.Recipe == "", draws} {
			if is {
				ways++
			}
		}
		if r.Name == "" || s.findRowIndex(r.Name) != i || ways != 1 || draws != s.Drawn() && r.Ratio == nil ||
			r.Labels != "" && !slices.Contains([]string{Noisy, True, Topline, Oracle, Random}, r.Labels) ||
			r.Whole != "" && r.Recipe == "" || !slices.Contains([]string{"", Frozen, Whitened}, r.Untrained) ||
			r.Network != "" && (r.Ratio != nil || r.Judge != "") ||
			len(r.Paper) > 0 && len(r.Paper) != len(s.Columns) {
			bad("row %+v", r)
		}
		if r.Ratio != nil {
			rows([]string{r.Ratio.Of, r.Ratio.To})
		}
		for _, n := range r.Paper {
			if len(n.Values) > len(s.Measures) {
				bad("row %s: %v in a cell of %d measures", r.Name, n.Values, len(s.Measures))
			}
		}
		columns(r.Skip)
	}
	for _, c := range s.Claims {
		ways := 0
		for _, is := range []bool{len(c.Than)+len(c.BetterColumns) > 0, c.AtLeast != nil, c.AtMost != nil} {
			if is {
				ways++
			}
		}
		if c.Say == "" || len(c.Better) == 0 || ways != 1 ||
			(len(c.BetterColumns) > 0) != (len(c.ThanColumns) > 0) ||
			c.Measure != "" && !slices.Contains(s.Measures, c.Measure) {
			bad("claim %+v", c)
		}
		rows(slices.Concat(c.Better, c.Than))
		columns(slices.Concat(c.Columns, c.BetterColumns, c.ThanColumns))
	}
	kinds := []string{OverColumns, OverSteps, Histograms, Boxes}
	if c := s.Chart; c != nil && (!slices.Contains(kinds, c.Kind) ||
		c.Measure != "" && !slices.Contains(s.Measures, c.Measure) ||
		slices.Contains(kinds[1:4], c.Kind) && c.Trace == "" || slices.Contains(kinds[2:4], c.Kind) && len(c.At) == 0) {
		bad("chart %+v", c)
	}
}

// Items contains every table and figure of the five papers, in the numbers counted in the papers, and every study.
func TestItems(t *testing.T) {
	all, err := Items()
	if err != nil {
		t.Fatal(err)
	}
	found, made := map[string]int{}, map[string]bool{}
	for _, it := range all {
		kind, _, _ := strings.Cut(it.Item, " ")
		if it.Paper != "winnow" && (kind == "Table" || kind == "Fig.") {
			found[it.Paper+" "+kind]++
		}
		if (it.Why != "") == (len(it.Studies) > 0 || it.Command != "") || len(it.Studies) > 0 && len(it.Data) == 0 {
			t.Errorf("%+v: expected either studies or a command, or a reason", it)
		}
		for _, name := range it.Studies {
			made[name] = true
		}
	}
	want := map[string]int{"000 Fig.": 7, "001 Table": 6, "001 Fig.": 7, "002 Table": 2, "002 Fig.": 5,
		"003 Table": 1, "003 Fig.": 7, "004 Table": 4, "004 Fig.": 2}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if !made[s.Name] {
			t.Errorf("%s is not in the list", s.Name)
		}
	}
}

func TestSummary(t *testing.T) {
	r := filled(t, false)
	got := r.summarizeCell(1, 0, "p@1")
	if got.N != 2 || math.Abs(got.Mean-73.5) > 1e-9 || math.Abs(got.SD-3/math.Sqrt2) > 1e-9 || got.Paper != 71.5 ||
		!got.Doubtful {
		t.Errorf("%+v", got)
	}
	if ratio := r.summarizeCell(3, 1, "p@1"); math.Abs(ratio.Mean-.5/.75) > 1e-9 {
		t.Errorf("%+v", ratio)
	}
	if s := filled(t, true).summarizeCell(1, 0, "p@1"); !math.IsNaN(s.Paper) {
		t.Errorf("the paper's number is shown for other data: %+v", s)
	}
}

func TestVerdicts(t *testing.T) {
	v := filled(t, false).TestClaims()
	if len(v) != 3 {
		t.Fatal(len(v))
	}
	better := v[0].Comparisons
	if len(better) != 2 || better[0].Mean <= 0 || better[1].Mean <= 0 || better[0].N != 2 {
		t.Fatalf("%+v", better)
	}
	// two seeds are tested by the same rule as any number of seeds
	if c := better[0]; math.IsNaN(c.P) || c.State != CannotSay ||
		!strings.Contains(c.Format(), ", 2 seeds, p ") {
		t.Errorf("%+v: %s", c, c.Format())
	}
	if better[0].Paper == nil || !*better[0].Paper || better[1].Paper != nil {
		t.Errorf("in the paper: %v, %v", better[0].Paper, better[1].Paper)
	}
	if c := v[1].Comparisons; len(c) != 1 || math.Abs(c[0].Mean-.035) > 1e-9 || c[0].Paper == nil || !*c[0].Paper {
		t.Errorf("%+v", c)
	}
	if c := v[2].Comparisons; len(c) != 1 || math.Abs(c[0].Mean-.21) > 1e-9 || !*c[0].Paper {
		t.Errorf("%+v", c)
	}
}

// An at_most claim has the opposite sign of an at_least claim with the same value, even for the paper's numbers.
func TestAtMost(t *testing.T) {
	const sized = "at_least: 0.7, columns: ten}"
	for claim, want := range map[string]float64{
		"at_least: 0.5": 0.235, "at_most: 0.5": -0.235, "at_least: 0.9": -0.165, "at_most: 0.9": 0.165,
		"at_most: 0.9, by: 0.3": -0.135,
	} {
		r := filled(t, false)
		r.Study = parsed(t, strings.Replace(example, sized, claim+", columns: ten}", 1))
		c := r.TestClaims()[1].Comparisons[0]
		if math.Abs(c.Mean-want) > 1e-9 || c.Paper == nil || *c.Paper != (want > 0) {
			t.Errorf("%s of .72 and .75, .715 in the paper: found %+.3f, %v", claim, c.Mean, *c.Paper)
		}
	}
}

// TestClaimStates: a claim about all comparisons fails with one counterexample even if others were not run, and holds
// only if all hold; a claim about most is decided once its majority is certain.
func TestClaimStates(t *testing.T) {
	list := func(states ...State) (out []Comparison) {
		for _, s := range states {
			out = append(out, Comparison{State: s})
		}
		return out
	}
	for _, c := range []struct {
		most bool
		of   int
		run  []Comparison
		want State
	}{
		{false, 0, nil, CannotSay},
		{false, 3, list(Fails), Fails},
		{false, 3, list(Holds, CannotSay, Fails), Fails},
		{false, 3, list(Holds, Holds), CannotSay},
		{false, 2, list(Holds, Holds), Holds},
		{false, 2, list(Holds, CannotSay), CannotSay},
		{true, 5, list(Holds, Holds, Fails, Holds), Holds},
		{true, 5, list(Holds, Holds, Fails), CannotSay},
		{true, 4, list(Fails, Fails), Fails},
	} {
		v := Verdict{Claim: Claim{Most: c.most}, Comparisons: c.run, Of: c.of}
		if got := v.State(); got != c.want {
			t.Errorf("most %v, %v of %d: found %q, expected %q", c.most, c.run, c.of, got, c.want)
		}
	}
}

func TestVerdictFails(t *testing.T) {
	r := filled(t, false)
	for seed := range 3 {
		r.Add(Cell{Row: 1, Column: 0, Seed: uint64(seed + 1)}, Outcome{
			Measures: map[string]float64{"p@1": .1 + .01*float64(seed)}})
		r.Add(Cell{Row: 0, Column: 0, Seed: uint64(seed + 1)}, Outcome{Measures: map[string]float64{"p@1": .7}})
	}
	if v := r.TestClaims()[0]; v.Comparisons[0].State != Fails || v.State() != Fails || v.Count(Fails) != 1 {
		t.Errorf("%+v", v)
	}
}

// The state of a comparison depends on the differences, on the number of seeds, and on the number of comparisons.
func TestStates(t *testing.T) {
	clear, noisy := []float64{.02, .021, .022, .02, .021}, []float64{.02, .03, .01, .04, -.03}
	for _, c := range []struct {
		name   string
		d      []float64
		others int
		want   State
	}{
		{"five seeds, clear", clear, 0, Holds},
		{"five seeds, by chance", noisy, 0, CannotSay},
		{"five seeds, just significant, alone", []float64{.01, .02, .03, .01, .05}, 0, Holds},
		{"five seeds, just significant, among ten", []float64{.01, .02, .03, .01, .05}, 9, CannotSay},
		{"five seeds, clear, among ten", clear, 9, Holds},
		{"five seeds, clearly below", []float64{-.02, -.021, -.022, -.02, -.021}, 0, Fails},
		{"three seeds agree by chance", []float64{.01, .001, .1}, 0, CannotSay},
		{"three seeds, clear", []float64{.02, .021, .022}, 0, Holds},
		{"three seeds, clearly below", []float64{-.02, -.021, -.022}, 0, Fails},
		{"three seeds disagree", []float64{.01, .001, -.1}, 0, CannotSay},
		{"one of three ties", []float64{.01, .01, 0}, 0, CannotSay},
		{"two seeds", []float64{.1, .1}, 0, CannotSay},
		{"one seed", []float64{.1}, 0, CannotSay},
	} {
		s := &Study{
			Measures: []string{"p@1"}, Rows: []Row{{Name: "a"}, {Name: "b"}},
			Claims: []Claim{{Say: "a above b", Better: Names{"a"}, Than: Names{"b"}}},
		}
		r := NewResults(s, "x", true)
		for column := range 1 + c.others {
			s.Columns = append(s.Columns, Column{Name: fmt.Sprint(column)})
			for seed, v := range c.d {
				if column > 0 {
					v = noisy[seed]
				}
				for row, v := range []float64{.5 + v, .5} {
					r.Add(Cell{Row: row, Column: column, Seed: uint64(seed + 1)}, Outcome{
						Measures: map[string]float64{"p@1": v},
					})
				}
			}
		}
		v := r.TestClaims()[0]
		if got := v.Comparisons[0]; got.State != c.want {
			t.Errorf("%s: %s (p %v, corrected %v), want %s", c.name, got.State, got.P, got.Holm, c.want)
		}
		if c.others > 0 && v.State() != CannotSay {
			t.Errorf("%s: the claim %s, of %s", c.name, v.State(), v.CountStates())
		}
	}
	s := &Study{
		Measures: []string{"p@1"}, Rows: []Row{{Name: "a"}, {Name: "b"}}, Columns: []Column{{Name: "x"}},
		Claims: []Claim{
			{Say: "one", Better: Names{"a"}, Than: Names{"b"}}, {Say: "the same", Better: Names{"a"}, Than: Names{"b"}},
			{Say: "another", Better: Names{"a"}, Than: Names{"b"}, By: .001},
		},
	}
	r := NewResults(s, "x", true)
	for seed, v := range noisy {
		r.Add(Cell{Row: 0, Seed: uint64(seed + 1)}, Outcome{Measures: map[string]float64{"p@1": .5 + v}})
		r.Add(Cell{Row: 1, Seed: uint64(seed + 1)}, Outcome{Measures: map[string]float64{"p@1": .5}})
	}
	own := r.TestClaims()[0].Comparisons[0]
	s.Joint = true
	if joint := r.TestClaims()[0].Comparisons[0]; own.Holm != own.P || joint.Holm != 3*own.P {
		t.Errorf("p %v: %v within its claim, %v over three", own.P, own.Holm, joint.Holm)
	}
	most := Verdict{Claim: Claim{Most: true}, Of: 3,
		Comparisons: []Comparison{{State: Holds}, {State: Holds}, {State: Fails}}}
	if all := (Verdict{Of: 3, Comparisons: most.Comparisons}); most.State() != Holds || all.State() != Fails {
		t.Errorf("claim about most: %s, claim about all: %s", most.State(), all.State())
	}
	if part := (Verdict{Of: 4, Claim: most.Claim, Comparisons: most.Comparisons}); part.State() != CannotSay {
		t.Errorf("claim with three of four comparisons run: %s", part.State())
	}
}

// Every page shows the results of the last states in addition to those of the states that validation chose.
func TestLastStates(t *testing.T) {
	r := filled(t, false)
	r.Add(Cell{Row: 0, Column: 0, Seed: 1}, Outcome{
		Measures: map[string]float64{"p@1": .7, "map@r": .3}, Last: map[string]float64{"p@1": .6, "map@r": .2},
	})
	var md, table bytes.Buffer
	if err := errors.Join(r.Markdown(&md), r.CSV(&table)); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		md.String(): "| p@1 %, last state | ten |", table.String(): `"p@1, last state",0.6,`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("lacks %q:\n%s", want, page)
		}
	}
}

func TestPages(t *testing.T) {
	r := filled(t, false)
	var page, md, table bytes.Buffer
	if err := errors.Join(r.HTML(&page), r.Markdown(&md), r.CSV(&table)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"73.50 ±2.12 (71.50?)",
		"2 of 2 comparisons run, holds in 0",
		"0.667 ±0.000"} {
		for name, page := range map[string]string{
			"html": html.UnescapeString(page.String()), "markdown": md.String(),
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, page)
			}
		}
	}
	lines, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(lines) != 1+3*2*2*2 {
		t.Errorf("%d lines: %v", len(lines), err)
	}
	var other bytes.Buffer
	err = filled(t, true).Markdown(&other)
	if told := other.String(); err != nil || strings.Contains(told, "71.50") ||
		!strings.Contains(told, "not the paper's data") {
		t.Error(err, told)
	}
}

// A claim is undecided if one of its cells has not been run, for all seeds or for all but one.
func TestNoVerdictWithoutItsCells(t *testing.T) {
	const text = `
name: example
title: Two methods
paper: Nobody (999)
source: Table 0
measures: [p@1]
columns:
  - {name: ten, data: birds, noise: symmetric, rate: 0.1}
  - {name: half, data: birds, noise: symmetric, rate: 0.5}
rows:
  - {name: plain, recipe: prism/mcl}
  - {name: filtered, recipe: prism/mcl-vmf}
claims:
  - {say: filtered is better, better: filtered, than: plain}
  - {say: less noise is better, better: plain, better_columns: ten, than_columns: half}
  - {say: noise costs plain less, better: plain, than: filtered, better_columns: half, than_columns: ten}
`
	of := map[[2]int]float64{{0, 0}: .6, {0, 1}: .4, {1, 0}: .7, {1, 1}: .45} // row, column
	results := func(left func(row, column, seed int) bool) []Verdict {
		r := NewResults(parsed(t, text), "birds.csv", false)
		for at, mean := range of {
			for seed := 1; seed <= 5; seed++ {
				if !left(at[0], at[1], seed) {
					value := mean + .001*float64((seed*(1+at[0]+2*at[1]))%7)
					r.Add(Cell{Row: at[0], Column: at[1], Seed: uint64(seed)},
						Outcome{Measures: map[string]float64{"p@1": value}})
				}
			}
		}
		return r.TestClaims()
	}
	for i, v := range results(func(int, int, int) bool { return false }) {
		if v.State() != Holds {
			t.Fatalf("claim %d with all cells: %s", i, v.State())
		}
	}
	for at := range of {
		for i, v := range results(func(row, column, _ int) bool { return row == at[0] && column == at[1] }) {
			if needs := i != 1 || at[0] == 0; needs && (v.State() != CannotSay || len(v.Comparisons) == v.Of) {
				t.Errorf("claim %d without %v: %s, %d of %d comparisons", i, at, v.State(), len(v.Comparisons), v.Of)
			}
		}
		for i, v := range results(func(row, column, seed int) bool {
			return row == at[0] && column == at[1] && seed > 1
		}) {
			if needs := i != 1 || at[0] == 0; needs && v.State() != CannotSay { // a t-test needs two seeds
				t.Errorf("claim %d with one seed of %v: %s", i, at, v.State())
			}
		}
	}
}
