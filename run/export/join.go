package export

import (
	"fmt"
	"path/filepath"

	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/embedding"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// Model describes a run's backbone and head as one ONNX model, as printed by winnow export --json.
type Model struct {
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	Input  string `json:"input"` // name, type and shape
	Output string `json:"output"`
	Dim    int    `json:"dim"`
	Opset  int64  `json:"opset"`
	Check  Check  `json:"check"`
}

// Joined is the joined model of a run, with the backbone and the head it was made from.
type Joined struct {
	*models.Joined
	Backbone *models.Backbone
	run      *folder.Run
	cut      *models.Prepared
}

// Join appends a run's head to the backbone that computed its features. model is the backbone; if it is "", Join finds
// the backbone by its SHA-256. winnow is the version for the metadata.
func Join(r *folder.Run, model, winnow string) (j Joined, err error) {
	j.run = r
	if r.Tuned == nil {
		k := r.Store.Key
		j.Backbone, err = extraction.BackboneBy(k.Model, k.Preprocessing, "features "+r.Store.Dir, model,
			append(r.BackboneFiles(), r.Store.ModelFile)...)
	} else if j.Backbone = r.Tuned; model != "" {
		err = hint.Misused("--model: the backbone of this run was fine-tuned and is stored in it, as %s", r.Tuned.Path)
	}
	if err != nil {
		return j, err
	}
	if j.cut, err = extraction.PrepareBackbone(j.Backbone, r.Store.Key.Output); err != nil {
		return j, err
	}
	about, err := j.makeMetadata(winnow)
	if err != nil {
		return j, err
	}
	j.Joined, err = models.Join(j.cut, r.Head, about)
	return j, err
}

// Describe returns the description of the model in file.
func (j Joined) Describe(file string, check Check) *Model {
	return &Model{File: file, Bytes: len(j.Model), SHA256: models.Sum(j.Model), Input: j.Input.String(),
		Output: j.Output,
		Dim:    j.Dim, Opset: j.Opset, Check: check}
}

// makeMetadata returns the metadata of the model, with everything that a program needs to use it.
func (j Joined) makeMetadata(winnow string) (map[string]string, error) {
	r, b := j.run, j.Backbone
	sum, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return map[string]string{
		"winnow.version":            winnow,
		"winnow.images":             "float32 [N,C,H,W]; " + b.Preprocessing.Describe(),
		models.PreprocessingKey:     b.Preprocessing.Key(),
		"winnow.backbone":           b.Name,
		"winnow.backbone_sha256":    b.SHA256,
		"winnow.backbone_feature":   r.Store.Key.Output,
		embedding.HeadSumKey:        sum,
		"winnow.embedding":          "unit length: compare by the dot product",
		"winnow.training_images":    fmt.Sprint(len(r.Manifest.Select(datasets.Train))),
		"winnow.training_seed":      fmt.Sprint(r.Meta.Seed),
		"winnow.head_config_sha256": r.Meta.ConfigSHA256,
	}, nil
}
