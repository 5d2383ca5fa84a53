// Package export implements the "winnow export" command, which writes embeddings and models of runs.
package export

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/run/embedding"
	"winnow/run/export"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// Command returns the "winnow export" command.
func Command() *cli.Command { return newExportCommand(runExport) }

func newExportCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export embeddings to files or PostgreSQL, and backbone with head as one ONNX file",
		ArgsUsage: "RUN",
		Description: "Embeddings are unit vectors of the run's best head, in the order of the manifest.\n" +
			"Unreadable images are left out and listed.\n\n" +
			"The ONNX file takes preprocessed images, as its metadata describe, and returns unit vectors. Before it\n" +
			"is written, it is run on random pixels and must agree with winnow's own vectors to 1e-5.\n\n" +
			"--to sends the embeddings to a table of PostgreSQL with pgvector: path (the key), label, split, the\n" +
			"model's sha256, a digest of all these, and the vector. Only rows that are missing or different on the\n" +
			"server are sent, so the same command continues an interrupted export. The password is read from\n" +
			"PGPASSWORD or ~/.pgpass. The address may end with ?table=NAME and parameters of libpq.\n\n" +
			"   winnow export runs/birds --npy birds.npy --parquet birds.parquet --split test\n" +
			"   winnow export runs/birds --onnx birds.onnx\n" +
			"   winnow export runs/birds --to 'postgres://me@db.example/photos?table=birds&sslmode=require'",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: export.Forms[0],
				Usage: "embeddings to `FILE`, float32, one per row, and the rows' images to FILE.ids.csv"},
			&cli.StringFlag{Name: export.Forms[1], Usage: "embeddings to `FILE` as path,label,split,e0,e1,…"},
			&cli.StringFlag{Name: export.Forms[2],
				Usage: "embeddings to `FILE` with the columns path, label, split, embedding"},
			&cli.StringFlag{Name: "onnx", Usage: "backbone, head and normalisation to `FILE` as one model"},
			&cli.StringFlag{Name: "to", Usage: "embeddings to a table, by default named after the run, of a database " +
				"with pgvector at `URL`: postgres://USER@HOST/DATABASE"},
			&cli.StringFlag{Name: "split", Value: datasets.EverySplit,
				Usage: "the splits to embed, `SPLIT,...`, or all"},
			&cli.StringFlag{Name: "model", DefaultText: "found by its sha256",
				Usage: "the backbone that made the features: `NAME` of winnow models list, or an ONNX file"},
			term.JSONFlag(),
		}, term.DataFlags),
		Action: term.CheckedAction(readExport, call),
	}
}

// Options holds the parsed flags.
type Options struct {
	Dir    string // run folder
	Run    folder.Options
	Files  map[string]string // format → path
	ONNX   string
	To     *export.Table // nil: none
	Splits string
	Model  string // the backbone; "": found by its sha256
	JSON   bool
}

func readExport(c *cli.Context) (o Options, err error) {
	o = Options{ONNX: c.String("onnx"), Splits: c.String("split"), Model: c.String("model"), JSON: c.Bool("json"),
		Files: map[string]string{}}
	for _, form := range export.Forms {
		if path := c.String(form); path != "" {
			o.Files[form] = path
		}
	}
	if len(o.Files) == 0 && o.ONNX == "" && c.String("to") == "" {
		return o, term.Misused(
			"winnow export: found no output, expected at least one of --%s, --onnx FILE, --to URL",
			strings.Join(export.Forms, ", --"),
		)
	}
	if o.Dir, err = term.RunArgument(c); err != nil {
		return o, err
	}
	if to := c.String("to"); to != "" {
		if o.To, err = export.ParseTable(to, filepath.Base(extraction.Absolute(o.Dir))); err != nil {
			return o, err
		}
	}
	o.Run, err = training.RunOptions(c)
	return o, err
}

// listExportTargets returns the files to write.
func (o Options) listExportTargets() (files []term.Target) {
	for _, form := range export.Forms {
		if path := o.Files[form]; path != "" {
			files = append(files, term.Target{Flag: form, Path: path})
			if form == embedding.NPY {
				files = append(files, term.Target{Flag: form, Path: embedding.ListOfNPY(path)})
			}
		}
	}
	if o.ONNX != "" {
		files = append(files, term.Target{Flag: "onnx", Path: o.ONNX})
	}
	return files
}

// result is the output of "winnow export --json". Parts that were not requested are left out.
type result struct {
	Run      string           `json:"run"`
	Vectors  *export.Vectors  `json:"embeddings,omitempty"`
	Model    *export.Model    `json:"model,omitempty"`
	Database *export.Uploaded `json:"database,omitempty"`
}

func runExport(ctx context.Context, p *term.Program, o Options) error {
	o.Run.Host = p.Host()
	r, err := folder.Open(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	var model export.Joined
	inputs := r.Inputs()
	if o.ONNX != "" {
		if model, err = export.Join(r, o.Model, term.Version()); err != nil {
			return err
		}
		inputs = append(inputs, model.Backbone.Path)
	}
	if err := p.CheckTargets(o.listExportTargets(), inputs); err != nil {
		return err
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	done := result{Run: r.Dir}
	if o.ONNX != "" {
		check, err := model.Check(rt)
		if err != nil {
			return fmt.Errorf("export: %s is not written: %w", o.ONNX, err)
		}
		if err := atomicfile.WriteBytes(o.ONNX, model.Model); err != nil {
			return fmt.Errorf("export: writing %s: %w", o.ONNX, err)
		}
		done.Model = model.Describe(o.ONNX, check)
	}
	if len(o.Files) > 0 || o.To != nil {
		if done.Vectors, err = export.Embed(ctx, r, o.Splits); err != nil {
			return err
		}
		for _, form := range export.Forms {
			if path := o.Files[form]; path != "" {
				if err := done.Vectors.WriteFile(form, path); err != nil {
					return err
				}
			}
		}
		if left := done.Vectors.LeftOut; len(left) > 0 {
			p.Note("%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
		}
	}
	if o.To != nil {
		head, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
		if err != nil {
			return err
		}
		at, end := p.Watch("rows")
		done.Database, err = o.To.Upload(ctx, head, done.Vectors.List, at)
		end()
		if err != nil {
			return err
		}
	}
	return done.printExported(p, o.JSON)
}

func (r result) printExported(p *term.Program, asJSON bool) error {
	if asJSON {
		return p.JSON(r)
	}
	if v := r.Vectors; v != nil {
		fmt.Fprintf(p.Out, "embeddings  %d × %d", v.Rows, v.Dim)
		if n := len(v.LeftOut); n > 0 {
			fmt.Fprintf(p.Out, ", %d unreadable images left out", n)
		}
		fmt.Fprintf(p.Out, "\n            %s\n", strings.Join(v.Files, ", "))
	}
	if m := r.Model; m != nil {
		fmt.Fprintf(
			p.Out,
			"model       %s: %s → %s [N,%d], opset %d, %.1f MB\n            %s\n",
			m.File,
			m.Input,
			m.Output,
			m.Dim,
			m.Opset,
			float64(m.Bytes)/1e6,
			m.Check,
		)
	}
	if d := r.Database; d != nil {
		fmt.Fprintf(p.Out, "database    %s\n", d)
	}
	return nil
}
