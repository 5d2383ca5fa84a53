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

// Choose returns the backbone for images of some classes if the user names none, and the reason: for drawn characters
// the one made for them, otherwise the best one installed.
func Choose(classes []string) (name, why string, err error) {
	if !slices.ContainsFunc(classes, func(class string) bool { return classnames.Readable(class) == class }) {
		return glyphnet, "made for drawn characters", nil
	}
	registry, err := models.OpenDefault()
	if err != nil {
		return "", "", err
	}
	if e, gone := registry.Missing(); gone {
		return "", "", hint.With(fmt.Errorf("the backbone %q, added last, is not at %s, expected the file that it "+
			"was added from", e.Name, e.File),
			"bring the file back, name another backbone with --model, or forget this one: winnow models remove %s",
			e.Name)
	}
	name, why, ok := registry.Choose()
	if !ok {
		return "", "", hint.With(errors.New("no backbone is installed, expected a pretrained network to look at "+
			"photographs with"), "name an ONNX file of any image classifier or feature network with --model FILE, or "+
			"install one for good: winnow models get mobilenetv2-7, or winnow models add FILE")
	}
	return name, why, nil
}

// Look is [New] with the settings of the backbone.
func Look(name string, root fs.FS, paths []string, h Host) (*Extraction, error) {
	return New(name, models.Settings{}, root, paths, h)
}

// New returns the extraction for a backbone, a name or a file, with settings. Warnings about the backbone are noted.
// The caller sets Out, and may call [Extraction.Fit] then.
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
