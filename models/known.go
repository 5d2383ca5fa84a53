package models

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"winnow/backbone"
)

// compiledFiles holds the model files that are part of the program, by file name.
func compiledFiles() map[string][]byte { return map[string][]byte{"glyphnet.onnx": glyphnet} }

//go:embed glyphnet.onnx
var glyphnet []byte

//go:embed known.yaml
var knownYAML []byte

// knownBackbone is an entry of known.yaml.
type knownBackbone struct {
	Entry     `yaml:",inline"`
	Why       string     `yaml:"why"` // reason for its rank in the list
	Preset    string     `yaml:"preset"`
	Fit       string     `yaml:"fit"`       // way to resize images to the network's input; "": the preset's
	Checked   string     `yaml:"checked"`   // how the preprocessing was checked, with a summary before the colon
	Instead   string     `yaml:"instead"`   // a backbone of the same architecture that can be fetched; "": none
	Published *Published `yaml:"published"` // nil: no file with a known sha256 is published
}

//go:embed presets.yaml
var presetsYAML []byte

// presets holds the preprocessings that --preset names.
var presets = func() (list map[string]backbone.Preprocessing) {
	if err := yaml.UnmarshalWithOptions(presetsYAML, &list, yaml.DisallowUnknownField()); err != nil {
		panic("models: presets.yaml: " + err.Error()) // it is compiled in
	}
	return list
}()

// readKnown reads known.yaml once, when it is first needed.
var readKnown = sync.OnceValue(func() (list []knownBackbone) {
	if err := yaml.UnmarshalWithOptions(knownYAML, &list, yaml.DisallowUnknownField()); err != nil {
		panic("models: known.yaml: " + err.Error()) // it is compiled in
	}
	for i, b := range list {
		list[i].Preprocessing = presets[b.Preset]
		if b.Fit != "" {
			list[i].Preprocessing = presets[b.Preset].Fitted(b.Fit)
		}
	}
	return list
})

// knownAt returns the index of a name among the backbones that winnow knows, or -1.
func knownAt(name string) int {
	return slices.IndexFunc(readKnown(), func(k knownBackbone) bool { return k.Name == name })
}

// knownEntries returns the entries of the backbones that winnow knows.
func knownEntries() (list []Entry) {
	for _, b := range readKnown() {
		list = append(list, b.Entry)
	}
	return list
}

// Published holds the places from which a known file can be fetched, and its size.
type Published struct {
	Size   int64    `json:"size"`            // bytes
	SHA256 string   `json:"sha256"`          // of the file alone, without its parts
	Places []string `json:"places"`          // URLs, tried in order; none if only a mirror or a copy can be given
	Parts  []Part   `json:"parts,omitempty"` // further files of the model, stored next to the first
	Terms  string   `json:"terms,omitempty"` // address of a licence that must be accepted first
}

// Part is a further file of a model, such as its external data.
type Part struct {
	Name   string   `json:"name"`
	Size   int64    `json:"size"` // bytes
	SHA256 string   `json:"sha256"`
	Places []string `json:"places"`
}

// Total returns the bytes of all files.
func (p Published) Total() int64 {
	n := p.Size
	for _, part := range p.Parts {
		n += part.Size
	}
	return n
}

// Published returns where an entry's file can be fetched; false if no file with a known SHA-256 is published.
func (e Entry) Published() (Published, bool) {
	for _, b := range readKnown() {
		if b.Published != nil && b.SHA256 == e.SHA256 {
			return *b.Published, true
		}
	}
	return Published{}, false
}

// Instead returns a fetchable backbone of the same architecture as name, or "".
func Instead(name string) string {
	for _, b := range readKnown() {
		if b.Name == name {
			return b.Instead
		}
	}
	return ""
}

// describeChecked returns how an entry's preprocessing was checked, with a summary before the colon.
func (r *Registry) describeChecked(e Entry) string {
	list := readKnown()
	at := slices.IndexFunc(list, func(k knownBackbone) bool {
		return k.Name == e.Name || k.SHA256 != "" && k.SHA256 == e.SHA256
	})
	if at < 0 || list[at].Preprocessing != e.Preprocessing {
		return "yours: as it was added"
	}
	return list[at].Checked
}
