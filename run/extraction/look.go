package extraction

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"winnow/datasets/classnames"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
)

// glyphnet is the backbone built into the program.
const glyphnet = "glyphnet"

// Choose returns the backbone for images of these classes if the user names none, and the reason: glyphnet for drawn
// characters, otherwise the best installed backbone.
func Choose(classes []string) (name, why string, err error) {
	if !slices.ContainsFunc(classes, func(class string) bool { return classnames.Readable(class) == class }) {
		return glyphnet, "made for drawn characters", nil
	}
	registry, err := models.OpenDefault()
	if err != nil {
		return "", "", err
	}
	if e, gone := registry.Missing(); gone {
		return "", "", hint.With(fmt.Errorf("the file %s of the backbone %q, the last one added, is missing", e.File,
			e.Name),
			"restore the file, name another backbone with --model, or remove this one: winnow models remove %s",
			e.Name)
	}
	name, why, ok := registry.Choose()
	if !ok {
		return "", "", hint.With(errors.New("no backbone is installed, expected a pretrained network that embeds "+
			"photographs"), "name an ONNX file of any image classifier or feature network with --model FILE, or "+
			"install one permanently: winnow models get mobilenetv2-7, or winnow models add FILE")
	}
	return name, why, nil
}

// Look returns the extraction for a backbone with its default settings; see [New].
func Look(name string, root fs.FS, paths []string, h Host) (*Extraction, error) {
	return New(name, models.Settings{}, root, paths, h)
}

// New returns the extraction for a backbone with settings. name is the backbone's name or file. New notes warnings
// about the backbone. The caller sets Out, and may then call [Extraction.Fit].
func New(name string, settings models.Settings, root fs.FS, paths []string, h Host) (*Extraction, error) {
	e := &Extraction{Root: root, Paths: features.Distinct(paths)}
	var err error
	if e.Model, e.Cut, err = OpenBackbone(name, settings); err != nil {
		return nil, err
	}
	for _, line := range slices.Concat(e.Model.Warnings, e.Cut.Warnings) {
		h.Complete().Note("%s", line)
	}
	e.Config.Preprocessing = e.Model.Preprocessing
	return e, nil
}
