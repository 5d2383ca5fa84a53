package embedding

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/internal/lookup"
)

// Written describes a file of vectors, as printed by winnow embed --json.
type Written struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// Write writes the description as text, without the images left out.
func (r Written) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values\n", strings.Join(r.Files, ", "), r.Rows, r.Dim)
	return err
}

// WriteFile atomically writes the vectors of images, in the format of the file's extension.
func (n *Network) WriteFile(ctx context.Context, out string, list *imageroot.List, o Options) (Written, error) {
	files, err := Files(out)
	if err != nil {
		return Written{}, fmt.Errorf("embed: %w", err)
	}
	all := &rows{}
	err = WriteRows(formOf(out), out, n.Dim(), func(put func([]Row) error) error {
		return n.passReadable(ctx, list, all, put, nil, o)
	})
	return Written{Files: files, Rows: all.count - len(all.bad), Dim: n.Dim(), Model: n.Backbone.Name,
		LeftOut: lookup.Unreadable(all.bad)}, err
}

// WriteLines writes a line of JSON for each image as soon as its vector is computed, or the reason why it has none.
func (n *Network) WriteLines(ctx context.Context, w io.Writer, list *imageroot.List, o Options) error {
	return n.passReadable(ctx, list, &rows{}, writeLines(w), func(b features.Bad) error {
		return json.NewEncoder(w).Encode(struct {
			Path  string `json:"path"`
			Error string `json:"error"`
		}{b.Path, b.Reason})
	}, o)
}

// passReadable passes the vectors of readable images to put, and unreadable images to leave unless it is nil. It does
// not keep the vectors.
func (n *Network) passReadable(ctx context.Context, list *imageroot.List, all *rows, put func([]Row) error,
	leave func(features.Bad) error, o Options) error {
	all.take = func(x blas32.General, first int, bad []features.Bad) error {
		var some []Row
		for i := range x.Rows {
			if len(bad) == 0 || bad[0].Row != first+i {
				of := list.Images[first+i]
				some = append(some, Row{Path: of.Path, Label: of.Label, Split: of.Split, Embedding: features.Row(x, i)})
				continue
			}
			if leave != nil {
				if err := put(some); err != nil {
					return err
				}
				if err := leave(bad[0]); err != nil {
					return err
				}
				some = nil
			}
			bad = bad[1:]
		}
		return put(some)
	}
	return n.embedPaths(ctx, list, list.Paths(), all, o)
}

// rows is a backbone.RowWriter that counts the rows, collects unreadable images, and passes each block of rows to take,
// with the number of its first row.
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
