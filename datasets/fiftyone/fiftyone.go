// Package fiftyone writes labels as FiftyOne reads them, in labels.json of a FiftyOneImageClassificationDataset: the names of the
// classes, and by the path of each image below its data, without the ending, the number of its class, null for none.
package fiftyone

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// File is the name of such a file.
const File = "labels.json"

// Labels are the contents of a file.
type Labels struct {
	Classes []string        `json:"classes"`
	Labels  map[string]*int `json:"labels"`
}

// New returns labels of these classes and of no image yet.
func New(classes []string) *Labels {
	return &Labels{Classes: append([]string{}, classes...), Labels: map[string]*int{}}
}

// Add adds an image, of no class where that is negative.
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
