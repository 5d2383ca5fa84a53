// Package embedding computes vectors of images: by a run's backbone and head, by a model that winnow export wrote, or
// by a backbone alone. It writes them to files ([Network.WriteFile]), adds them to an index ([CreateIndex],
// [ExtendIndex]) and searches there for them ([Search]).
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

// Options say what embeds images, where they are, and how many at a time.
type Options struct {
	Model    string          // a run folder, an ONNX file or a known backbone; "": what made the vectors that exist
	Backbone string          // of a run folder, if it is not found by its sha256
	Root     location.Source // folder that the paths in manifests and on standard input are relative to
	Stdin    io.Reader       // list of images for the name "-"
	Batch    int             // images per run of the network
	Workers  int             // images decoded at the same time; 0: one per core
}

// Host is what embedding needs from the program around it.
type Host = extraction.Host

// Embedder computes vectors of images.
type Embedder struct {
	search.Embedder // its identity

	Backbone *models.Backbone
	cut      *models.Prepared
	head     *head.Head // nil: the model's output is the vector
	Unit     bool       // the vectors have length 1
	Files    []string   // its input files, which must not be overwritten
}

// Open opens a run folder, an ONNX file, or a backbone by its name. file is the backbone of a run, "" to find it by its
// sha256. Warnings about the model are noted.
func Open(model, file string, note func(format string, args ...any)) (*Embedder, error) {
	return openPrepared(model, file, "", note)
}

// openPrepared is Open for images prepared in a given way instead of the model's; "": in the model's.
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

// HeadSumKey is the metadata key of an ONNX file that ends in a head: the sha256 of the head's file.
const HeadSumKey = "winnow.head_sha256"

// OpenRun opens the network and the head of a run. Manifest and features are not needed. file is the backbone, "" to
// find it by its sha256.
func OpenRun(dir, file string) (*Embedder, error) {
	name, network := filepath.Join(dir, extraction.HeadFile), filepath.Join(dir, extraction.NetworkFile)
	h, meta, err := models.ReadHead(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(
			fmt.Errorf("%s: holds no %s, expected a folder of a finished training", dir, extraction.HeadFile),
			"make one, or continue it with --resume: winnow train --out %s",
			dir,
		)
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

// frozenBackbone finds the backbone that made the features of a run: by its sha256, or where run.json says that it was.
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

// OpenMaker opens what made the vectors of a gallery, from where it was or as o names it. Another version of the
// decoder reads nearly the same pictures: that is noted, not an error.
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

// decoderNow returns today's version of the decoder of a preprocessing, and notes if it differs from the one used.
func decoderNow(dir, preprocessing, was string, note func(format string, args ...any)) string {
	p, err := backbone.ParsePreprocessing(preprocessing)
	if err != nil {
		return was // comparing the embedders later says what differs
	}
	now := p.DecoderVersion()
	if now != was {
		note("%s: another version of the decoder read its images (%q, today %q): similarities are a little off", dir,
			was,
			now)
	}
	return now
}

// reopenEmbedder opens the embedder that made an index, from where it was or as o names it. Another embedder is an
// error.
func reopenEmbedder(
	dir string,
	was search.Embedder,
	o Options,
	note func(format string, args ...any),
) (*Embedder, error) {
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
				"name the one that made the index with --model, or make a new index")
	}
	return e, nil
}

// exportedOutput returns the tensor of the embedding if winnow export wrote the file, and whether it did. In other
// files models.Prepare finds the tensor.
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
