package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/embedding"
	"winnow/models"
	"winnow/run/folder"
)

// modelExport is what was written as one ONNX model.
type modelExport struct {
	File   string      `json:"file"`
	Bytes  int         `json:"bytes"`
	SHA256 string      `json:"sha256"`
	Input  string      `json:"input"` // name, type and shape
	Output string      `json:"output"`
	Dim    int         `json:"dim"`
	Opset  int64       `json:"opset"`
	Check  exportCheck `json:"check"`
}

// exportModel joins backbone and head and checks the whole; the caller writes it.
func exportModel(c *cli.Context, r *openedRun, rt *ort.Runtime, files []exportFile) (*modelExport, []byte, error) {
	j, err := r.join(c.String("model"))
	if err != nil {
		return nil, nil, err
	}
	if j.backbone.Path != "" {
		if err := checkTargets(files, []string{j.backbone.Path}); err != nil {
			return nil, nil, err
		}
	}
	check, err := r.checkModel(c, rt, j)
	if err != nil {
		return nil, nil, fmt.Errorf("export: %s is not written: %w", c.String("onnx"), err)
	}
	m := j.joined
	return &modelExport{
		File: c.String("onnx"), Bytes: len(m.Model), SHA256: models.Sum(m.Model), Input: m.Input.String(),
		Output: m.Output, Dim: m.Dim, Opset: m.Opset, Check: check,
	}, m.Model, nil
}

// junction is a joined model with what it was joined from.
type junction struct {
	backbone *models.Backbone
	cut      *models.Prepared
	joined   *models.Joined
}

// join puts the run's head behind the backbone of its features.
func (r *openedRun) join(name string) (j junction, err error) {
	if r.Tuned != nil {
		if name != "" {
			return j, misused("--model: the backbone of this run was fine-tuned and lies in it, as %s", r.Tuned.Path)
		}
		j.backbone = r.Tuned
	} else if j.backbone, err = backboneOf(r.Store, name); err != nil {
		return j, err
	}
	if j.cut, err = models.Prepare(j.backbone.Entry, j.backbone.Data, r.Store.Key.Output); err != nil {
		return j, err
	}
	about, err := r.aboutModel(j.backbone)
	if err != nil {
		return j, err
	}
	j.joined, err = models.Join(j.cut, r.Head, about)
	return j, err
}

// aboutModel is what the metadata of the joined model say, so that whoever finds the file alone can feed it.
func (r *openedRun) aboutModel(b *models.Backbone) (map[string]string, error) {
	sum, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return map[string]string{
		"winnow.version":            version(),
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
