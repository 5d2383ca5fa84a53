package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets/imagelist"
	"winnow/embedding"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/folder"
)

// openEmbedder opens a run folder, an ONNX file, or a backbone by its name. file is the backbone of a run where it is
// not found by its sha256, "" otherwise.
func openEmbedder(c *cli.Context, source, file string) (*embedding.Embedder, error) {
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
	b, err := registry.Resolve(source, models.Settings{})
	if err != nil {
		return nil, err
	}
	e, err := embedding.New(b, source)
	if err != nil {
		return nil, err
	}
	for _, warning := range e.Warnings() {
		note(c, "%s", warning)
	}
	return e, nil
}

// openRunEmbedder opens the network and the head of a run.
func openRunEmbedder(dir, file string) (*embedding.Embedder, error) {
	r, err := folder.Read(dir, false)
	if err != nil {
		return nil, err
	}
	if r.Config.Finetune.On() && file != "" {
		return nil, misused("--backbone: the backbone of this run was fine-tuned and lies in it")
	}
	return embedding.NewFromRun(r, func(sum, preprocessing, whose string, places ...string) (*models.Backbone, error) {
		b, err := backboneBy(sum, preprocessing, whose, file, places...)
		var hinted *hint.Error
		if errors.As(err, &hinted) {
			err = withHint(hinted.Err, "name the model's file with --backbone FILE, or record it: winnow models add FILE")
		}
		return b, err
	})
}

// openNetwork loads an embedder's network. With fill it always computes whole batches.
func openNetwork(c *cli.Context, e *embedding.Embedder, fill, unit bool) (*embedding.Network, error) {
	rt, err := openRuntime(c)
	if err != nil {
		return nil, err
	}
	whole := 0
	if fill {
		whole = c.Int("batch")
	}
	return e.Load(rt, whole, unit)
}

// embedImages sends images through the network into rows.
func embedImages(c *cli.Context, e *embedding.Embedder, net *embedding.Network, list *imagelist.List, paths []string, rows backbone.RowWriter) error {
	observe, end := imageProgress(c)
	defer end()
	cfg := backbone.ExtractConfig{Preprocessing: e.Backbone.Preprocessing, Batch: c.Int("batch"), Workers: c.Int("workers")}
	return backbone.Extract(c.Context, cfg, net, list, paths, rows, observe)
}
