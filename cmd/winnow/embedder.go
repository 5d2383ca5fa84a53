package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/graph"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/runs"
	"winnow/search"
)

// embedder makes vectors of images: a run's backbone and head, a model that winnow export wrote, or a backbone alone.
type embedder struct {
	search.Embedder // who it is

	backbone *models.Backbone
	cut      *models.Prepared
	head     *head.Head // nil: what the model gives is the vector
	unit     bool       // the vectors have length 1 as they are
	files    []string   // it reads: nothing must be written over them
}

// openEmbedder opens a run folder, an ONNX file, or a backbone by its name. file is the backbone of a run where it is
// not found by its sha256, "" otherwise.
func openEmbedder(c *cli.Context, source, file string) (*embedder, error) {
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return openRunEmbedder(source, file)
	}
	if file != "" {
		return nil, misused("--backbone names the backbone of a run folder; %s is none", source)
	}
	registry, err := openRegistry()
	if err != nil {
		return nil, err
	}
	e := &embedder{}
	if e.backbone, err = registry.Resolve(source, models.Settings{}); err != nil {
		return nil, err
	}
	output, joined, err := exportedOutput(e.backbone)
	if err != nil {
		return nil, err
	}
	e.unit, e.Source = joined, source
	if e.backbone.Path != "" {
		e.files = []string{e.backbone.Path}
		if _, err := os.Stat(source); err == nil {
			e.Source = absolute(source)
		}
	}
	if err := e.prepare(output); err != nil {
		return nil, err
	}
	for _, warning := range append(e.backbone.Warnings, e.cut.Warnings...) {
		note(c, "%s", warning)
	}
	return e, nil
}

// openRunEmbedder opens the network and the head of a run, which need neither its manifest nor its features.
func openRunEmbedder(dir, file string) (*embedder, error) {
	r, err := readRun(dir, false)
	if err != nil {
		return nil, err
	}
	e := &embedder{head: r.Head, unit: true}
	e.Source = absolute(dir)
	if e.Head, err = runs.FileSum(filepath.Join(dir, r.HeadFile)); err != nil {
		return nil, err
	}
	if r.Config.Finetune.On() {
		if file != "" {
			return nil, misused("--backbone: the backbone of this run was fine-tuned and lies in it")
		}
		e.backbone, err = r.tunedBackbone(r.HeadFile, r.Meta)
	} else {
		places := []string{r.Config.Data.Model}
		if s, err := features.Open(r.originalStore()); err == nil {
			places = append(places, s.ModelFile)
		}
		e.backbone, err = backboneBy(r.Meta.ModelSHA256, r.Meta.Preprocessing, "run "+dir, file, places...)
		var hinted *hint.Error
		if errors.As(err, &hinted) {
			err = withHint(hinted.Err, "name the model's file with --backbone FILE, or record it: winnow models add FILE")
		}
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{runs.ConfigFile, r.HeadFile, runs.BackboneFile(r.HeadFile)} {
		e.files = append(e.files, filepath.Join(dir, name))
	}
	return e, e.prepare(r.Meta.Output)
}

// exportedOutput is the tensor of the embedding where winnow export wrote the file. Of other models models.Prepare finds
// the feature.
func exportedOutput(b *models.Backbone) (string, bool, error) {
	m, err := graph.ReadNamed(b.File, b.Data)
	if err != nil {
		return "", false, err
	}
	for _, p := range m.Metadata {
		if p.Key == headSumKey && len(m.Graph.Outputs) == 1 {
			return m.Graph.Outputs[0].Name, true, nil
		}
	}
	return "", false, nil
}

// headSumKey is the metadata by which a model tells that it ends in a head, and in which.
const headSumKey = "winnow.head_sha256"

// prepare cuts the model and fills in who the embedder is.
func (e *embedder) prepare(output string) (err error) {
	if e.cut, err = models.Prepare(e.backbone.Entry, e.backbone.Data, output); err != nil {
		return err
	}
	p := e.backbone.Preprocessing
	e.Model, e.Output, e.Preprocessing, e.Decoder = e.backbone.SHA256, e.cut.Cut, p.Key(), p.DecoderVersion()
	return nil
}

// open loads the network. With fill it always computes whole batches.
func (e *embedder) open(c *cli.Context, fill, unit bool) (*embeddingNetwork, error) {
	rt, err := openRuntime(c)
	if err != nil {
		return nil, err
	}
	p := e.backbone.Preprocessing
	net, err := ort.NewNetwork(rt, e.cut.Model, e.cut.Tensor, ort.NetworkInput{Name: e.cut.Input, Channels: p.Planes(), Height: p.Crop, Width: p.Crop})
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	n := &embeddingNetwork{runtime: rt, net: net, head: e.head, size: p.Size(), unit: unit}
	if fill {
		n.fill = c.Int("batch")
	}
	return n, nil
}

// extract sends images through the network into rows.
func (e *embedder) extract(c *cli.Context, net *embeddingNetwork, list *imageList, paths []string, rows backbone.RowWriter) error {
	observe, end := imageProgress(c)
	defer end()
	cfg := backbone.ExtractConfig{Preprocessing: e.backbone.Preprocessing, Batch: c.Int("batch"), Workers: c.Int("workers")}
	return backbone.Extract(c.Context, cfg, net, list, paths, rows, observe)
}

// embeddingNetwork is a network and what comes behind it.
type embeddingNetwork struct {
	runtime *ort.Runtime
	net     *ort.Network
	head    *head.Head // nil: none
	size    int        // numbers of a picture
	fill    int        // above 0: batches have so many pictures always, see Infer
	unit    bool       // divide by the length

	pixels []float32
	x      []float32
}

// Dim implements backbone.Network.
func (n *embeddingNetwork) Dim() int {
	if n.head != nil {
		return n.head.Config().Out
	}
	return n.net.Dim()
}

// Infer implements backbone.Network. With fill, a batch of fewer pictures is filled up with black ones: an image's last
// bits depend on how many come with it (one alone and the same one among 46 differed, after MobileNetV2 and a head of
// 256), and an index made in steps is to be that of one.
func (n *embeddingNetwork) Infer(dst blas32.General, pixels []float32, count int) error {
	run := count
	if count < n.fill {
		if n.pixels == nil {
			n.pixels = make([]float32, n.fill*n.size)
		}
		copy(n.pixels, pixels[:count*n.size])
		clear(n.pixels[count*n.size:])
		pixels, run = n.pixels, n.fill
	}
	if need := run * n.net.Dim(); len(n.x) < need {
		n.x = make([]float32, need)
	}
	x := blas32.General{Rows: run, Cols: n.net.Dim(), Stride: n.net.Dim(), Data: n.x[:run*n.net.Dim()]}
	if err := n.net.Infer(x, pixels, run); err != nil {
		return err
	}
	if n.head != nil {
		var err error
		if x, err = n.head.Embed(x); err != nil {
			return err
		}
	}
	if n.unit {
		search.UnitRows(x)
	}
	for i := range count {
		copy(features.Row(dst, i), features.Row(x, i))
	}
	return nil
}

// Close frees network and runtime.
func (n *embeddingNetwork) Close() error { return errors.Join(n.net.Close(), n.runtime.Close()) }

// embedFlags are those of every command that embeds images.
var embedFlags = []cli.Flag{
	&cli.StringFlag{Name: "backbone", DefaultText: "found by its sha256", Usage: "the backbone of a run folder, an ONNX `FILE`, where it moved"},
	&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder", Usage: "`DIR` (or .zip file) that the paths of a manifest, or of -, start from"},
	&cli.IntFlag{Name: "batch", Value: extractBatch, Usage: "`N` images a run of the network"},
	&cli.IntFlag{Name: "workers", DefaultText: "one a core", Usage: "`N` images decoded at the same time"},
	&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
}

// checkEmbedFlags refuses numbers that cannot be.
func checkEmbedFlags(c *cli.Context) error {
	for name, least := range map[string]int{"batch": 1, "workers": 0} {
		if c.Int(name) < least {
			return misused("--%s: found %d, expected at least %d", name, c.Int(name), least)
		}
	}
	return nil
}

// unreadable says in a line or more what was left out.
func unreadable(c *cli.Context, bad []features.Bad) {
	if len(bad) == 0 {
		return
	}
	fmt.Fprintf(c.App.ErrWriter, "winnow: %d unreadable images are left out:\n", len(bad))
	for _, b := range first(bad, listed) {
		fmt.Fprintf(c.App.ErrWriter, "  %s: %s\n", b.Path, b.Reason)
	}
	if len(bad) > listed {
		fmt.Fprintln(c.App.ErrWriter, "  … --json lists all of them")
	}
}
