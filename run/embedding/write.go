package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// Endings returns the endings of the files that [Network.WriteFile] writes.
func Endings() (list []string) {
	for _, form := range vectorfile.Forms {
		list = append(list, "."+form)
	}
	return list
}

// Files returns the files that are written for a file of vectors: itself and, for forms without names, the list of what
// its rows are. An ending not in [Endings] is an error.
func Files(out string) ([]string, error) {
	form, ok := vectorfile.FormOf(out)
	if !ok {
		return nil, fmt.Errorf("%q does not end in %s", out, strings.Join(Endings(), ", "))
	}
	return vectorfile.Files(out, form), nil
}

// Written describes a file of vectors, as winnow embed --json prints it.
type Written struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// Write writes the result for people, without the images left out.
func (r Written) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values\n", strings.Join(r.Files, ", "), r.Rows, r.Dim)
	return err
}

// WriteFile writes the vectors of images, all or none, in the form that the file's ending names.
func (n *Network) WriteFile(ctx context.Context, out string, list *imageroot.List, o Options) (Written, error) {
	files, err := Files(out)
	if err != nil {
		return Written{}, fmt.Errorf("embed: %w", err)
	}
	var all *rows
	err = writeFile(out, n.Dim(), func(to vectorfile.Writer) (err error) {
		all, err = n.writeReadable(ctx, list, to, nil, o)
		return errors.Join(err, to.Close())
	})
	if all == nil {
		return Written{}, err
	}
	return Written{Files: files, Rows: all.count - len(all.bad), Dim: n.Dim(), Model: n.Backbone.Name,
		LeftOut: lookup.Unreadable(all.bad)}, err
}

// WriteLines writes each image as a line of JSON as soon as its vector is computed.
func (n *Network) WriteLines(ctx context.Context, w io.Writer, list *imageroot.List, o Options) error {
	to := vectorfile.NewJSONL(w)
	_, err := n.writeReadable(ctx, list, to, to.Unreadable, o)
	return err
}

// writeReadable passes the vectors of readable images to out, and unreadable images to tell unless it is nil. No vector
// is kept.
func (n *Network) writeReadable(ctx context.Context, list *imageroot.List, out vectorfile.Writer,
	tell func(path, reason string) error, o Options) (*rows, error) {
	var some []vectorfile.Row
	all := &rows{take: func(x blas32.General, first int, bad []features.Bad) error {
		some = some[:0]
		for i := range x.Rows {
			if len(bad) > 0 && bad[0].Row == first+i {
				if tell != nil {
					if err := errors.Join(out.Write(some), tell(bad[0].Path, bad[0].Reason)); err != nil {
						return err
					}
					some = some[:0]
				}
				bad = bad[1:]
				continue
			}
			n := list.Images[first+i]
			some = append(some, vectorfile.Row{Path: n.Path, Label: n.Label, Split: n.Split,
				Embedding: features.Row(x, i)})
		}
		return out.Write(some)
	}}
	return all, n.embedPaths(ctx, list, list.Paths(), all, o)
}

// rows counts the rows of images, collects the unreadable ones and passes each block of rows, from the row first on, to
// take. It implements backbone.RowWriter.
type rows struct {
	take  func(x blas32.General, first int, bad []features.Bad) error
	count int
	bad   []features.Bad
}

func (r *rows) Rows() int           { return r.count }
func (r *rows) Bad() []features.Bad { return r.bad }
func (r *rows) Flush() error        { return nil }

func (r *rows) Append(x blas32.General, bad []features.Bad) error {
	first := r.count
	r.count, r.bad = first+x.Rows, append(r.bad, bad...)
	return r.take(x, first, bad)
}

// writeFile writes the file, and the one beside it, once fill has written all rows without an error.
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
