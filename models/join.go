package models

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"winnow/backbone/graph"
	"winnow/head"
	"winnow/models/architecture"
)

// Joined is a backbone, a head and the normalisation as one ONNX model: images in, unit vectors out.
type Joined struct {
	Model  []byte
	Input  *graph.ValueInfo // the tensor to feed; its batch is free if the backbone's is
	Output string           // [N,Dim]
	Dim    int
	Opset  int64
}

// Join appends a head to a prepared backbone, in the backbone's own operator set. The model computes what
// [head.Head.Embed] computes from the backbone's vectors, which are not normalised first. The output is called
// embedding, or a similar name if the backbone already uses that one. about is added to the model's metadata and
// replaces older values.
func Join(p *Prepared, h *head.Head, about map[string]string) (*Joined, error) {
	if p.Folder != "" {
		return nil, errors.New("models: the backbone is larger than the 2 GiB that one ONNX file can hold")
	}
	m, err := graph.Read(p.Model)
	if err != nil {
		return nil, err
	}
	name := graph.Extend(m).Fresh("embedding")
	joined, err := graph.Join(m, layersOf(h), true, name)
	if err != nil {
		return nil, err
	}
	joined.Metadata = withProperties(architecture.Trained(joined.Metadata), about) // at least the head is trained
	joined.Doc = fmt.Sprintf("A backbone and a head trained by winnow, as one model: images in, unit vectors of %d "+
		"values out (%s). The metadata describe the images.", h.Config().Out, name)
	if err := joined.Check(); err != nil {
		return nil, err
	}
	in, err := imageInput(joined)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	j := &Joined{Model: joined.Marshal(), Input: in.info, Output: name, Dim: h.Config().Out, Opset: joined.Opset()}
	if len(j.Model) > math.MaxInt32 {
		return nil, fmt.Errorf("models: backbone and head are %d bytes together, expected at most %d as one ONNX "+
			"file", len(j.Model), math.MaxInt32)
	}
	return j, nil
}

// layersOf converts a head to graph layers; both store weights in×out.
func layersOf(h *head.Head) []graph.Layer {
	w, bias := h.Linear()
	return []graph.Layer{{In: w.Rows, Out: w.Cols, Weight: w.Data, InByOut: true, Bias: bias}}
}

// withProperties returns a copy of list with the properties of about set, in the order of their keys.
func withProperties(list []graph.Property, about map[string]string) []graph.Property {
	list = slices.DeleteFunc(slices.Clone(list), func(p graph.Property) bool { _, again := about[p.Key]; return again })
	for _, key := range slices.Sorted(maps.Keys(about)) {
		list = append(list, graph.Property{Key: key, Value: about[key]})
	}
	return list
}
