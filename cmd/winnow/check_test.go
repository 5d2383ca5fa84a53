package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/glyphs"
)

// planted is a set of drawn characters, in set/ with the list old.csv, and new.csv with faults of each kind.
var planted fixture

// plantFaults writes the set. Image i of class k has the path k/i.png and the label k.
func plantFaults(t *testing.T) {
	t.Helper()
	planted.here(t, func() {
		d, files, err := glyphs.New(glyphs.Config{Classes: 12, Images: 30, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		old, number := "path,label,split\n", map[int]int{}
		for _, s := range d.Samples {
			data, err := fs.ReadFile(files, s.Path)
			if err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("%d/%d.png", s.Label, number[s.Label])
			number[s.Label]++
			old += fmt.Sprintf("%s,%d,train\n", path, s.Label)
			if err := os.MkdirAll(filepath.Join("set", filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join("set", path), string(data))
		}
		board := image.NewGray(image.Rect(0, 0, 28, 28))
		for i := range board.Pix {
			if (i%28/2+i/28/2)%2 == 1 {
				board.SetGray(i%28, i/28, color.Gray{Y: 255})
			}
		}
		var odd strings.Builder
		if err := png.Encode(&odd, board); err != nil {
			t.Fatal(err)
		}
		write(t, "set/odd.png", odd.String())
		write(t, "set/bad.png", odd.String()[:60])
		write(t, "set/copy.png", readFile(t, "set/1/1.png"))
		write(t, "set/leak.png", readFile(t, "set/2/2.png"))
		write(t, "set/old.csv", old)
		wrong := old
		for k := range 12 {
			wrong = strings.Replace(wrong, fmt.Sprintf("%d/3.png,%[1]d,", k),
				fmt.Sprintf("%d/3.png,%d,", k, (k+1)%12), 1)
		}
		write(t, "set/new.csv", wrong+"bad.png,0,train\n"+
			"5/5.png,5,train\n6/6.png,7,train\ncopy.png,8,train\nleak.png,2,test\nodd.png,9,train\n")
	})
}

// checked is the JSON of winnow check.
type checked struct {
	Failed, Known, Untouched, Gone int
	Findings                       []struct {
		Check string
		Paths []string
		Fails bool
		File  string
		Line  int
	}
	Changes struct {
		Added, Repeated []string
		Relabelled      []datasets.Change
	}
	Still *struct{ Labels, Fixed, Low, High int } `json:"still_wrong"`
}

// checkSet runs winnow check with JSON, which must exit with code, and returns the result.
func checkSet(t *testing.T, code int, args ...string) (r checked) {
	t.Helper()
	got, out, stderr := call(t.Context(), append([]string{"check", "--model", "glyphnet", "--format", "json"},
		args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil || got != code {
		t.Fatalf("%v: exit code %d, expected %d: %v\n%s%s", args, got, code, err, out, stderr)
	}
	return r
}

// TestCheckFaults checks a set with planted faults: each must be found, at the row that brought it in.
func TestCheckFaults(t *testing.T) {
	needRuntime(t)
	plantFaults(t)
	r := checkSet(t, 1, "set/new.csv", "--since", "set/old.csv", "--fail-on", "leak,label-error=0.9")
	var found, failing []string
	for _, f := range r.Findings {
		place := fmt.Sprintf("%s %s %d", f.Check, strings.Join(f.Paths, " "), f.Line)
		if found = append(found, place); f.Fails {
			failing = append(failing, f.Check)
		}
	}
	for _, want := range []string{"unreadable bad.png 362", "listed-twice 5/5.png 363", "duplicate 6/6.png 364",
		"duplicate 1/1.png copy.png 365", "leak 2/2.png leak.png 366", "outlier odd.png 367",
		"label-error 9/3.png 125", "label-error 10/3.png 335"} {
		if !slices.Contains(found, want) {
			t.Errorf("found %q, expected also %s", found, want)
		}
	}
	if r.Failed == 0 || !slices.Contains(failing, "leak") ||
		!slices.Contains(failing, "label-error") || slices.Contains(failing, "duplicate") {
		t.Errorf("failing: %q, expected leak and label-error only", failing)
	}
	if c := r.Changes; strings.Join(c.Added, " ") != "bad.png copy.png leak.png odd.png" || len(c.Relabelled) != 13 ||
		c.Relabelled[0] != (datasets.Change{Path: "0/3.png", Was: "0", Now: "1"}) || len(c.Repeated) != 1 {
		t.Errorf("changes: %+v", c)
	}
	out, _ := mustCall(t, "data", "diff", "set/old.csv", "set/new.csv")
	holds(t, out, "4 added, 0 removed, 13 relabelled, 0 moved to another split, 1 listed again\n", "+ copy.png\n",
		"~ 6/6.png: 6 → 6 | 7\n")
	if r := checkSet(t, 0, "set/new.csv", "--since", "set/new.csv"); len(r.Findings) != 0 || r.Untouched < 9 {
		t.Errorf("%+v, expected only findings about unchanged images", r)
	}
	fails(t, 2, "did you mean \"leak\"?", "check", "set/new.csv", "--fail-on", "leek")
	fails(t, 2, "--update-baseline needs --baseline", "check", "set/new.csv", "--update-baseline")
}

// TestCheckBaseline checks that only findings outside the baseline fail, that the features of unchanged images are kept
// though their files have other times, and that no other file is replaced by a baseline.
func TestCheckBaseline(t *testing.T) {
	needRuntime(t)
	plantFaults(t)
	base := []string{"set/new.csv", "--baseline", "known.json", "--model", "glyphnet"}
	fails(t, 1, "write it with --update-baseline", append([]string{"check"}, base...)...)
	all := checkSet(t, 0, append(base, "--update-baseline")...)
	if len(all.Findings) != 0 || all.Known < 7 {
		t.Fatalf("%+v, expected all findings in the baseline", all)
	}
	write(t, "set/again.png", readFile(t, "set/4/4.png"))
	write(t, "set/new.csv", strings.Replace(readFile(t, "set/new.csv"), "leak.png,2,test\n", "again.png,5,train\n", 1))
	for _, name := range []string{"set/1/1.png", "set/odd.png"} {
		write(t, name, readFile(t, name))
	}
	code, _, stderr := call(t.Context(), append([]string{"check"}, base...)...)
	holds(t, stderr, "1 image added", "1 image in ")
	r := checkSet(t, 1, base...)
	if code != 1 || len(r.Findings) == 0 || r.Findings[0].Check != "duplicate" || r.Failed != 1 || r.Gone < 1 ||
		strings.Join(r.Findings[0].Paths, " ") != "4/4.png again.png" {
		t.Errorf("%d, %+v, expected the new duplicate, and the leak gone", code, r)
	}
	fails(t, 1, "expected a baseline of version 1", "check", "set/new.csv", "--baseline", "set/old.csv",
		"--update-baseline")
}

// TestCheckFormats parses each format, with the fields that its readers require.
func TestCheckFormats(t *testing.T) {
	needRuntime(t)
	plantFaults(t)
	written := func(format string) []byte {
		code, out, stderr := call(t.Context(), "check", "set/new.csv", "--model", "glyphnet", "--format", format)
		if code != 1 {
			t.Fatalf("%s: %d: %s", format, code, stderr)
		}
		return []byte(out)
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(written("sarif"), &sarif); err != nil || sarif.Version != "2.1.0" || len(sarif.Runs) != 1 {
		t.Fatal(err, sarif)
	}
	driver, results := sarif.Runs[0].Tool.Driver, sarif.Runs[0].Results
	for _, f := range results {
		at := f.Locations[0].PhysicalLocation
		if driver.Rules[f.RuleIndex].ID != f.RuleID || f.Level != "error" && f.Level != "warning" ||
			f.Message.Text == "" || at.ArtifactLocation.URI != "set/new.csv" || at.Region.StartLine < 2 {
			t.Errorf("SARIF: %+v", f)
		}
	}
	var junit struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text := string(written("junit"))
	if err := xml.Unmarshal([]byte(text), &junit); err != nil || junit.Suite.Failures < 5 ||
		strings.Count(text, "<failure ") != junit.Suite.Failures || len(junit.Suite.Cases) != junit.Suite.Tests {
		t.Errorf("JUnit: %v, %+v", err, junit.Suite)
	}
	var quality []struct {
		Description, Fingerprint, Severity string
		Location                           struct{ Path string }
	}
	if err := json.Unmarshal(written("gitlab"), &quality); err != nil || len(quality) != len(results) ||
		len(quality[0].Fingerprint) != 32 || quality[0].Location.Path != "set/new.csv" {
		t.Errorf("GitLab: %v, %+v", err, quality)
	}
	lines := strings.Split(strings.TrimSpace(string(written("github"))), "\n")
	form := regexp.MustCompile(`^::(error|warning) file=set/new\.csv,line=\d+,title=winnow check%3A [a-z-]+::.+$`)
	for _, line := range lines {
		if len(lines) != len(results) || !form.MatchString(line) {
			t.Errorf("GitHub: %d lines, %s", len(lines), line)
		}
	}
	if code, out, _ := call(t.Context(), "check", "set/new.csv", "--model", "glyphnet", "--html", "page.html", "--out",
		"found.sarif", "--format", "sarif"); code != 1 || !strings.Contains(out, "FAILS one image in two splits") {
		t.Errorf("%d: %s", code, out)
	}
	if page := readFile(t, "page.html"); strings.Count(page, "data:image/png") < 7 {
		t.Errorf("the page does not show the images: %.300s", page)
	}
}

// TestCheckStillWrong checks the number of labels that are still wrong by decisions about random images: it is the
// number at the time of the decisions, less the labels fixed since.
func TestCheckStillWrong(t *testing.T) {
	needRuntime(t)
	plantFaults(t)
	d, err := datasets.ReadFile("set/old.csv", datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for i, s := range d.Samples { // every fourth label is decided to be wrong
		if labels[s.Path] = ""; i%4 == 0 {
			labels[s.Path] = d.Classes[(s.Label+1)%12]
		}
	}
	decided(t, "set.db", "tab", d, labels)
	args := []string{"set/old.csv", "--decisions", "set.db", "--fail-on"}
	before := checkSet(t, 1, append(args, "wrong=2%")...)
	checkSet(t, 0, append(args, "wrong=0.9")...)
	fixed := readFile(t, "set/old.csv")
	for i, s := range d.Samples[:40] {
		if i%4 == 0 {
			fixed = strings.Replace(fixed, fmt.Sprintf("%s,%d,", s.Path, s.Label),
				fmt.Sprintf("%s,%s,", s.Path, labels[s.Path]), 1)
		}
	}
	write(t, "set/old.csv", fixed)
	after := checkSet(t, 1, append(args, "wrong=2%")...)
	if b, a := before.Still, after.Still; b.Low != 90 || a.Fixed != 10 || a.Low != 80 || a.High != b.High-10 {
		t.Errorf("still wrong: %+v, after ten fixes %+v", *b, *a)
	}
	fails(t, 1, "found no decisions about 60 images drawn at random", "check", "set/old.csv", "--model", "glyphnet",
		"--fail-on", "wrong=2%")
}
