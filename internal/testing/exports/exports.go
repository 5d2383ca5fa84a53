// Package exports contains small networks with random weights, as written by exporters, and their outputs, which plain
// loops computed in float64. Commit 249e9df2 contains the programs that wrote both.
package exports

import (
	"embed"
	"encoding/json"
	"path"
	"strings"
	"testing"
)

//go:embed testdata
var files embed.FS

// Network is a file written by an exporter, with expected outputs.
type Network struct {
	Name, Exporter, Form string
	Flags                string               // flags of winnow models add
	High, Wide           int                  // size of the input images
	Batch                int                  // batch size of the exported file; 0: any
	Rough                float64              // allowed error, relative to the largest value; 0: 1e-4
	Features             map[string][]float64 // features of the images in cmd/winnow's test

	Output  string                // output tensor of a transformer
	Layers  []string              // names of the transformer's layers
	Vectors map[string][]float32  // named features of three random images
	Slopes  map[string][2]float64 // by weight: a loss's slope in a random direction, its gradient's squared norm

	File []byte `json:"-"`
	Data []byte `json:"-"` // content of network.onnx.data; nil if there is none
}

// List returns all networks.
func List(t testing.TB) (list []Network) {
	t.Helper()
	entries, err := files.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, isNetwork := strings.CutSuffix(e.Name(), ".json")
		if !isNetwork {
			continue
		}
		n := Network{File: read(t, name+".onnx")}
		if err := json.Unmarshal(read(t, e.Name()), &n); err != nil {
			t.Fatal(err)
		}
		if data, err := files.ReadFile(path.Join("testdata", name+".onnx.data")); err == nil {
			n.Data = data
		}
		list = append(list, n)
	}
	return list
}

// Transformers returns the vision transformers.
func Transformers(t testing.TB) (list []Network) {
	for _, n := range List(t) {
		if n.Layers != nil {
			list = append(list, n)
		}
	}
	return list
}

func read(t testing.TB, name string) []byte {
	data, err := files.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
