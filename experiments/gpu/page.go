package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/ort"
	"winnow/internal/atomicfile"
	"winnow/report/chart"
	"winnow/report/page"
)

// readHead reads gpu.json of an earlier call, if there was one.
func (r *Results) readHead(out string) error {
	data, err := os.ReadFile(filepath.Join(out, "gpu.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return fmt.Errorf("gpu: %s: %w", filepath.Join(out, "gpu.json"), err)
	}
	return nil
}

// write judges the goals and writes gpu.json and gpu.html.
func (r *Results) write(out string) error {
	r.judgeGoals()
	if err := writeJSON(filepath.Join(out, "gpu.json"), r); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(out, "gpu.html"), func(w io.Writer) error { return r.page().WriteHTML(w) })
}

// page returns the page of all results.
func (r *Results) page() page.Report {
	p := page.Report{Command: "gpu", Title: "winnow on " + r.Device}
	if gpu := r.part("machine").find("GPU"); gpu != nil && gpu.Text != "" {
		p.Title += ": " + gpu.Text
	}
	counts := map[string]int{}
	var goals [][]string
	for _, g := range r.Goals {
		counts[g.State]++
		goals = append(goals, []string{g.Name, g.State, g.Found})
	}
	p.Verdict = []string{fmt.Sprintf("Of %d goals %d pass, %d fail, %d were not run.", len(r.Goals), counts["pass"],
		counts["fail"], counts["not run"])}
	if r.cpu() {
		p.Title = "A rehearsal on the CPU"
		p.Verdict = append(p.Verdict, "This is a rehearsal on the CPU: it shows that the program works, nothing "+
			"about a GPU. "+ort.CUDAState+".")
	}
	p.Sections = append(p.Sections, page.Section{Title: "Goals",
		Tables: []page.Table{{Head: []string{"goal", "state", "found"}, Rows: goals, Words: true}}})
	for i, about := range parts() {
		if i >= len(r.Parts) {
			break
		}
		part := r.Parts[i]
		s := page.Section{Title: about.title, Notes: []string{about.about}}
		if part.State != stateDone {
			s.Notes = append(s.Notes, strings.TrimSuffix(fmt.Sprintf("This part: %s: %s", part.State, part.Error),
				": "))
			if part.State == stateFailed {
				p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s", about.title, part.Error))
			}
		}
		if part.Name == "extraction" {
			s.Charts = r.curves(part)
		}
		if t := table(about, part); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
		if t := said(part); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
		p.Sections = append(p.Sections, s)
		p.Facts = append(p.Facts, page.Fact{Name: about.name,
			Value: fmt.Sprintf("%s, %.0f s", part.State, part.Seconds)})
	}
	p.Facts = append(p.Facts, page.Fact{Name: "began", Value: r.Began},
		page.Fact{Name: "minutes in all", Value: fmt.Sprintf("%.1f", r.Minutes)},
		page.Fact{Name: "small", Value: fmt.Sprint(r.Small)})
	return p
}

// table returns a table of the records that have numbers.
func table(about part, p Part) page.Table {
	t := page.Table{Caption: "Measured", Head: []string{"what"}}
	for _, c := range about.columns {
		t.Head = append(t.Head, c.heading)
	}
	for _, rec := range p.Records {
		row, any := []string{strings.Join(rec.Of, ", ")}, false
		for _, c := range about.columns {
			cell := "–"
			if v, ok := rec.Values[c.value]; ok {
				cell, any = fmt.Sprintf(c.format, v), true
			}
			row = append(row, cell)
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// said returns the texts of records, errors first.
func said(p Part) page.Table {
	t := page.Table{Caption: "Said", Head: []string{"what", "text"}, Words: true}
	for _, rec := range p.Records {
		if rec.Error != "" {
			t.Rows = append(t.Rows, []string{strings.Join(rec.Of, ", "), "error: " + rec.Error})
		}
	}
	for _, rec := range p.Records {
		if rec.Text != "" {
			t.Rows = append(t.Rows, []string{strings.Join(rec.Of, ", "), rec.Text})
		}
	}
	return t
}

// curves draws images a second over the batch for the first network.
func (r *Results) curves(p Part) []chart.Drawing {
	lines := map[string]*chart.Line{}
	var order []string
	for _, rec := range p.Records {
		if len(rec.Of) != 4 || !strings.HasPrefix(rec.Of[0], "ResNet-50") || rec.Values["images_per_second"] == 0 {
			continue
		}
		name := rec.Of[1] + ", " + rec.Of[2]
		if lines[name] == nil {
			lines[name] = &chart.Line{Name: name, Tone: len(order), Dots: true}
			order = append(order, name)
		}
		l := lines[name]
		at, _ := slices.BinarySearch(l.X, rec.Values["batch"])
		l.X, l.Y = slices.Insert(l.X, at, rec.Values["batch"]), slices.Insert(l.Y, at, rec.Values["images_per_second"])
	}
	c := chart.Lines{Frame: chart.Frame{Title: "ResNet-50, images a second", X: "batch", Y: "images/s", LogX: true}}
	for _, name := range order {
		if len(lines[name].X) > 1 {
			c.Series = append(c.Series, *lines[name])
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	return []chart.Drawing{c}
}
