package embedding

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/imagelist"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// Endings are those of the files that [Network.WriteFile] writes.
var Endings = []string{".npy", ".csv", ".parquet", ".jsonl"}

// Files returns what is written for a file of vectors: itself, and beside FILE.npy the list of what its rows are.
func Files(out string) []string {
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		return []string{out, IDsFile(out)}
	}
	return []string{out}
}

// IDsFile returns the list of what the rows of a .npy file are: emb.npy has emb.ids.csv beside it. "" stays.
func IDsFile(npy string) string {
	if npy == "" {
		return ""
	}
	return strings.TrimSuffix(npy, filepath.Ext(npy)) + ".ids.csv"
}

// Written is what a file of vectors came to, as winnow embed --json prints it.
type Written struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// WriteFile writes the vectors of images, whole or not at all, in the form that the file's ending says.
func (n *Network) WriteFile(ctx context.Context, out string, list *imagelist.List, o Options) (Written, error) {
	rows := &imageRows{images: list.Images}
	err := writeFile(out, n.Dim(), func(to vectorfile.Writer) error {
		rows.out = to
		return errors.Join(n.embed(ctx, list, list.Paths(), rows, o), to.Close())
	})
	return Written{Files: Files(out), Rows: rows.rows - len(rows.bad), Dim: n.Dim(), Model: n.Backbone.Name, LeftOut: lookup.Unreadable(rows.bad)}, err
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
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		return writeNPY(out, dim, fill)
	}
	var filling error // in its own words
	err := atomicfile.Write(out, func(w io.Writer) error {
		var rows vectorfile.Writer
		switch strings.ToLower(filepath.Ext(out)) {
		case ".csv":
			if rows, filling = vectorfile.NewCSV(w, dim); filling != nil {
				return filling
			}
		case ".parquet":
			rows = vectorfile.NewParquet(w)
		default:
			rows = vectorfile.NewJSONL(w)
		}
		filling = fill(rows)
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

// writeNPY keeps the numbers in a file beside out until their count, which stands in front, is known.
func writeNPY(out string, dim int, fill func(vectorfile.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".tmp-*")
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_ = os.Remove(f.Name()) // where the system lets an open file go from its folder, a kill leaves nothing behind
	spool := &npySpool{file: f, dim: dim}
	if err := fill(spool); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	err = atomicfile.Write(out, func(w io.Writer) error {
		if _, err := w.Write(features.NPYHeader(len(spool.rows), dim)); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	})
	if err == nil {
		err = atomicfile.Write(IDsFile(out), func(w io.Writer) error { return writeIDs(w, spool.rows) })
	}
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	return nil
}

// npySpool writes numbers as they come and keeps what the rows are.
type npySpool struct {
	file *os.File
	dim  int
	rows []vectorfile.Row // without vectors
}

// Write implements vectorfile.Writer.
func (s *npySpool) Write(rows []vectorfile.Row) error {
	for _, r := range rows {
		x := blas32.General{Rows: 1, Cols: s.dim, Stride: s.dim, Data: r.Embedding}
		if err := features.EncodeRows(s.file, features.Float32, x); err != nil {
			return fmt.Errorf("embed: %w", err)
		}
		r.Embedding = nil
		s.rows = append(s.rows, r)
	}
	return nil
}

// Close implements vectorfile.Writer.
func (s *npySpool) Close() error { return nil }

// writeIDs writes row,path,label,split.
func writeIDs(w io.Writer, rows []vectorfile.Row) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"row", "path", "label", "split"}); err != nil {
		return err
	}
	for i, r := range rows {
		if err := out.Write([]string{strconv.Itoa(i), r.Path, r.Label, r.Split}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
