// Package embedding computes vectors of images: by a run's backbone and head, by a model that winnow export wrote, or
// by a backbone without a head. It writes the vectors to files ([Network.WriteFile]), adds them to an index
// ([CreateIndex], [ExtendIndex]), and searches an index for them ([Search]).
package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"winnow/backbone"
	"winnow/datasets/location"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/seal"
	"winnow/models"
	"winnow/run/extraction"
	"winnow/search"
)

// Options holds the model that embeds images, the place of the images, and sizes.
type Options struct {
	Model    string          // a run folder, an ONNX file or a known backbone; "": the model of the existing vectors
	Backbone string          // backbone of a run folder; "": found by its SHA-256
	Root     location.Source // folder to which paths in manifests and on standard input are relative
	Stdin    io.Reader       // list of images to read for the name "-"
	Batch    int             // images per run of the network
	Workers  int             // images decoded at the same time; 0: one per core
}

// Host holds the functions that the calling program provides.
type Host = extraction.Host

// Embedder computes vectors of images.
type Embedder struct {
	search.Embedder // its identity

	Backbone *models.Backbone
	cut      *models.Prepared
	head     *head.Head // nil: the model's output is the vector
	Unit     bool       // the vectors have length 1
	Files    []string   // files of the model, which must not be overwritten
}

// Open opens a run folder, an ONNX file, or a backbone by its name. file is the backbone of a run; if it is "", Open
// finds the backbone by its SHA-256. Open notes warnings about the model.
func Open(model, file string, note func(format string, args ...any)) (*Embedder, error) {
	return openPrepared(model, file, "", note)
}

// openPrepared does the same as Open, but replaces the model's preprocessing by the given one unless it is "".
func openPrepared(model, file, preprocessing string, note func(format string, args ...any)) (*Embedder, error) {
	if info, err := os.Stat(model); err == nil && info.IsDir() {
		return OpenRun(model, file)
	}
	if file != "" {
		return nil, hint.Misused("--backbone names the backbone of a run folder; %s is not a folder", model)
	}
	registry, err := models.OpenDefault()
	if err != nil {
		return nil, err
	}
	b, err := registry.Resolve(model, models.Settings{})
	if err != nil {
		return nil, err
	}
	if preprocessing != "" {
		if b.Preprocessing, err = backbone.ParsePreprocessing(preprocessing); err != nil {
			return nil, err
		}
	}
	e := &Embedder{Backbone: b}
	output, joined, err := exportedOutput(b)
	if err != nil {
		return nil, err
	}
	e.Unit, e.Source = joined, model
	if b.Path != "" {
		e.Files = []string{b.Path}
		if _, err := os.Stat(model); err == nil {
			e.Source = extraction.Absolute(model)
		}
	}
	if err := e.prepareModel(output); err != nil {
		return nil, err
	}
	for _, warning := range slices.Concat(b.Warnings, e.cut.Warnings) {
		note("%s", warning)
	}
	return e, nil
}

// HeadSumKey is the metadata key for the SHA-256 of the head's file, in an ONNX file that contains a head.
const HeadSumKey = "winnow.head_sha256"

// OpenRun opens the network and the head of a run, without its manifest and features. file is the backbone; if it is
// "", OpenRun finds the backbone by its SHA-256.
func OpenRun(dir, file string) (*Embedder, error) {
	name, network := filepath.Join(dir, extraction.HeadFile), filepath.Join(dir, extraction.NetworkFile)
	h, meta, err := models.ReadHead(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(
			fmt.Errorf("%s: contains no %s, expected a folder of a finished training", dir, extraction.HeadFile),
			"if its training was interrupted, continue it: winnow train --resume %s", dir)
	}
	if err != nil {
		return nil, err
	}
	e := &Embedder{head: h, Unit: true, Files: []string{name, network, filepath.Join(dir, extraction.FactsFile)}}
	data, err := regular.ReadFile(name, regular.Most)
	if err != nil {
		return nil, err
	}
	e.Source, e.Embedder.Head = extraction.Absolute(dir), models.Sum(data)
	if _, gone := os.Stat(network); gone != nil {
		e.Backbone, err = frozenBackbone(dir, meta, file)
	} else if file == "" {
		e.Backbone, err = extraction.TunedBackbone(network, meta)
	} else {
		err = hint.Misused("--backbone: the backbone of this run was fine-tuned and is stored in it")
	}
	if err != nil {
		return nil, err
	}
	return e, e.prepareModel(meta.Output)
}

// frozenBackbone finds the backbone that computed the features of a run, by its SHA-256 or by the path in run.json.
func frozenBackbone(dir string, meta models.HeadMeta, file string) (*models.Backbone, error) {
	var facts struct {
		Places map[string]location.Place `json:"places"`
	}
	if text, err := regular.ReadFile(filepath.Join(dir, extraction.FactsFile), regular.Most); err == nil {
		if err := seal.Unmarshal(text, &facts); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, extraction.FactsFile), err)
		}
	}
	var places []string
	for _, key := range []string{"backbone", "model"} {
		if was, ok := facts.Places[key]; ok {
			for _, at := range was.Candidates(dir) {
				places = append(places, at.Path())
			}
		}
	}
	b, err := extraction.BackboneBy(meta.ModelSHA256, meta.Preprocessing, "run "+dir, file, places...)
	if hinted, ok := errors.AsType[*hint.Error](err); ok {
		err = hint.With(hinted.Err, "name the model's file with --backbone FILE, or record it: winnow models add FILE")
	}
	return b, err
}

// OpenMaker opens the model that made the vectors of a gallery, at its recorded path or as o names it. Another version
// of the image decoder is only noted, because it decodes nearly the same pixels.
func OpenMaker(g *search.Gallery, o Options, note func(format string, args ...any)) (*Embedder, error) {
	if g.Index != nil {
		was := g.Index.Embedder
		was.Decoder = decoderNow(g.Index.Dir, was.Preprocessing, was.Decoder, note)
		return reopenEmbedder(g.Index.Dir, was, o, note)
	}
	b, err := extraction.BackboneOf(g.Store, o.Model)
	if err != nil {
		return nil, err
	}
	decoderNow(g.Store.Dir, g.Store.Key.Preprocessing, g.Store.Key.Decoder, note)
	e := &Embedder{Backbone: b}
	e.Source = b.Path
	return e, e.prepareModel(g.Store.Key.Output)
}

// decoderNow returns the current version of the decoder for a preprocessing, and adds a note if it differs from was.
func decoderNow(dir, preprocessing, was string, note func(format string, args ...any)) string {
	p, err := backbone.ParsePreprocessing(preprocessing)
	if err != nil {
		return was // comparing the embedders later returns the error
	}
	now := p.DecoderVersion()
	if now != was {
		note("%s: made with image decoder %q, now %q: similarities differ slightly", dir,
			was,
			now)
	}
	return now
}

// reopenEmbedder opens the embedder that made an index, by its recorded path or by o. Another embedder is an error.
func reopenEmbedder(dir string, was search.Embedder, o Options, note func(format string, args ...any)) (
	*Embedder, error) {
	from := was.Source
	if !was.Place.Absolute.IsZero() {
		from = was.Place.Find(dir, nil).Path()
	}
	e, err := openPrepared(cmp.Or(o.Model, from), o.Backbone, was.Preprocessing, note)
	if err != nil {
		if o.Model == "" && hint.Of(err) == "" {
			err = hint.With(err, "the index %s was made by %s: if it moved, name it with --model", dir, was.Source)
		}
		return nil, err
	}
	if why := was.Differs(e.Embedder); why != "" {
		return nil, hint.With(&search.OtherEmbedder{Dir: dir, Why: why},
			"vectors of two embedders cannot be compared: "+
				"name the model that made the index with --model, or make a new index")
	}
	return e, nil
}

// exportedOutput returns the embedding tensor of a file that winnow export wrote; ok is false for other files, whose
// tensor models.Prepare finds.
func exportedOutput(b *models.Backbone) (string, bool, error) {
	m, err := b.Graph()
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

// prepareModel cuts the model and fills in the embedder's identity.
func (e *Embedder) prepareModel(output string) (err error) {
	if e.cut, err = extraction.PrepareBackbone(e.Backbone, output); err != nil {
		return err
	}
	p := e.Backbone.Preprocessing
	e.Model, e.Output, e.Preprocessing, e.Decoder = e.Backbone.SHA256, e.cut.Cut, p.Key(), p.DecoderVersion()
	return nil
}
