// Package export implements the "winnow export" command: it writes embeddings and models of runs.
package export

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets"
	"winnow/run/embedding"
	"winnow/run/folder"
)

// Command returns the "winnow export" command.
func Command() *cli.Command { return newExportCommand(runExport) }

func newExportCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export embeddings to files or a vector database, and backbone with head as one ONNX file",
		ArgsUsage: "RUN",
		Description: "Embeddings are unit vectors of the run's best head, in the order of the manifest.\n" +
			"Unreadable images are left out and listed. FILE.ids.csv says what the rows of FILE.npy,\n" +
			".safetensors and .fvecs are, FILE.metadata.tsv what those of FILE.tsv are.\n\n" +
			"The ONNX file takes images preprocessed as its metadata say and gives the unit vectors. Before it is\n" +
			"written, it is run on real images and must agree with winnow's own vectors to 1e-5.\n\n" +
			"   winnow export runs/birds --npy birds.npy --parquet birds.parquet --split test\n\n" +
			"--to sends the embeddings to a table of PostgreSQL with pgvector (postgres://USER@HOST/DATABASE).\n" +
			"Each image is one row, with path (the key), label, split, the model's sha256 and a digest of all\n" +
			"this. Only rows that the server lacks or has differently are sent, so the same command continues\n" +
			"after a break, repairs what changed and adds what is new. A new table is indexed (HNSW, cosine)\n" +
			"once all rows are there. At the end the rows are counted and at least 100 of them are read back.\n" +
			"Instead of a run, export also takes the folder of winnow index or winnow extract (with --manifest\n" +
			"for labels).\n\n" +
			"The password comes from PGPASSWORD, ~/.pgpass or --key-file.\n" +
			"An address of PostgreSQL may end with ? and table=, schema=, column=, metric=cosine|l2|ip, m=,\n" +
			"ef_construction=, and what libpq takes: sslmode=, connect_timeout=, …\n\n" +
			"   winnow export runs/birds --onnx birds.onnx\n" +
			"   winnow export runs/birds --to postgres://me@localhost/photos --collection birds\n" +
			"   winnow export birds.index --to 'postgres://me@db.example/photos?table=birds&sslmode=require'",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "npy",
				Usage: "embeddings to `FILE`, float32, one per row, and FILE.ids.csv"},
			&cli.StringFlag{Name: "npz",
				Usage: "embeddings, paths, labels and splits to `FILE`, for numpy.load"},
			&cli.StringFlag{Name: "safetensors",
				Usage: "embeddings to `FILE` as the tensor embeddings, and FILE.ids.csv"},
			&cli.StringFlag{Name: "fvecs",
				Usage: "embeddings to `FILE` in the format of faiss and texmex, and FILE.ids.csv"},
			&cli.StringFlag{Name: "csv", Usage: "embeddings to `FILE` as path,label,split,e0,e1,…"},
			&cli.StringFlag{Name: "tsv",
				Usage: "embeddings to `FILE` for TensorBoard's projector, and FILE.metadata.tsv"},
			&cli.StringFlag{Name: "parquet",
				Usage: "embeddings to `FILE` with the columns path, label, split, embedding"},
			&cli.StringFlag{Name: "onnx", Usage: "backbone, head and normalisation to `FILE` as one model"},
			&cli.StringFlag{Name: "split", Value: datasets.EverySplit,
				Usage: "the splits to embed, `SPLIT,...`, or all"},
			&cli.StringFlag{Name: "model", DefaultText: "found by its sha256",
				Usage: "the backbone that made the features: `NAME` of winnow models list, or an ONNX file"},
			&cli.IntFlag{Name: "check", Value: 16, Usage: "run the ONNX file on `N` images before it is written"},
			term.JSONFlag(),
		}, toFlags, term.DataFlags),
		Action: term.CheckedAction(readExport, call),
	}
}

// Options are those of winnow export.
type Options struct {
	Dir    string // of a run; with To also of an index or a feature store
	Run    folder.Options
	Files  []embedding.RunFile
	ONNX   string
	Splits string
	Model  string // the backbone; "": found by its sha256
	Check  int    // images to run the ONNX file on
	To     embedding.Upload
	JSON   bool

	given []string // flags that do not apply to an index or a feature store
}

func readExport(c *cli.Context) (o Options, err error) {
	o = Options{
		ONNX: c.String("onnx"), Splits: c.String("split"), Model: c.String("model"), Check: c.Int("check"),
		JSON: c.Bool("json"),
	}
	for _, form := range embedding.RunForms {
		if path := c.String(form); path != "" {
			o.Files = append(o.Files, embedding.RunFile{Form: form, Path: path})
		}
	}
	if len(o.listExportTargets()) == 0 && c.String("to") == "" {
		return o, term.Misused("winnow export writes what is asked for: name at least one of --%s, --onnx "+
			"FILE, --to URL", strings.Join(embedding.RunForms, ", --"))
	}
	if o.To, err = readTo(c); err != nil {
		return o, err
	}
	for _, name := range []string{"split", "model", "check", "last", "features", "view", "root"} {
		if c.IsSet(name) {
			o.given = append(o.given, name)
		}
	}
	if o.Check < 1 {
		return o, term.Misused("--check: found %d, expected 1 image or more", o.Check)
	}
	if o.Dir, err = term.RunArgument(c); err != nil {
		return o, err
	}
	o.Run, err = training.RunOptions(c)
	return o, err
}

// listExportTargets lists the files to write.
func (o Options) listExportTargets() (files []term.Target) {
	shared := map[string]bool{"": true} // formats share one file of names
	for _, f := range o.Files {
		files = append(files, term.Target{Flag: f.Form, Path: f.Path})
		if path := f.Beside(); !shared[path] {
			files, shared[path] = append(files, term.Target{Flag: f.Form, Path: path}), true
		}
	}
	if o.ONNX != "" {
		files = append(files, term.Target{Flag: "onnx", Path: o.ONNX})
	}
	return files
}

// result is what winnow export --json prints, without what was not asked for.
type result struct {
	Run      string                `json:"run"`
	Vectors  *embedding.RunVectors `json:"embeddings,omitempty"`
	Model    *embedding.Model      `json:"model,omitempty"`
	Database *embedding.Uploaded   `json:"database,omitempty"`
}

// isRun reports whether a folder is a run's, not that of an index or a feature store.
func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, folder.ConfigFile))
	return err == nil
}

func runExport(ctx context.Context, p *term.Program, o Options) error {
	o.To.Note, o.To.Watch = p.Note, p.Watch
	if o.To.URL != "" && !isRun(o.Dir) {
		return o.sendGallery(ctx, p)
	}
	o.Run.Host = p.Host()
	server, err := o.To.Dial(o.Dir)
	if err != nil {
		return err
	}
	if server != nil {
		defer server.Close()
	}
	r, err := folder.Open(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	var model embedding.Joined
	inputs := r.Inputs()
	if o.ONNX != "" {
		if model, err = embedding.Join(r, o.Model, term.Version()); err != nil {
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
		check, err := model.Check(rt, o.Check, p.Note)
		if err != nil {
			return fmt.Errorf("export: %s is not written: %w", o.ONNX, err)
		}
		done.Model = model.Describe(o.ONNX, check)
	}
	if len(o.Files) > 0 {
		if done.Vectors, err = embedding.WriteRun(ctx, r, o.Splits, o.Files); err != nil {
			return err
		}
		if left := done.Vectors.LeftOut; len(left) > 0 {
			p.Note("%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
		}
	}
	if o.ONNX != "" {
		if err := embedding.WriteWhole(o.ONNX,
			func(w io.Writer) error { _, err := w.Write(model.Model); return err }); err != nil {
			return err
		}
	}
	if server != nil {
		if done.Database, err = o.To.Run(ctx, server, r, o.Splits); err != nil {
			return asPayloadMisuse(err)
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
		fmt.Fprintf(p.Out, "model       %s: %s → %s [N,%d], opset %d, %.1f MB\n", m.File, m.Input, m.Output, m.Dim,
			m.Opset, float64(m.Bytes)/1e6)
		fmt.Fprintf(p.Out, "            %s\n", m.Check)
	}
	if d := r.Database; d != nil {
		fmt.Fprintf(p.Out, "database    %s\n", d)
	}
	return nil
}
