package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/internal/testing/orttest"
	"winnow/run/embedding"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// The check of an exported model finds every fault in it.
func TestExportRefusesSpoiledModels(t *testing.T) {
	s := newStudio(t, "--hidden", "10")
	change := func(name string, f func([]float32)) func(*graph.Model) {
		return func(m *graph.Model) {
			for i, c := range m.Graph.Initializers {
				if c.Name == name {
					values, _ := c.Float32s()
					values = slices.Clone(values)
					f(values)
					m.Graph.Initializers[i] = graph.NewTensor(name, values, c.Dims...)
					return
				}
			}
			t.Errorf("the model has no %s", name)
		}
	}
	skip := func(op string, last bool) func(*graph.Model) {
		return func(m *graph.Model) {
			at := slices.IndexFunc(m.Graph.Nodes, func(n *graph.Node) bool { return n.Op == op })
			if last {
				for i, n := range m.Graph.Nodes {
					if n.Op == op {
						at = i
					}
				}
			}
			n := m.Graph.Nodes[at]
			n.Op, n.Inputs, n.Attributes = "Identity", n.Inputs[:1], nil
		}
	}
	for name, spoil := range map[string]func(*graph.Model){
		"": func(*graph.Model) {},
		"a dimension of the head": change("head_weight_2", func(v []float32) {
			for i := 3; i < len(v); i += 6 { // a single weight may belong to a hidden unit that is never active
				v[i] *= 1.001
			}
		}),
		"the bias of the head":       change("head_bias_2", func(v []float32) { clear(v) }),
		"the head's first layer":     change("head_weight", func(v []float32) { v[0], v[1] = v[1], v[0] }),
		"a weight of the backbone":   change("conv", func(v []float32) { v[5] *= 1.01 }),
		"a weight that is no number": change("head_weight_2", func(v []float32) { v[0] = float32(math.NaN()) }),
		"no normalisation":           skip("Div", false),
		"no activation":              skip("Relu", true),
	} {
		t.Run(name, func(t *testing.T) {
			err := s.checkSpoiled(t, spoil)
			if name == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "differ from winnow's own by up to") {
				t.Errorf("the check said %v", err)
			}
		})
	}
}

// checkSpoiled joins as winnow export does, spoils the model and runs the command's check on it.
func (s studio) checkSpoiled(t *testing.T, spoil func(*graph.Model)) error {
	t.Helper()
	quiet := func(string, ...any) {}
	r, err := folder.Open(t.Context(), s.run, folder.Options{View: backbone.CenterName,
		Host: extraction.Host{Note: quiet}})
	if err != nil {
		return err
	}
	j, err := embedding.Join(r, "", "test")
	if err != nil {
		return err
	}
	m, err := graph.Read(j.Model)
	if err != nil {
		return err
	}
	spoil(m)
	j.Model = m.Marshal()
	_, err = j.Check(orttest.Runtime(t), 16, quiet)
	return err
}
