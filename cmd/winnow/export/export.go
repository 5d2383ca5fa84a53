// Package export is winnow export.
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
	"winnow/datasets"
	"winnow/run/embedding"
	"winnow/run/folder"
)

// Command is winnow export.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export embeddings to files or a vector database, and backbone with head as one ONNX file",
		ArgsUsage: "RUN",
		Description: "Embeddings are unit rows of the run's best head, in the order of the manifest; unreadable images are left\n" +
			"out and reported. Beside FILE.npy, .safetensors and .fvecs stands FILE.ids.csv, beside FILE.tsv FILE.metadata.tsv:\n" +
			"they say what each row is.\n\n" +
			"The ONNX file takes images prepared as its metadata say and gives the unit vectors. Before it is written\n" +
			"it runs on real images beside winnow's own way and must agree to 1e-5.\n\n" +
			"   winnow export runs/birds --npy birds.npy --parquet birds.parquet --split test\n\n" +
			"--to sends the embeddings to a vector database: to a collection of a Qdrant server (http://HOST:6334, its gRPC port) or\n" +
			"to a table of PostgreSQL with pgvector (postgres://USER@HOST/DATABASE). One point or row an image, with path, label,\n" +
			"split, the model's sha256 and a digest of it all; Qdrant's id is the UUID of the path (Python:\n" +
			"uuid.uuid5(uuid.NAMESPACE_URL, path)), a table's key the path. The server is asked what it has, and what is missing or\n" +
			"different is sent: the same command goes on after a break, mends what changed and adds what is new. What is made here is\n" +
			"indexed (HNSW, cosine) when all is in; at the end the points are counted and 100 and more of them are read back. Instead of\n" +
			"a run it also takes the folder of winnow index or winnow extract (with --manifest for labels). Keys and passwords come\n" +
			"from " + embedding.KeyVariable + ", PGPASSWORD, ~/.pgpass or --key-file. After ? an address of PostgreSQL takes table=,\n" +
			"schema=, column=, metric=cosine|l2|ip, m=, ef_construction=, and what libpq takes: sslmode=, connect_timeout=, …\n\n" +
			"   winnow export runs/birds --onnx birds.onnx\n" +
			"   winnow export runs/birds --to http://localhost:6334 --collection birds\n" +
			"   winnow export birds.index --to 'postgres://me@db.example/photos?table=birds&sslmode=require'",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "npy",
				Usage: "embeddings to `FILE`, float32, one a row, and what the rows are beside it"},
			&cli.StringFlag{Name: "npz",
				Usage: "embeddings, paths, labels and splits to `FILE`, arrays for numpy.load"},
			&cli.StringFlag{Name: "safetensors",
				Usage: "embeddings to `FILE` as the tensor embeddings, and what the rows are beside it"},
			&cli.StringFlag{Name: "fvecs",
				Usage: "embeddings to `FILE` as faiss and texmex have them, and what the rows are beside it"},
			&cli.StringFlag{Name: "csv", Usage: "embeddings to `FILE` as path,label,split,e0,e1,…"},
			&cli.StringFlag{Name: "tsv",
				Usage: "embeddings to `FILE` for TensorBoard's projector, and its metadata beside it"},
			&cli.StringFlag{Name: "parquet",
				Usage: "embeddings to `FILE` with the columns path, label, split, embedding"},
			&cli.StringFlag{Name: "onnx", Usage: "backbone, head and normalisation to `FILE` as one model"},
			&cli.StringFlag{Name: "split", Value: datasets.EverySplit,
				Usage: "the splits to embed, `SPLIT,...`, or all"},
			&cli.StringFlag{Name: "model", DefaultText: "found by its sha256",
				Usage: "the backbone that made the features: `NAME` of winnow models list, or an ONNX file"},
			&cli.IntFlag{Name: "check", Value: 16, Usage: "run the ONNX file on `N` images before it is written"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, toFlags, term.DataFlags),
		Action: term.Action(read, call),
	}
}

// Options of winnow export.
type Options struct {
	Dir    string // of a run, or, with To, of an index or a feature store
	Run    folder.Options
	Files  []embedding.RunFile
	ONNX   string
	Splits string
	Model  string // the backbone; "": found by its sha256
	Check  int    // images that the ONNX file is run on
	To     embedding.Upload
	JSON   bool

	given []string // flags that say nothing of an index or a feature store
}

func read(c *cli.Context) (o Options, err error) {
	o = Options{
		ONNX: c.String("onnx"), Splits: c.String("split"), Model: c.String("model"), Check: c.Int("check"), JSON: c.Bool("json"),
	}
	for _, form := range embedding.RunForms {
		if path := c.String(form); path != "" {
			o.Files = append(o.Files, embedding.RunFile{Form: form, Path: path})
		}
	}
	if len(o.targets()) == 0 && c.String("to") == "" {
		return o, term.Misused("winnow export writes what is asked for: name at least one of --%s, --onnx FILE, --to URL", strings.Join(embedding.RunForms, ", --"))
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
	o.Run, err = term.RunOptions(c)
	return o, err
}

// targets lists what will be written.
func (o Options) targets() (files []term.Target) {
	beside := map[string]bool{"": true} // one file for all that need it
	for _, f := range o.Files {
		files = append(files, term.Target{Flag: f.Form, Path: f.Path})
		if path := f.Beside(); !beside[path] {
			files, beside[path] = append(files, term.Target{Flag: f.Form, Path: path}), true
		}
	}
	if o.ONNX != "" {
		files = append(files, term.Target{Flag: "onnx", Path: o.ONNX})
	}
	return files
}

// result is what winnow export --json prints. What was not asked for is left out.
type result struct {
	Run      string                `json:"run"`
	Vectors  *embedding.RunVectors `json:"embeddings,omitempty"`
	Model    *embedding.Model      `json:"model,omitempty"`
	Database *embedding.Uploaded   `json:"database,omitempty"`
}

// isRun reports whether a folder is a run's and not that of an index or a feature store.
func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, folder.ConfigFile))
	return err == nil
}

func run(ctx context.Context, p *term.Program, o Options) error {
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
	if err := term.CheckTargets(o.targets(), r.Inputs()); err != nil {
		return err
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	done := result{Run: r.Dir}
	var model embedding.Joined
	if o.ONNX != "" {
		if model, err = embedding.Join(r, o.Model, term.Version()); err != nil {
			return err
		}
		if path := model.Backbone.Path; path != "" {
			if err := term.CheckTargets(o.targets(), []string{path}); err != nil {
				return err
			}
		}
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
		if err := embedding.WriteWhole(o.ONNX, func(w io.Writer) error { _, err := w.Write(model.Model); return err }); err != nil {
			return err
		}
	}
	if server != nil {
		if done.Database, err = o.To.Run(ctx, server, r, o.Splits); err != nil {
			return misuse(err)
		}
	}
	return done.print(p, o.JSON)
}

func (r result) print(p *term.Program, asJSON bool) error {
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
		fmt.Fprintf(p.Out, "model       %s: %s → %s [N,%d], opset %d, %.1f MB\n", m.File, m.Input, m.Output, m.Dim, m.Opset, float64(m.Bytes)/1e6)
		fmt.Fprintf(p.Out, "            %s\n", m.Check)
	}
	if d := r.Database; d != nil {
		fmt.Fprintf(p.Out, "database    %s\n", d)
	}
	return nil
}
