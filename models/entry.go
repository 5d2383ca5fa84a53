// Package models knows backbones: which file, which tensors, which preprocessing; and keeps trained heads on
// disk. The backbones winnow knows are the literal in known.go; users add their own to a registry file.
//
// A backbone is recognised by the sha256 of its file, so it may be renamed; a file that claims a name and has
// another sha256 than recorded is refused. This package reads models as data and runs nothing.
package models

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"winnow/backbone"
)

// Entry is what winnow knows of one backbone.
type Entry struct {
	Name          string                 `json:"name"`
	File          string                 `json:"file"`             // where it lies; a bare name is looked for in folders
	SHA256        string                 `json:"sha256,omitempty"` // of the file, hex; "" where users make it themselves
	Input         string                 `json:"input,omitempty"`  // tensor to feed; "": the model's only input
	Output        string                 `json:"output,omitempty"` // tensor to cut at; "": found in the graph
	Preprocessing backbone.Preprocessing `json:"preprocessing"`
	Source        string                 `json:"source,omitempty"`
	Licence       string                 `json:"licence,omitempty"`
	Recipe        string                 `json:"recipe,omitempty"` // how to get the file
}

// Backbone is an entry with its file: what a command works with.
type Backbone struct {
	Entry
	Path     string   // where the file was read; "" for one compiled in
	Data     []byte   // the file
	Warnings []string // what the user should know, a line each
	Guessed  bool     // it is not known how it wants its images: ImageNet's way is assumed
}

// Sum returns the sha256 of a file's bytes in hex, as entries hold it.
func Sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// SumOf returns the sha256 of a model's file.
func SumOf(path string) (string, error) {
	data, err := readFile(path)
	if err != nil {
		return "", err
	}
	return Sum(data), nil
}

// checkName returns an error that names what is wrong with a name for an entry.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name, "/\\ \t\n\"'") || strings.HasSuffix(name, ".onnx") {
		return fmt.Errorf("models: name %q: expected a word without spaces, slashes and quotes that does not end in .onnx", name)
	}
	return nil
}
