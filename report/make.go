package report

import (
	"bytes"
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/report/page"
	"winnow/run/folder"
)

// Making says how the page of one or several runs is made.
type Making struct {
	Open  folder.Options
	Asked Asked // Held is computed
	Show  Illustration
	Names func(*datasets.Dataset) (classnames.Names, error) // of the classes of a run; nil: as in the manifest
	Host  Host
}

// Made is the page of runs, and what was measured.
type Made struct {
	File []byte
	Runs []*Run
}

// Make opens the runs in some folders, measures them and makes their page: of one run its report, of several the
// comparison.
func Make(ctx context.Context, dirs []string, m Making) (made Made, err error) {
	for _, dir := range dirs {
		opened, err := folder.Open(ctx, dir, m.Open)
		if err != nil {
			return made, err
		}
		var names classnames.Names
		if m.Names != nil {
			if names, err = m.Names(opened.Manifest); err != nil {
				return made, fmt.Errorf("report: %w", err)
			}
		}
		r, err := Open(opened, names, m.Host.Winnow)
		if err != nil {
			return made, err
		}
		asked := m.Asked
		asked.Held = Held(made.Runs)
		if err := r.Measure(ctx, asked); err != nil {
			return made, err
		}
		made.Runs = append(made.Runs, r)
	}
	var content page.Report
	if len(made.Runs) > 1 {
		content = Compared(made.Runs)
	} else {
		content = made.Runs[0].Page()
		if err := made.Runs[0].Illustrate(ctx, m.Host, &content, m.Show); err != nil {
			return made, err
		}
	}
	var file bytes.Buffer
	if err := content.WriteHTML(&file); err != nil {
		return made, fmt.Errorf("report: %w", err)
	}
	made.File = file.Bytes()
	return made, nil
}
