package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/datasets/imagelist"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

func embedCommand() *cli.Command {
	return &cli.Command{
		Name:      "embed",
		Usage:     "turn images into the vectors of a run or of an exported model",
		ArgsUsage: "[RUN] IMAGES...",
		Description: "IMAGES are image files, folders with all below them, .zip files, manifests (.csv, .jsonl, .txt), or - for paths on\n" +
			"standard input, in the order given. RUN is a run folder; --model takes an ONNX file of winnow export instead, or a\n" +
			"backbone alone. The numbers are those of winnow export. Memory does not grow with the number of images, but for\n" +
			"their names. --out is written whole or not at all; FILE.npy has FILE.ids.csv beside it, which says what each row is.\n" +
			"Unreadable images have no row and are told with their reason.\n\n" +
			"   winnow embed runs/birds photos/ --out birds.parquet\n" +
			"   find photos -name '*.jpg' | winnow embed --model birds.onnx - --json",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "embed by an ONNX `FILE` that winnow export wrote, a run folder, or a backbone of winnow models list"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write `FILE`.npy, .csv, .parquet or .jsonl"},
			&cli.BoolFlag{Name: "l2", Usage: "divide the vectors of a backbone by their length (those of runs and exports have length 1)"},
		}, embedFlags...),
		Action: embedRun,
	}
}

// embedResult is what winnow embed --json prints where the vectors go to a file.
type embedResult struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Model   string           `json:"model"`
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// embedForms are the endings of --out.
var embedForms = []string{".npy", ".csv", ".parquet", ".jsonl"}

func embedRun(c *cli.Context) error {
	if err := checkEmbedFlags(c); err != nil {
		return err
	}
	source, args := c.String("model"), c.Args().Slice()
	if source == "" && len(args) > 0 {
		source, args = args[0], args[1:]
	}
	out := c.String("out")
	switch form := strings.ToLower(filepath.Ext(out)); {
	case source == "":
		return misused("winnow embed takes a run folder, or --model FILE, and images: found neither")
	case len(args) == 0:
		return misused("winnow embed: found %s and no images: name files, folders, .zip files, manifests, or - for paths on standard input", source)
	case out == "" && !c.Bool("json"):
		return misused("winnow embed: name a file to write with --out, or print lines of JSON with --json")
	case out != "" && !slices.Contains(embedForms, form):
		return misused("--out: %q does not end in %s", out, strings.Join(embedForms, ", "))
	}
	e, err := openEmbedder(c, source, c.String("backbone"))
	if err != nil {
		return err
	}
	list, err := imagelist.Open(args, c.String("root"), c.App.Reader)
	if err != nil {
		return err
	}
	if err := checkTargets(embedFiles(out), append(e.Files, list.Files()...)); err != nil {
		return err
	}
	net, err := openNetwork(c, e, false, c.Bool("l2") && !e.Unit)
	if err != nil {
		return err
	}
	defer net.Close()
	sink := &embedSink{images: list.Images}
	run := func(w vectorfile.Writer) error {
		sink.out = w
		return errors.Join(embedImages(c, e, net, list, list.Paths(), sink), w.Close())
	}
	if out == "" {
		w := vectorfile.NewJSONL(c.App.Writer)
		sink.tell = w.Unreadable
		return run(w)
	}
	if err := writeEmbeddings(out, net.Dim(), run); err != nil {
		return err
	}
	r := embedResult{Files: []string{}, Rows: sink.rows - len(sink.bad), Dim: net.Dim(), Model: e.Backbone.Name, LeftOut: []lookup.LeftOut{}}
	for _, f := range embedFiles(out) {
		r.Files = append(r.Files, f.Path)
	}
	for _, b := range sink.bad {
		r.LeftOut = append(r.LeftOut, lookup.LeftOut{Path: b.Path, Reason: b.Reason})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	unreadable(c, sink.bad)
	fmt.Fprintf(c.App.Writer, "%s: %d images × %d values\n", strings.Join(r.Files, ", "), r.Rows, r.Dim)
	return nil
}

// embedFiles lists what will be written.
func embedFiles(out string) (files []exportFile) {
	if out == "" {
		return nil
	}
	files = append(files, exportFile{Flag: "out", Path: out})
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		files = append(files, exportFile{Flag: "out", Path: idsFile(out)})
	}
	return files
}

// embedSink hands the rows of readable images on; it keeps no vectors.
type embedSink struct {
	images []imagelist.Image
	out    vectorfile.Writer
	tell   func(path, reason string) error // of an unreadable image, as it comes; may be nil

	rows int
	bad  []features.Bad
	some []vectorfile.Row
}

// Rows implements backbone.RowWriter.
func (s *embedSink) Rows() int { return s.rows }

// Bad implements backbone.RowWriter.
func (s *embedSink) Bad() []features.Bad { return s.bad }

// Flush implements backbone.RowWriter.
func (s *embedSink) Flush() error { return nil }

// Append implements backbone.RowWriter.
func (s *embedSink) Append(x blas32.General, bad []features.Bad) error {
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

var _ backbone.RowWriter = (*embedSink)(nil)

// writeEmbeddings writes the file, and what belongs beside it, after fill has given all rows without an error.
func writeEmbeddings(out string, dim int, fill func(vectorfile.Writer) error) error {
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		return writeEmbeddedNPY(out, dim, fill)
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

// writeEmbeddedNPY keeps the numbers in a file beside out until their count, which stands in front, is known.
func writeEmbeddedNPY(out string, dim int, fill func(vectorfile.Writer) error) error {
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
		err = atomicfile.Write(idsFile(out), func(w io.Writer) error { return writeIDs(w, spool.rows) })
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
