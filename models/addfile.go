package models

import (
	"fmt"
	"path/filepath"
	"slices"

	"winnow/backbone/graph"
)

// AddFile adds a model file to the user's registry: its path, SHA-256 and settings; the file is not copied. A file
// with the SHA-256 of a known entry needs neither name nor settings. A file named after a known entry whose file
// users export themselves (resnet50) gets that entry's preprocessing. The settings describe any other file. AddFile
// adds a file only if it can be cut to a feature vector and try returns no error. try prepares the model and may run
// it; if try is nil, AddFile only prepares the model.
func (r *Registry) AddFile(path, name string, s Settings, try func(*Backbone) (*Prepared, error)) (
	*Backbone, *Prepared, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("models: %w", err)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("models: %w", err)
	}
	b := &Backbone{Path: path, Entry: Entry{Name: name, File: path}}
	b.fillStored(data)
	m, err := b.readNetworkGraph()
	if err != nil {
		return nil, nil, err
	}
	if err := r.describeFile(b, m, s); err != nil {
		return nil, nil, err
	}
	b.File = path
	if try == nil {
		try = func(b *Backbone) (*Prepared, error) { return b.prepareGraph(m, "") }
	}
	p, err := try(b)
	if err != nil {
		return nil, nil, err
	}
	return b, p, r.addEntry(b.Entry)
}

// describeFile fills in what is known about a file to be added.
func (r *Registry) describeFile(b *Backbone, m *graph.Model, s Settings) error {
	known := knownEntries()
	like := slices.IndexFunc(known, func(k Entry) bool {
		return k.SHA256 == b.SHA256 || b.Name == k.Name && k.SHA256 == "" && compiledFiles()[k.File] == nil
	})
	if like < 0 {
		if b.Name == "" {
			return fmt.Errorf("models: %s: unknown model: name it with --name", b.Path)
		}
		if err := checkName(b.Name); err != nil {
			return err
		}
		return b.guessPreprocessing(m, s)
	}
	sum, name := b.SHA256, b.Name
	b.Entry = known[like]
	b.SHA256 = sum
	if name != "" {
		b.Name = name
	}
	return b.settlePreprocessing(s)
}
