package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/internal/atomicfile"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write embeddings as npy, CSV or Parquet or into Qdrant, and backbone with head as one ONNX file",
		ArgsUsage: "RUN",
		Description: "Embeddings are unit rows of the run's best head, in the order of the manifest; unreadable images are left\n" +
			"out and reported. Beside FILE.npy stands FILE.ids.csv, which says what each row is.\n\n" +
			"The ONNX file takes images prepared as its metadata say and gives the unit vectors. Before it is written\n" +
			"it runs on real images beside winnow's own way and must agree to 1e-5.\n\n" +
			"   winnow export runs/birds --npy birds.npy --parquet birds.parquet --split test\n" +
			"--qdrant sends the embeddings to a collection of a Qdrant server, over gRPC: one point an image, its id the UUID of\n" +
			"its path (Python: uuid.uuid5(uuid.NAMESPACE_URL, path)), cosine distance, and as payload path, label, split, the\n" +
			"model's sha256 and a digest of it all. The server is asked what it has, and what is missing or different is sent: the\n" +
			"same command goes on after a break, mends what changed and adds what is new. A collection made here is indexed when\n" +
			"all is in; at the end the points are counted and 100 and more of them are read back. Instead of a run it also takes the folder of\n" +
			"winnow index or winnow extract (with --manifest for labels). The server's key comes from WINNOW_QDRANT_API_KEY.\n\n" +
			"   winnow export runs/birds --onnx birds.onnx\n" +
			"   winnow export runs/birds --qdrant http://localhost:6334 --collection birds\n" +
			"   winnow export birds.index --qdrant https://qdrant.example:6334 --collection birds --on-disk",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "npy", Usage: "embeddings to `FILE`, float32, one a row, and what the rows are beside it"},
			&cli.StringFlag{Name: "csv", Usage: "embeddings to `FILE` as path,label,split,e0,e1,…"},
			&cli.StringFlag{Name: "parquet", Usage: "embeddings to `FILE` with the columns path, label, split, embedding"},
			&cli.StringFlag{Name: "onnx", Usage: "backbone, head and normalisation to `FILE` as one model"},
			&cli.StringFlag{Name: "split", Value: everySplit, Usage: "the splits to embed, `SPLIT,...`, or all"},
			&cli.StringFlag{Name: "model", DefaultText: "found by its sha256", Usage: "the backbone that made the features: `NAME` of winnow models list, or an ONNX file"},
			&cli.IntFlag{Name: "check", Value: 16, Usage: "run the ONNX file on `N` images before it is written"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, qdrantFlags, dataFlags),
		Action: exportRun,
	}
}

// exportResult is what winnow export --json prints. What was not asked for is left out.
type exportResult struct {
	Run     string        `json:"run"`
	Vectors *vectorExport `json:"embeddings,omitempty"`
	Model   *modelExport  `json:"model,omitempty"`
	Qdrant  *qdrantExport `json:"qdrant,omitempty"`
}

func exportRun(c *cli.Context) error {
	files := exportFiles(c)
	if len(files) == 0 && c.String("qdrant") == "" {
		return misused("winnow export writes what is asked for: name at least one of --npy, --csv, --parquet, --onnx FILE, --qdrant URL")
	}
	server, err := dialQdrant(c)
	if err != nil {
		return err
	}
	if server != nil {
		defer server.Close()
		if dir := c.Args().First(); c.NArg() == 1 && !isRun(dir) {
			return exportIndex(c, server, dir, files)
		}
	}
	if c.Int("check") < 1 {
		return misused("--check: found %d, expected 1 image or more", c.Int("check"))
	}
	r, err := openRunArg(c)
	if err != nil {
		return err
	}
	if err := checkTargets(files, r.inputs()); err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := exportResult{Run: r.Dir}
	var model []byte
	if c.String("onnx") != "" {
		if result.Model, model, err = exportModel(c, r, rt, files); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(files, func(f exportFile) bool { return f.Flag != "onnx" }) {
		if result.Vectors, err = exportVectors(c, r); err != nil {
			return err
		}
	}
	if path := c.String("onnx"); path != "" {
		if err := writeExport(path, func(w io.Writer) error { _, err := w.Write(model); return err }); err != nil {
			return err
		}
	}
	if server != nil {
		if result.Qdrant, err = exportToQdrant(c, server, r); err != nil {
			return err
		}
	}
	return result.show(c)
}

func (r exportResult) show(c *cli.Context) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	r.print(c.App.Writer)
	return nil
}

// exportFiles lists what will be written.
func exportFiles(c *cli.Context) (files []exportFile) {
	for _, flag := range []string{"npy", "csv", "parquet", "onnx"} {
		path := c.String(flag)
		if path == "" {
			continue
		}
		files = append(files, exportFile{Flag: flag, Path: path})
		if flag == "npy" {
			files = append(files, exportFile{Flag: flag, Path: idsFile(path)})
		}
	}
	return files
}

// writeExport writes one file whole or not at all.
func writeExport(path string, write func(io.Writer) error) error {
	err := atomicfile.Write(path, write)
	if err == nil {
		return nil
	}
	var inPath *os.PathError
	if errors.As(err, &inPath) { // of the temporary file, whose name says nothing
		err = inPath.Err
	}
	return fmt.Errorf("export: writing %s: %w", path, err)
}

func (r exportResult) print(w io.Writer) {
	if v := r.Vectors; v != nil {
		fmt.Fprintf(w, "embeddings  %d × %d", v.Rows, v.Dim)
		if n := len(v.LeftOut); n > 0 {
			fmt.Fprintf(w, ", %d unreadable images left out", n)
		}
		fmt.Fprintf(w, "\n            %s\n", strings.Join(v.Files, ", "))
	}
	if m := r.Model; m != nil {
		fmt.Fprintf(w, "model       %s: %s → %s [N,%d], opset %d, %.1f MB\n", m.File, m.Input, m.Output, m.Dim, m.Opset, float64(m.Bytes)/1e6)
		fmt.Fprintf(w, "            %s\n", m.Check)
	}
	if q := r.Qdrant; q != nil {
		fmt.Fprintf(w, "qdrant      %s\n", q)
	}
}
