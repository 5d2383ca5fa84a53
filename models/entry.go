// Package models is the registry of backbones: their files, tensors and preprocessing. It also stores trained heads.
// known.yaml lists the backbones that winnow knows; users add their own to a registry file.
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
	File string `json:"file"` // path of the file; a bare name is searched in the folders
	// SHA256 is the hexadecimal SHA-256 of the file, "" if users export the file themselves. If data files next to the
	// model hold its weights, SHA256 is the checksum of a list: a line with the sum of the model file, then for each
	// data file, in the order of their names, a line with its sum, a space, and its name in the model.
	SHA256        string                 `json:"sha256,omitempty"`
	Input         string                 `json:"input,omitempty"`  // tensor to feed; "": the model's only input
	Output        string                 `json:"output,omitempty"` // tensor to cut at; "": found in the graph
	Preprocessing backbone.Preprocessing `json:"preprocessing"`
	// Shaped reports that the way to resize images was set when the entry was recorded, or by a file that winnow wrote.
	Shaped bool `json:"shaped,omitempty"`
	// Freed reports that a trial has shown equal results for any number of images and for the batch of the file.
	Freed   bool   `json:"freed,omitempty"`
	Source  string `json:"source,omitempty"`
	Licence string `json:"licence,omitempty"`
	Recipe  string `json:"recipe,omitempty"` // how to get the file
}

// Backbone is an entry together with its file.
type Backbone struct {
	Entry
	Path     string   // path of the file; "" if it is compiled in
	Data     []byte   // contents of the file, with the values of its data files
	Folder   string   // folder of data files that are too large for Data, which refers to them; "": none
	Beside   []string // the names of all data files
	Size     int64    // bytes of all files
	Warnings []string // one line each, for the user
	// Seen is the type of a tensor that the file does not describe, as found by a trial run; nil without a trial.
	Seen    *graph.ValueInfo
	Guessed bool // the preprocessing is unknown: ImageNet's is assumed
	Untried bool // given by its path and not in the registry, so that no trial has been made
}

// Sum returns the SHA-256 of a file's bytes in hexadecimal.
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
