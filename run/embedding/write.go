package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/imagelist"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// Endings are those of the files that [Network.WriteFile] writes.
func Endings() (list []string) {
	for _, form := range vectorfile.Forms {
		list = append(list, "."+string(form))
	}
	return list
}

// Files returns what is written for a file of vectors: itself and, for forms that hold no names, beside it the list of
// what its rows are. It refuses an ending that none of [Endings] is.
func Files(out string) ([]string, error) {
	form, ok := vectorfile.FormOf(out)
	if !ok {
		return nil, fmt.Errorf("%q does not end in %s", out, strings.Join(Endings(), ", "))
	}
	return form.Files(out), nil
}

// Written is what a file of vectors came to, as winnow embed --json prints it.
type Written struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// Write writes the outcome for people, but for the images left out.
func (r Written) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values\n", strings.Join(r.Files, ", "), r.Rows, r.Dim)
	return err
}

// WriteFile writes the vectors of images, whole or not at all, in the form that the file's ending says.
func (n *Network) WriteFile(ctx context.Context, out string, list *imagelist.List, o Options) (Written, error) {
	files, err := Files(out)
	if err != nil {
		return Written{}, fmt.Errorf("embed: %w", err)
	}
	rows := &imageRows{images: list.Images}
	err = writeFile(out, n.Dim(), func(to vectorfile.Writer) error {
		rows.out = to
		return errors.Join(n.embed(ctx, list, list.Paths(), rows, o), to.Close())
	})
	return Written{Files: files, Rows: rows.rows - len(rows.bad), Dim: n.Dim(), Model: n.Backbone.Name, LeftOut: lookup.Unreadable(rows.bad)}, err
}

// WriteLines writes an object of JSON a line for each image, as they come.
func (n *Network) WriteLines(ctx context.Context, w io.Writer, list *imagelist.List, o Options) error {
	to := vectorfile.NewJSONL(w)
	return n.embed(ctx, list, list.Paths(), &imageRows{images: list.Images, out: to, tell: to.Unreadable}, o)
}

// imageRows hands the rows of readable images on; it keeps no vectors.
type imageRows struct {
	images []imagelist.Image
	out    vectorfile.Writer
	tell   func(path, reason string) error // of an unreadable image, as it comes; may be nil

	rows int
	bad  []features.Bad
	some []vectorfile.Row
}

// Rows, Bad and Flush implement backbone.RowWriter.
func (s *imageRows) Rows() int           { return s.rows }
func (s *imageRows) Bad() []features.Bad { return s.bad }
func (s *imageRows) Flush() error        { return nil }

// Append implements backbone.RowWriter.
func (s *imageRows) Append(x blas32.General, bad []features.Bad) error {
	s.some = s.some[:0]
	next := 0
	for i := range x.Rows {
		if next < len(bad) && bad[next].Row == s.rows+i {
			if s.tell != nil {
				if err := errors.Join(s.out.Write(s.some), s.tell(bad[next].Path, bad[next].Reason)); err != nil {
					return err
				}
				s.some = s.some[:0]
			}
			next++
			continue
		}
		n := s.images[s.rows+i]
		s.some = append(s.some, vectorfile.Row{Path: n.Path, Label: n.Label, Split: n.Split, Embedding: features.Row(x, i)})
	}
	s.rows += x.Rows
	s.bad = append(s.bad, bad...)
	return s.out.Write(s.some)
}

// writeFile writes the file, and what belongs beside it, after fill has given all rows without an error.
func writeFile(out string, dim int, fill func(vectorfile.Writer) error) error {
	form, _ := vectorfile.FormOf(out)
	var filling error // in its own words
	err := vectorfile.Write(out, form, dim, atomicfile.Write, func(to vectorfile.Writer) error {
		filling = fill(to)
		return filling
	})
	if filling != nil {
		return filling
	}
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	return nil
}
