package check

import (
	"fmt"
	"io"

	"winnow/internal/text"
	"winnow/run/inspect"
)

// listedFindings is the number of findings of each check in the text.
const listedFindings = 10

// Sentences returns sentences that summarize the check, the most important first.
func (r *Result) Sentences() []string {
	first := fmt.Sprintf("%s: %s checked, %s, %d of them failing", text.Line(r.Source), text.Plural(r.Images, "image"),
		text.Plural(len(r.Findings), "new finding"), r.Failed)
	if r.Known > 0 {
		first += fmt.Sprintf("; %d known from the baseline", r.Known)
	}
	list := []string{first + "."}
	if r.Changes != nil {
		list = append(list, fmt.Sprintf("Changes: %s; %s about unchanged images not listed.", r.Changes,
			text.Plural(r.Untouched, "finding")))
	}
	if r.Gone > 0 {
		list = append(list, fmt.Sprintf("%s of the baseline no longer found: write it again.",
			text.Plural(r.Gone, "finding")))
	}
	if r.Still != nil {
		list = append(list, fmt.Sprintf("%s; %d were fixed since the check.", r.describeRemaining(), r.Still.Fixed))
	}
	return append(list, r.Notes...)
}

// Write writes the result as text.
func (r *Result) Write(w io.Writer) error {
	for _, s := range r.Sentences() {
		fmt.Fprintln(w, s)
	}
	for _, c := range Checks {
		of := r.findingsOf(c.Name)
		if len(of) > 0 {
			fmt.Fprintf(w, "\n%s: %d, %s\n", c.Name, len(of), c.Does)
		}
		for _, f := range text.First(of, listedFindings) {
			fmt.Fprintf(w, "  %s %s\n", map[bool]string{true: "FAILS", false: "     "}[f.Fails], text.Line(f.Message))
		}
		if n := len(of) - listedFindings; n > 0 {
			fmt.Fprintf(w, "        … %d more\n", n)
		}
	}
	return nil
}

// findingsOf returns the findings of a check, those that fail first.
func (r *Result) findingsOf(name string) (list []Finding) {
	for _, fails := range []bool{true, false} {
		for _, f := range r.Findings {
			if f.Check == name && f.Fails == fails {
				list = append(list, f)
			}
		}
	}
	return list
}

// Galleries returns the findings to show as images.
func (r *Result) Galleries() (list []inspect.Gallery) {
	for _, c := range Checks {
		g := inspect.Gallery{Title: c.Name, Note: "Found: " + c.Does + "."}
		for _, f := range r.findingsOf(c.Name) {
			if len(f.Paths) == 0 {
				continue
			}
			s := inspect.Shown{Paths: f.Paths, Labels: f.Labels[:min(len(f.Paths), len(f.Labels))], Why: f.Message}
			if f.Fails {
				s.Tags = []string{"fails"}
			}
			g.Shown = append(g.Shown, s)
		}
		if len(g.Shown) > 0 {
			list = append(list, g)
		}
	}
	return list
}
