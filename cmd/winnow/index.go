package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets/imagelist"
	"winnow/embedding"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/search"
)

func indexCommand() *cli.Command {
	return &cli.Command{
		Name:      "index",
		Usage:     "keep the vectors of images on disk for winnow search, and add new images later",
		ArgsUsage: "IMAGES...",
		Description: "Embeds images (as winnow embed takes them) into the folder --out: vectors.bin (unit vectors, one an image), paths.txt\n" +
			"and index.json, which says who made them. --add puts images behind those that are there, by the same embedder, and\n" +
			"passes over those it has: made in several steps with one --batch it is, byte by byte, that of one. Stopped at any moment it\n" +
			"keeps what it had counted; --add goes on. Images are known by the paths they were named by; unreadable ones are\n" +
			"left out, and tried again by --add.\n\n" +
			"   winnow index --model runs/birds photos/2024 --out birds.index\n" +
			"   winnow index photos/2025 --out birds.index --add",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", DefaultText: "with --add, the one that made the index", Usage: "embed by a run folder, an ONNX `FILE` that winnow export wrote, or a backbone of winnow models list"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "the index, a folder `DIR`"},
			&cli.BoolFlag{Name: "add", Usage: "add to the index that is there"},
			&cli.StringFlag{Name: "dtype", Value: features.Float32, Usage: "store numbers of `TYPE` float32 or, in half the space, float16"},
		}, embedFlags...),
		Action: indexRun,
	}
}

// indexResult is what winnow index --json prints.
type indexResult struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	DType   string           `json:"dtype"`
	Model   string           `json:"model"`
	Added   int              `json:"added"`
	Skipped int              `json:"skipped"` // had been there, or named twice
	LeftOut []lookup.LeftOut `json:"left_out"`
}

func indexRun(c *cli.Context) error {
	dir, add, source := c.String("out"), c.Bool("add"), c.String("model")
	if err := checkEmbedFlags(c); err != nil {
		return err
	}
	switch dtype := c.String("dtype"); {
	case c.NArg() == 0:
		return misused("winnow index: found no images: name files, folders, .zip files, manifests, or - for paths on standard input")
	case !add && source == "":
		return misused("winnow index: --model is missing: a run folder, or an ONNX file of winnow export")
	case add && c.IsSet("dtype"):
		return misused("--dtype: an index keeps the numbers it was made with; make a new one for others")
	case dtype != features.Float32 && dtype != features.Float16:
		return misused("--dtype: found %q, expected %s or %s", dtype, features.Float32, features.Float16)
	}
	x, info, err := openIndex(c, dir, source)
	if err != nil {
		return err
	}
	r, err := x.fill(c, dir, info)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	fmt.Fprintf(c.App.Writer, "%s: %d images × %d values; %d added, %d there already\n", dir, r.Rows, r.Dim, r.Added, r.Skipped)
	return nil
}

// indexing is an index that images are to be put into.
type indexing struct {
	by   *embedding.Embedder
	list *imagelist.List
}

// openIndex finds who embeds and what; with --add also the index as it is.
func openIndex(c *cli.Context, dir, source string) (x indexing, info *search.Info, err error) {
	if c.Bool("add") {
		ix, err := search.Open(dir)
		if err != nil {
			return x, nil, withHint(err, "make one: winnow index --model RUN IMAGES --out %s", dir)
		}
		info = &ix.Info
		if err := ix.Close(); err != nil {
			return x, nil, err
		}
		if source == "" {
			source = info.Embedder.Source
		}
	} else if search.Here(dir) {
		return x, nil, withHint(fmt.Errorf("index: %s: %w", dir, search.ErrExists), "--add puts images behind those it has; a new one needs another --out")
	}
	if x.by, err = embedderOf(c, dir, source, info); err != nil {
		return x, nil, err
	}
	x.list, err = imagelist.Open(c.Args().Slice(), c.String("root"), c.App.Reader)
	return x, info, err
}

// embedderOf opens an embedder and refuses another than made the index; info nil: any.
func embedderOf(c *cli.Context, dir, source string, info *search.Info) (*embedding.Embedder, error) {
	e, err := openEmbedder(c, source, c.String("backbone"))
	if err != nil {
		if info != nil && !c.IsSet("model") {
			if hint.Of(err) == "" {
				err = withHint(err, "the index %s was made by %s: if it moved, name it with --model", dir, source)
			}
		}
		return nil, err
	}
	if info != nil {
		if why := info.Embedder.Differs(e.Embedder); why != "" {
			return nil, withHint(&search.OtherEmbedder{Dir: dir, Why: why}, "vectors of two embedders cannot be compared: name the one that made the index with --model, or make a new index")
		}
	}
	return e, nil
}

// fill embeds what is new.
func (x indexing) fill(c *cli.Context, dir string, info *search.Info) (r indexResult, err error) {
	net, err := openNetwork(c, x.by, true, false)
	if err != nil {
		return r, err
	}
	defer net.Close()
	var ext *search.Extension
	if info == nil {
		ext, err = search.Create(dir, x.by.Embedder, net.Dim(), c.String("dtype"), x.list.Paths())
	} else {
		ext, err = search.Extend(dir, x.by.Embedder, net.Dim(), x.list.Paths())
	}
	if err != nil {
		return r, err
	}
	defer ext.Close()
	r = indexResult{Index: dir, Dim: net.Dim(), DType: c.String("dtype"), Model: x.by.Backbone.Name, Skipped: ext.Skipped, LeftOut: []lookup.LeftOut{}}
	if info != nil {
		r.DType = info.DType
	}
	bad := ext.Bad()
	if len(ext.New) > 0 {
		err := embedImages(c, x.by, net, x.list, ext.New, ext)
		var none *backbone.NoneReadable
		if errors.As(err, &none) && none.Tried == len(ext.New) && info != nil {
			note(c, "none of the %d images that are new can be read", none.Tried)
			bad, err = []features.Bad{{Path: none.Path, Reason: none.Reason.Error()}}, nil
		} else {
			bad = ext.Bad()
		}
		if err != nil {
			return r, err
		}
	}
	r.Rows, r.Added = ext.Total(), ext.Added()
	for _, b := range bad {
		r.LeftOut = append(r.LeftOut, lookup.LeftOut{Path: b.Path, Reason: b.Reason})
	}
	if !c.Bool("json") {
		unreadable(c, bad)
	}
	return r, ext.Close()
}
