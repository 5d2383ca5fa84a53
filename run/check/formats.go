package check

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"winnow/internal/text"
)

// Formats maps the names of the output formats to the functions that write them. winnow is the program's version.
var Formats = map[string]func(r *Result, w io.Writer, winnow string) error{
	"text":   func(r *Result, w io.Writer, _ string) error { return r.Write(w) },
	"json":   func(r *Result, w io.Writer, _ string) error { return text.JSON(w, r) },
	"sarif":  writeSARIF,
	"junit":  writeJUnit,
	"github": writeGitHub,
	"gitlab": writeGitLab,
}

// FormatNames lists the formats as they are described.
var FormatNames = []string{"text", "json", "sarif", "junit", "github", "gitlab"}

// level returns error for findings that fail, otherwise warning.
func (f *Finding) level() string {
	if f.Fails {
		return "error"
	}
	return "warning"
}

type object = map[string]any

// writeSARIF writes the findings as SARIF 2.1.0.
func writeSARIF(r *Result, w io.Writer, winnow string) error {
	var rules, results []object
	index := map[string]int{}
	for i, c := range Checks {
		index[c.Name] = i
		rules = append(rules, object{"id": c.Name, "shortDescription": object{"text": c.Does}})
	}
	for _, f := range r.Findings {
		place := object{"artifactLocation": object{"uri": formatURI(f.File)}}
		if f.Line > 0 {
			place["region"] = object{"startLine": f.Line}
		}
		results = append(results, object{
			"ruleId": f.Check, "ruleIndex": index[f.Check], "level": f.level(),
			"message":             object{"text": f.Message},
			"locations":           []object{{"physicalLocation": place}},
			"partialFingerprints": object{"winnow/v1": f.Fingerprint},
		})
	}
	return text.JSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":    object{"driver": object{"name": "winnow check", "version": winnow, "rules": rules}},
			"results": append([]object{}, results...),
		}},
	})
}

// formatURI returns the URI of a file: relative for a relative path.
func formatURI(file string) string {
	if strings.Contains(file, "://") {
		return file
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(file))}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimPrefix(u.Path, "/")
	}
	return u.String()
}

// junitCase is a test case of JUnit: a finding that fails, or a check without one.
type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// writeJUnit writes the result as JUnit XML: a case for each finding that fails, and a passed case, which lists the
// other findings, for each check without one.
func writeJUnit(r *Result, w io.Writer, _ string) error {
	suite := junitSuite{Name: "winnow check", Failures: r.Failed}
	for _, c := range Checks {
		var failed []junitCase
		passed := junitCase{Name: c.Does, Class: c.Name}
		for _, f := range r.findingsOf(c.Name) {
			if !f.Fails {
				passed.Out += f.Message + "\n"
				continue
			}
			failed = append(failed, junitCase{Name: strings.Join(f.Paths, ", "), Class: c.Name, File: f.File,
				Failure: &junitFailure{f.Message, c.Name, f.Message}})
		}
		if len(failed) == 0 || passed.Out != "" {
			failed = append(failed, passed)
		}
		suite.Cases = append(suite.Cases, failed...)
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	to := xml.NewEncoder(w)
	to.Indent("", "  ")
	err := to.Encode(struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}{Suite: suite})
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

// Escapes of GitHub's workflow commands.
var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes a workflow command of GitHub Actions for each finding, which shows it in the pull request.
func writeGitHub(r *Result, w io.Writer, _ string) error {
	for _, f := range r.Findings {
		line := ""
		if f.Line > 0 {
			line = fmt.Sprintf(",line=%d", f.Line)
		}
		fmt.Fprintf(w, "::%s file=%s%s,title=%s::%s\n", f.level(), inProperty.Replace(filepath.ToSlash(f.File)), line,
			inProperty.Replace("winnow check: "+f.Check), inMessage.Replace(f.Message))
	}
	if r.Still != nil {
		fmt.Fprintf(w, "::notice title=winnow check::%s\n", inMessage.Replace(r.describeRemaining()))
	}
	return nil
}

// writeGitLab writes the findings as a Code Quality report of GitLab.
func writeGitLab(r *Result, w io.Writer, _ string) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	list := []object{}
	for _, f := range r.Findings {
		severity := "minor"
		if f.Fails {
			severity = "major"
		}
		list = append(list, object{"description": f.Message, "check_name": f.Check, "fingerprint": f.Fingerprint,
			"severity": severity, "location": object{"path": filepath.ToSlash(f.File),
				"lines": lines{cmp.Or(f.Line, 1)}}})
	}
	return text.JSON(w, list)
}
