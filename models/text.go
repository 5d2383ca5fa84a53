package models

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/internal/text"
)

// Listed is an entry of the list of backbones.
type Listed struct {
	Entry
	Own       bool       `json:"own"`                 // the user added it
	Found     bool       `json:"found"`               // its file exists
	Path      string     `json:"path"`                // path of the file; "" if it is part of the program
	Published *Published `json:"published,omitempty"` // places from which it can be fetched
	Checked   string     `json:"checked"`             // how its preprocessing was checked
	Why       string     `json:"why"`                 // reason for its rank in the list
}

// List returns all backbones and the places of their files. Backbones for photographs come first, ordered by quality in
// audits; the user's own come last, in the order in which they were added.
func (r *Registry) List() []Listed {
	var list []Listed
	for _, e := range r.Entries() {
		path, found := r.Locate(e)
		m := Listed{
			Entry:   e,
			Own:     r.Own(e.Name),
			Found:   found,
			Path:    path,
			Checked: r.describeChecked(e),
			Why:     "yours",
		}
		if at := knownAt(e.Name); at >= 0 {
			m.Why = readKnown()[at].Why
		}
		if pub, ok := e.Published(); ok {
			m.Published = &pub
		}
		list = append(list, m)
	}
	return list
}

// Place returns the path of the file, or how to get it.
func (m Listed) Place() string {
	switch {
	case m.Found && m.Path == "":
		return "part of winnow"
	case m.Found:
		return m.Path
	case m.Published != nil && len(m.Published.Places) > 0:
		return fmt.Sprintf("get: %.0f MB", float64(m.Published.Total())/1e6)
	case m.SHA256 == "":
		return "export it"
	}
	return "not here"
}

// WriteList writes a list of backbones as text.
func WriteList(out io.Writer, list []Listed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tWHY HERE\tIMAGES\tFILE\tCHECKED\tSOURCE")
	for _, m := range list {
		how, _, _ := strings.Cut(m.Checked, ":")
		p := m.Preprocessing
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%s\t%s\n", m.Name, m.Why, p.Channels, p.SizeText(), m.Place(), how,
			text.Shortened(m.Source, 60))
	}
	return w.Flush()
}

// Write writes a backbone's report as text.
func (r *Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", key, text)
		}
	}
	line("name", "%s", r.Name)
	switch {
	case r.Compiled:
		line("file", "part of winnow")
	case r.Found:
		line("file", "%s", r.Path)
	case r.Path != "":
		line("file", "%s, not usable", r.Path)
	default:
		line("file", "not here")
	}
	for _, name := range r.Beside {
		line("data file", "%s, in the same folder", name)
	}
	line("sha256", "%s", r.SHA256)
	if s := r.Structure; s != nil {
		line("format", "ONNX opset %d, IR %d%s", s.Opset, s.IRVersion, writtenBy(s.Producer))
		line("size", "%d bytes, %d nodes, %d parameters", s.Bytes, s.Nodes, s.Parameters)
		tensorLines(w, "input", s.Inputs)
		tensorLines(w, "output", s.Outputs)
	}
	if f := r.Feature; f != nil {
		line("feature", "%s, %s numbers (%s)", f.Tensor, Numbers(f.Dim), f.Why)
	}
	for i, s := range r.Stages {
		key := ""
		if i == 0 {
			key = "stages"
		}
		fmt.Fprintf(w, "%s\t%s: %d weights in %d tensors, %s\n", key, s.Name, s.Parameters, s.Tensors, s.Shape)
	}
	if r.Recorded || len(r.Problems) == 0 {
		line("images", "%s", r.Preprocessing.Describe())
	}
	line("checked", "%s", r.Checked)
	line("source", "%s", r.Source)
	line("licence", "%s", r.Licence)
	if p := r.Published; p != nil && !r.Found && len(p.Places) > 0 {
		line("published", "%d bytes, at %s", p.Size, strings.Join(p.Places, " or "))
		for _, part := range p.Parts {
			line("", "%d bytes, at %s", part.Size, strings.Join(part.Places, " or "))
		}
		if p.Terms != "" {
			line("to accept", "%s: %s", r.Licence, p.Terms)
		}
	}
	if other := Instead(r.Name); other != "" && !r.Found {
		line("instead", "winnow models get %s: the same network, weights of another publisher", other)
	}
	line("recipe", "%s", r.Recipe)
	for _, p := range r.Problems {
		line("problem", "%s", p)
	}
	return w.Flush()
}

func writtenBy(producer string) string {
	if producer == "" {
		return ""
	}
	return ", written by " + producer
}

// Numbers returns the number of values of a vector as text, "?" if it is unknown.
func Numbers(dim int) string {
	if dim == 0 {
		return "?"
	}
	return fmt.Sprint(dim)
}

// tensorLines lists tensors under one key.
func tensorLines(w io.Writer, key string, list []TensorSummary) {
	for i, t := range list {
		if i > 0 {
			key = ""
		}
		fmt.Fprintf(w, "%s\t%s %s %s\n", key, t.Name, t.Type, t.Shape)
	}
}
