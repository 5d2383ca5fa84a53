package report

import (
	"bytes"
	"context"
	"fmt"

	"winnow/datasets/classnames"
	"winnow/run/folder"
)

// Made holds a run's HTML page and the run with its measurements.
type Made struct {
	File []byte
	Run  *Run
}

// Make measures a run and returns its page. names maps its labels to class names; pictures adds images to the page.
func Make(ctx context.Context, h Host, run *folder.Run, names classnames.Names, asked Asked, pictures bool) (
	made Made, err error) {
	if made.Run, err = Open(run, names, h.Winnow); err != nil {
		return made, err
	}
	if err := made.Run.Measure(ctx, asked); err != nil {
		return made, err
	}
	content := made.Run.Page()
	if err := made.Run.Illustrate(ctx, h, &content, pictures); err != nil {
		return made, err
	}
	var file bytes.Buffer
	if err := content.WriteHTML(&file); err != nil {
		return made, fmt.Errorf("report: %w", err)
	}
	made.File = file.Bytes()
	return made, nil
}
