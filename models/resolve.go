package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/internal/catalog"
)

// Resolve finds a backbone by the name of an entry or by the path of an ONNX file, and reads it.
//
// The file of an entry must have the recorded sha256. A file given by path that has the sha256 of an entry is that
// entry, whatever its name. Any other file gets its preprocessing from the settings, and from its metadata if
// winnow wrote it. If both are empty and the input is an ordinary colour image, Resolve assumes ImageNet's
// preprocessing, with a warning.
func (r *Registry) Resolve(name string, s Settings) (*Backbone, error) {
	b, recorded, err := r.loadBackbone(name)
	if err != nil {
		return nil, err
	}
	if recorded {
		return b, b.settlePreprocessing(s)
	}
	m, err := b.readNetworkGraph()
	if err != nil {
		return nil, err
	}
	return b, b.guessPreprocessing(m, s)
}

// loadBackbone finds and reads a backbone. recorded reports whether an entry records its preprocessing.
func (r *Registry) loadBackbone(name string) (b *Backbone, recorded bool, err error) {
	if e, ok := r.Entry(name); ok {
		b, err = r.openEntry(e)
		return b, true, err
	}
	b = &Backbone{Path: name}
	s, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("models: %q%s: no model has this name and there is no such file: see winnow "+
			"models list", name, catalog.Ask(name, r.Names()))
	} else if err != nil {
		return nil, false, fmt.Errorf("models: %w", err)
	}
	for _, e := range r.Entries() {
		if e.SHA256 == s.sum {
			b.Entry = e
			b.fillStored(s)
			return b, true, nil
		}
	}
	if err := r.checkChanged(name, s.sum); err != nil {
		return nil, false, err
	}
	b.Name = strings.TrimSuffix(filepath.Base(name), ".onnx")
	b.File, b.Untried = name, true
	b.fillStored(s)
	return b, false, nil
}

// checkChanged returns an error if the user's registry records the file at path with another checksum.
func (r *Registry) checkChanged(path, sum string) error {
	here, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	for _, e := range r.Entries() {
		if e.SHA256 == "" || !r.Own(e.Name) {
			continue
		}
		at, _ := r.Locate(e)
		if there, err := os.Stat(at); err == nil && os.SameFile(here, there) {
			return fmt.Errorf("models: %s has changed: sha256 %s, expected %s as recorded for %q: restore it, "+
				"or record it again (winnow models remove %s, winnow models add FILE)", path, sum, e.SHA256, e.Name,
				e.Name)
		}
	}
	return nil
}

// fillStored copies the fields of s.
func (b *Backbone) fillStored(s stored) {
	b.Data, b.SHA256, b.Folder, b.Beside, b.Size = s.data, s.sum, s.folder, s.beside, s.size
}

// openEntry reads an entry's file and checks its sha256.
func (r *Registry) openEntry(e Entry) (*Backbone, error) {
	path, ok := r.Locate(e)
	if !ok {
		how := "winnow models show " + e.Name + " says how to get it"
		if pub, ok := e.Published(); ok && len(pub.Places) > 0 {
			how = "winnow models get " + e.Name + " fetches it"
		}
		return nil, fmt.Errorf("models: %q: its file was not found, looked at %s: %s", e.Name,
			strings.Join(orName(r.filePaths(e), e.File), ", "), how)
	}
	b := &Backbone{Entry: e, Path: path}
	s := stored{data: compiledFiles()[e.File]}
	if s.sum, s.size = Sum(s.data), int64(len(s.data)); path != "" {
		var err error
		if s, err = readFile(path); err != nil {
			return nil, fmt.Errorf("models: %q: %w", e.Name, err)
		}
	}
	if e.SHA256 != "" && e.SHA256 != s.sum {
		with := ""
		if len(s.beside) > 0 {
			with = fmt.Sprintf(" with %q", s.beside)
		}
		return nil, fmt.Errorf("models: %q: %s%s has sha256 %s, expected %s: it was changed or is another model",
			e.Name, path, with, s.sum, e.SHA256)
	}
	b.fillStored(s)
	return b, nil
}

func orName(places []string, name string) []string {
	if len(places) == 0 {
		return []string{name}
	}
	return places
}

// settlePreprocessing applies the settings to an entry's preprocessing. Single settings override recorded values; a
// preset, which is less specific, does not.
func (b *Backbone) settlePreprocessing(s Settings) (err error) {
	if s.Preset != "" {
		p, err := Settings{Preset: s.Preset, Size: &Size{b.Preprocessing.High(), b.Preprocessing.Crop}}.
			applySettings(b.Preprocessing)
		if err != nil {
			return err
		}
		if what := b.Preprocessing.Differs(p); what != "" {
			b.Warnings = append(b.Warnings, fmt.Sprintf("%s: the known preprocessing is kept: %s; the preset %s "+
				"differs in %s and is ignored (use single settings, or record the file again)",
				b.Name, b.Preprocessing.Describe(), s.Preset, what))
		}
		s.Preset = ""
	}
	b.Preprocessing, err = s.applySettings(b.Preprocessing)
	b.Shaped = b.Shaped || s.Shaped()
	if s.Output != "" {
		b.Output = s.Output
	}
	return err
}

// PreprocessingKey is the metadata key of an ONNX file under which winnow stores the preprocessing: the canonical
// form of a [backbone.Preprocessing].
const PreprocessingKey = "winnow.preprocessing"

// metadataPreprocessing returns the preprocessing that winnow stored in a file. Without one, told is false and p is
// ImageNet's.
func metadataPreprocessing(m *graph.Model) (p backbone.Preprocessing, told bool, err error) {
	for _, about := range m.Metadata {
		if about.Key == PreprocessingKey {
			p, err = backbone.ParsePreprocessing(about.Value)
			return p, true, err
		}
	}
	return presets["imagenet"], false, nil
}

// ErrUnprepared means that neither the registry nor the file gives a model's preprocessing.
var ErrUnprepared = errors.New("unknown preprocessing")

// guessPreprocessing determines the preprocessing of an unknown file.
func (b *Backbone) guessPreprocessing(m *graph.Model, s Settings) error {
	in, err := imageInput(m)
	if err != nil {
		return fmt.Errorf("models: %s: %w", b.Path, err)
	}
	b.Input, b.Output = in.name, s.Output
	start, told, err := metadataPreprocessing(m)
	if err != nil {
		return fmt.Errorf("models: %s: metadata %s: %w", b.Path, PreprocessingKey, err)
	}
	said := s.Preset != "" || s.Channels != "" || s.Mean != nil || s.Scale != nil
	switch {
	case !told && s.Size == nil && s.Crop == nil && (in.high == 0) != (in.wide == 0):
		return fmt.Errorf("models: %s: input %v leaves one side of its images open, expected a size: "+settingsHelp,
			b.Path, in.info, strings.Join(Presets(), "|"))
	case said || told:
	case in.planes != 3:
		return fmt.Errorf("models: %s: input %v has %d channels and %w: "+settingsHelp,
			b.Path, in.info, in.planes, ErrUnprepared, strings.Join(Presets(), "|"))
	default:
		b.Guessed = true
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s: unknown preprocessing: ImageNet's is assumed; "+settingsHelp,
			b.Path, strings.Join(Presets(), "|")))
	}
	if in.planes == 1 && s.Channels == "" {
		s.Channels = s.greyLike()
	}
	if s.Size == nil && s.Crop == nil && (!told || s.Preset != "") && in.high > 0 && in.wide > 0 {
		s.Size = &Size{in.high, in.wide}
	}
	p, err := s.applySettings(start)
	if err != nil {
		return err
	}
	b.Preprocessing, b.Shaped = p, told && s.Preset == "" || s.Shaped()
	return in.checkChannels(p)
}

// image is the only input of a backbone, float32 [N,planes,high,wide].
type image struct {
	info               *graph.ValueInfo
	name               string
	planes, high, wide int // 0: free
	batch              int // 0: free
}

// imageInput returns the model's input if it takes images.
func imageInput(m *graph.Model) (image, error) {
	inputs := m.Graph.DataInputs()
	if len(inputs) != 1 {
		return image{}, fmt.Errorf("found %d inputs %v, expected one that takes images: winnow runs image encoders "+
			"alone; export that part of the network", len(inputs), inputs)
	}
	in := inputs[0]
	size := func(i int) int {
		if d := in.Shape[i]; d.Known() {
			return int(d.Size)
		}
		return 0
	}
	switch {
	case in.Type != graph.Float32:
		return image{}, fmt.Errorf("input %v: expected float32 (or float16)", in)
	case len(in.Shape) != 4:
		return image{}, fmt.Errorf("input %v: expected images [N,C,H,W]", in)
	case size(1) != 0 && size(1) != 1 && size(1) != 3:
		return image{}, fmt.Errorf("input %v: found images of %d channels, expected 3 (RGB or BGR) or 1 (grey), as "+
			"[N,C,H,W] or [N,H,W,C]", in, size(1))
	}
	return image{in, in.Name, size(1), size(2), size(3), size(0)}, nil
}

// sizeText returns the size of the images as text, with "?" for a free side.
func (in image) sizeText() string {
	return fmt.Sprintf("%v×%v", in.info.Shape[2], in.info.Shape[3])
}

// checkChannels checks the preprocessing against the channels of the input.
func (in image) checkChannels(p backbone.Preprocessing) error {
	if in.planes == 0 || in.planes == p.Planes() {
		return nil
	}
	if in.planes == 1 {
		return fmt.Errorf("models: input %v takes 1 channels, preprocessing %s gives 3, expected L, with one mean and "+
			"one std: "+settingsHelp, in.info, p.Channels, strings.Join(Presets(), "|"))
	}
	return fmt.Errorf("models: input %v takes %d channels, preprocessing %s gives %d: see --channels", in.info,
		in.planes, p.Channels, p.Planes())
}

// checkFits checks the preprocessing against the channels and the size of the input.
func (in image) checkFits(p backbone.Preprocessing) error {
	if err := in.checkChannels(p); err != nil {
		return err
	}
	if in.wide != 0 && in.wide != p.Crop || in.high != 0 && in.high != p.High() {
		return fmt.Errorf("models: input %v takes images of %s, preprocessing gives %s: the network's vector "+
			"would not be the same: see --size and --crop", in.info, in.sizeText(), p.SizeText())
	}
	return nil
}
