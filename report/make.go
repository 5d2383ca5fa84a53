package report

import (
	"bytes"
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/run/folder"
)

// Making says how the page of a run is made.
type Making struct {
	Open     folder.Options
	Asked    Asked
	Pictures bool                                              // the page shows pictures
	Names    func(*datasets.Dataset) (classnames.Names, error) // of the classes of a run; nil: as in the manifest
	Host     Host
}

// Made is the page of a run, and what was measured.
type Made struct {
	File []byte
	Run  *Run
}

// Make opens the run in a folder, measures it and makes its page.
func Make(ctx context.Context, dir string, m Making) (made Made, err error) {
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
	if made.Run, err = Open(opened, names, m.Host.Winnow); err != nil {
		return made, err
	}
	if err := made.Run.Measure(ctx, m.Asked); err != nil {
		return made, err
	}
	content := made.Run.Page()
	if err := made.Run.Illustrate(ctx, m.Host, &content, m.Pictures); err != nil {
		return made, err
	}
	var file bytes.Buffer
	if err := content.WriteHTML(&file); err != nil {
		return made, fmt.Errorf("report: %w", err)
	}
	made.File = file.Bytes()
	return made, nil
}
