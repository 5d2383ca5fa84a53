package importing

import (
	"context"
	"fmt"
	"io"

	"winnow/datasets"
	"winnow/internal/text"
)

// Carry is the report of labels that were carried back into the files of a source.
type Carry struct {
	Out        string `json:"out"`
	Rows       int    `json:"rows"`
	Relabelled int    `json:"relabelled"`
	Dropped    int    `json:"dropped"`
	SourceRead
}

// carryLabels writes a copy of the source's own files with the labels of a list that was made of it.
func (j Job) carryLabels(ctx context.Context, out io.Writer) error {
	s := j.Sources[0]
	s.Read.Note = j.Note
	d, err := datasets.Read(s.Path, s.Read)
	if err != nil {
		return err
	}
	list, err := datasets.Read(j.Mended, datasets.ReadOptions{Once: ctx, Note: j.Note})
	if err != nil {
		return err
	}
	made, err := datasets.Carried(d, list)
	if err != nil {
		return fmt.Errorf("data import: %s: %w", j.Mended, err)
	}
	did, err := datasets.MendTo(ctx, j.Out, s.Path, d, made)
	if err != nil {
		return err
	}
	if j.JSON {
		return text.JSON(out, Carry{j.Out, did.Rows, did.Relabelled, did.Dropped,
			SourceRead{s.Path.String(), d.Reading}})
	}
	_, err = fmt.Fprintf(out, "%s: %d rows, %d relabelled, %d dropped\n", j.Out, did.Rows, did.Relabelled, did.Dropped)
	return err
}
