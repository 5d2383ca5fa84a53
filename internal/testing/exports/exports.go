// Package exports holds small networks as exporters write them, with drawn weights, and what they compute: numbers of
// plain loops in float64, stored with the files. The programs that wrote both are in the history, at 249e9df2.
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

// Network is a file as an exporter writes it.
type Network struct {
	Name, Exporter, Form string
	Flags                string               // of winnow models add
	High, Wide           int                  // of the images that it takes
	Batch                int                  // that the file was exported for; 0: any
	Rough                float64              // how far numbers may be off, as a share of the largest; 0: 1e-4
	Features             map[string][]float64 // of the pictures of cmd/winnow's test

	Output  string                // of a transformer: the tensor of its vector
	Layers  []string              // their names
	Vectors map[string][]float32  // named features of three drawn images
	Slopes  map[string][2]float64 // of a loss by each weight in a drawn direction, and the gradient's squared length

	File []byte `json:"-"`
	Data []byte `json:"-"` // of network.onnx.data; nil: none
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
