// Package fiftyone writes labels in the form that FiftyOne reads: labels.json of a
// FiftyOneImageClassificationDataset. The file holds the class names and, for each image, the number of its class
// or null; an image is identified by its path below the data folder, without the ending.
package fiftyone

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// File is the name of the labels file.
const File = "labels.json"

// Labels is the content of the file.
type Labels struct {
	Classes []string        `json:"classes"`
	Labels  map[string]*int `json:"labels"`
}

// New returns labels with these classes and without images.
func New(classes []string) *Labels {
	return &Labels{Classes: append([]string{}, classes...), Labels: map[string]*int{}}
}

// Add adds an image; a negative class means no class.
func (l *Labels) Add(file string, class int) error {
	key := strings.TrimSuffix(file, path.Ext(file))
	if !utf8.ValidString(file) {
		return fmt.Errorf("%.200q: expected UTF-8, as JSON needs", file)
	}
	if _, twice := l.Labels[key]; twice {
		return fmt.Errorf("%s: another image differs in its ending only, without which %s names images", file, File)
	}
	l.Labels[key] = nil
	if class >= 0 {
		l.Labels[key] = &class
	}
	return nil
}

// Write writes the file.
func (l *Labels) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(l)
}
