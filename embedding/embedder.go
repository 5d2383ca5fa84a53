// Package embedding makes vectors of images: by a run's backbone and head, a model that winnow export wrote, or a backbone
// alone.
package embedding

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/extraction"
	"winnow/features"
	"winnow/graph"
	"winnow/head"
	"winnow/models"
	"winnow/run/folder"
	"winnow/search"
)

// Embedder makes vectors of images: a run's backbone and head, a model that winnow export wrote, or a backbone alone.
type Embedder struct {
	search.Embedder // its identity

	Backbone *models.Backbone
	cut      *models.Prepared
	head     *head.Head // nil: the model's output is the vector
	Unit     bool       // the vectors have length 1
	Files    []string   // that it reads: nothing must be written over them
}

// New returns the embedder of a backbone alone, or of a model that winnow export wrote. source is the name it was asked for by.
func New(b *models.Backbone, source string) (*Embedder, error) {
	e := &Embedder{Backbone: b}
	output, joined, err := exportedOutput(b)
	if err != nil {
		return nil, err
	}
	e.Unit, e.Source = joined, source
	if b.Path != "" {
		e.Files = []string{b.Path}
		if _, err := os.Stat(source); err == nil {
			e.Source = extraction.Absolute(source)
		}
	}
	return e, e.prepare(output)
}

// NewFromStore returns the embedder of the backbone that made a store.
func NewFromStore(b *models.Backbone, s *features.Store) (*Embedder, error) {
	e := &Embedder{Backbone: b}
	e.Source = b.Path
	return e, e.prepare(s.Key.Output)
}

// NewFromRun returns the embedder of a run's network and head; it needs neither the run's manifest nor its features. find finds a
// backbone by its sha256 if the run did not train its own: whose says in errors what was made with it, places are where it
// may lie.
func NewFromRun(r *folder.Run, find func(sum, preprocessing, whose string, places ...string) (*models.Backbone, error)) (*Embedder, error) {
	e := &Embedder{head: r.Head, Unit: true}
	e.Source = extraction.Absolute(r.Dir)
	var err error
	if e.Head, err = folder.FileSum(filepath.Join(r.Dir, r.HeadFile)); err != nil {
		return nil, err
	}
	if r.Config.Finetune.On() {
		e.Backbone, err = r.TunedBackbone(r.HeadFile, r.Meta)
	} else {
		places := []string{r.Config.Data.Model}
		if s, err := features.Open(r.OriginalStore()); err == nil {
			places = append(places, s.ModelFile)
		}
		e.Backbone, err = find(r.Meta.ModelSHA256, r.Meta.Preprocessing, "run "+r.Dir, places...)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{folder.ConfigFile, r.HeadFile, folder.BackboneFile(r.HeadFile)} {
		e.Files = append(e.Files, filepath.Join(r.Dir, name))
	}
	return e, e.prepare(r.Meta.Output)
}

// exportedOutput returns the tensor of the embedding if winnow export wrote the file. models.Prepare finds the feature of other
// models.
func exportedOutput(b *models.Backbone) (string, bool, error) {
	m, err := graph.ReadNamed(b.File, b.Data)
	if err != nil {
		return "", false, err
	}
	for _, p := range m.Metadata {
		if p.Key == HeadSumKey && len(m.Graph.Outputs) == 1 {
			return m.Graph.Outputs[0].Name, true, nil
		}
	}
	return "", false, nil
}

// HeadSumKey is the metadata of a model that ends in a head: the head file's sha256.
const HeadSumKey = "winnow.head_sha256"

// prepare cuts the model and fills in the embedder's identity.
func (e *Embedder) prepare(output string) (err error) {
	if e.cut, err = models.Prepare(e.Backbone.Entry, e.Backbone.Data, output); err != nil {
		return err
	}
	p := e.Backbone.Preprocessing
	e.Model, e.Output, e.Preprocessing, e.Decoder = e.Backbone.SHA256, e.cut.Cut, p.Key(), p.DecoderVersion()
	return nil
}

// Warnings returns what the user should know of the model.
func (e *Embedder) Warnings() []string { return slices.Concat(e.Backbone.Warnings, e.cut.Warnings) }

// Load loads the network onto a runtime, which [Network.Close] closes too. With fill above 0 it always computes batches of that
// size; with unit it divides vectors by their length.
func (e *Embedder) Load(rt *ort.Runtime, fill int, unit bool) (*Network, error) {
	p := e.Backbone.Preprocessing
	net, err := ort.NewNetwork(rt, e.cut.Model, e.cut.Tensor, ort.NetworkInput{Name: e.cut.Input, Channels: p.Planes(), Height: p.Crop, Width: p.Crop})
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return &Network{runtime: rt, net: net, head: e.head, size: p.Size(), unit: unit, fill: fill}, nil
}

// Network is a network with its head and normalisation.
type Network struct {
	runtime *ort.Runtime
	net     *ort.Network
	head    *head.Head // nil: none
	size    int        // numbers per picture
	fill    int        // above 0: the size of every batch, see Infer
	unit    bool       // divide by the length

	pixels []float32
	x      []float32
}

// Dim implements backbone.Network.
func (n *Network) Dim() int {
	if n.head != nil {
		return n.head.Config().Out
	}
	return n.net.Dim()
}

// Infer implements backbone.Network. With fill, a batch of fewer pictures is filled up with black ones: an image's last
// bits depend on the size of its batch (one alone and the same one among 46 differed, after MobileNetV2 and a head of
// 256), and an index made in steps must equal one made at once.
func (n *Network) Infer(dst blas32.General, pixels []float32, count int) error {
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
func (n *Network) Close() error { return errors.Join(n.net.Close(), n.runtime.Close()) }
