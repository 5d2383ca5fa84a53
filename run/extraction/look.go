package extraction

import (
	"errors"
	"io/fs"
	"slices"

	"winnow/backbone"
	"winnow/datasets/glyphs/names"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
)

// glyphnet is the backbone that is part of the program.
const glyphnet = "glyphnet"

// Choose returns the backbone that images of some classes are looked at by where none is named, and why: for drawn characters the
// one made for them, else the best that is installed.
func Choose(classes []string) (name, why string, err error) {
	if !slices.ContainsFunc(classes, func(class string) bool { return names.Readable(class) == class }) {
		return glyphnet, "made for drawn characters", nil
	}
	registry, err := models.OpenDefault()
	if err != nil {
		return "", "", err
	}
	name, why, ok := registry.Choose()
	if !ok {
		return "", "", hint.With(errors.New("no backbone is installed, expected a pretrained network to look at photographs with"),
			"name an ONNX file of any image classifier or feature network with --model FILE, or install one for good: winnow models get mobilenetv2-7, or winnow models add FILE")
	}
	return name, why, nil
}

// Look returns how images are looked at by a backbone, a name or a file, where the user says nothing else: turned as the camera noted.
// What is odd about the backbone is noted. The caller says where the store lies, and may [Extraction.Fit] it then.
func Look(name string, root fs.FS, paths []string, h Host) (*Extraction, error) {
	e := &Extraction{Root: root, Paths: features.Distinct(paths)}
	var err error
	if e.Model, e.Cut, err = OpenBackbone(name, models.Settings{EXIF: new(true)}); err != nil {
		return nil, err
	}
	for _, line := range slices.Concat(e.Model.Warnings, e.Cut.Warnings) {
		h.Complete().Note("%s", line)
	}
	if e.Model.Name == "" {
		e.Model.Name = name
	}
	e.Config = backbone.ExtractConfig{Preprocessing: e.Model.Preprocessing}
	return e, nil
}
