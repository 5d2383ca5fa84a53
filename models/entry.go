// Package models knows backbones: their files, tensors and preprocessing. It also stores trained heads. The
// backbones that winnow knows are those of known.yaml; users add their own to a registry file.
//
// A backbone is recognised by the sha256 of its file, so the file may be renamed. A file with an entry's name and
// another sha256 than recorded is rejected. This package reads models as data and runs nothing.
package models

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"winnow/backbone"
	"winnow/backbone/graph"
)

// Entry describes one backbone.
type Entry struct {
	Name string `json:"name"`
	File string `json:"file"` // its path; a bare name is searched in the folders
	// SHA256 is the hex sha256 of the file, "" if users export the file themselves. If the values of its weights are in
	// data files beside it, it is the sha256 of a list: a line with the hex sha256 of the model file, then one for each
	// data file, in the order of their names, with its hex sha256, a space, and its name in the model.
	SHA256        string                 `json:"sha256,omitempty"`
	Input         string                 `json:"input,omitempty"`  // tensor to feed; "": the model's only input
	Output        string                 `json:"output,omitempty"` // tensor to cut at; "": found in the graph
	Preprocessing backbone.Preprocessing `json:"preprocessing"`
	// Shaped: the settings it was recorded with, or a file that winnow wrote, say how pictures get the network's shape.
	Shaped bool `json:"shaped,omitempty"`
	// Freed: it was tried that the network computes the same for any number of images as in the batch of its file.
	Freed   bool   `json:"freed,omitempty"`
	Source  string `json:"source,omitempty"`
	Licence string `json:"licence,omitempty"`
	Recipe  string `json:"recipe,omitempty"` // how to get the file
}

// Backbone is an entry together with its file.
type Backbone struct {
	Entry
	Path     string   // where the file was read; "" if it is compiled in
	Data     []byte   // the file, with the values of its data files
	Folder   string   // where data files are that are too large for Data, which refers to them; "": none
	Beside   []string // the names of all data files
	Size     int64    // bytes of all files
	Warnings []string // one line each, for the user
	// Seen is what a trial run found about a tensor that the file does not describe; nil: nothing.
	Seen    *graph.ValueInfo
	Guessed bool // the preprocessing is unknown: ImageNet's is assumed
	Untried bool // given by its path and never recorded: nobody has run it
}

// Sum returns the sha256 of a file's bytes in hex.
func Sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// checkName returns an error if name cannot be an entry's name.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name, "/\\ \t\n\"'") || strings.HasSuffix(name, ".onnx") {
		return fmt.Errorf("models: name %q: expected a word without spaces, slashes and quotes that does not end "+
			"in .onnx", name)
	}
	return nil
}
