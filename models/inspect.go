package models

import (
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// Report describes a backbone as far as possible without running it.
type Report struct {
	Entry
	Path      string         `json:"path"`                // where the file is; "" if it is compiled in or missing
	Found     bool           `json:"found"`               // the file was found and has the recorded sha256
	Beside    []string       `json:"beside,omitempty"`    // data files that the model keeps its weights in
	Compiled  bool           `json:"compiled"`            // the file is part of the program
	Recorded  bool           `json:"recorded"`            // an entry records the preprocessing
	Structure *Structure     `json:"structure"`           // nil if there is no file
	Feature   *FeatureReport `json:"feature"`             // nil if none was found
	Stages    []StageReport  `json:"stages"`              // stages at which fine-tuning may start, from the input on
	Published *Published     `json:"published,omitempty"` // places from which the file can be fetched
	// Checked describes how the preprocessing was checked; "" for a file without an entry.
	Checked  string   `json:"checked,omitempty"`
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings"`
}

// Structure describes the contents of the file.
type Structure struct {
	Producer   string          `json:"producer"`
	IRVersion  int64           `json:"ir_version"`
	Opset      int64           `json:"opset"`
	Nodes      int             `json:"nodes"`
	Parameters int64           `json:"parameters"`
	Bytes      int64           `json:"bytes"` // of all files
	Inputs     []TensorSummary `json:"inputs"`
	Outputs    []TensorSummary `json:"outputs"`
}

// FeatureReport describes the tensor that an extraction would store.
type FeatureReport struct {
	Tensor string `json:"tensor"`
	Dim    int    `json:"dim"`
	Why    string `json:"why"`
}

// StageReport is a section of the network that fine-tuning may start at.
type StageReport struct {
	Name       string `json:"name"`
	Tensors    int    `json:"tensors"`    // number of weight tensors
	Parameters int64  `json:"parameters"` // number of values in them
	Shape      string `json:"shape"`      // of its last layer's output; "?" if unknown
}

// TensorSummary is a tensor's name, type and shape ("[N,3,224,224]", with "?" for unknown parts).
type TensorSummary struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape string `json:"shape"`
}

// Inspect examines a backbone by name or path. Problems with it are listed in the report; an error means that there
// is nothing to report on.
func (r *Registry) Inspect(name string, s Settings) (*Report, error) {
	rep := &Report{Stages: []StageReport{}, Problems: []string{}, Warnings: []string{}}
	b, recorded, err := r.loadBackbone(name)
	if err != nil {
		e, ok := r.Entry(name)
		if !ok {
			return nil, err
		}
		rep.Entry, rep.Recorded = e, true
		rep.Path, _ = r.Locate(e)
		rep.fillPublished(r)
		rep.Problems = append(rep.Problems, err.Error())
		return rep, nil
	}
	m, err := b.readNetworkGraph()
	if err != nil {
		return nil, err
	}
	problem := func(err error) bool {
		if err != nil {
			rep.Problems = append(rep.Problems, err.Error())
		}
		return err != nil
	}
	if recorded {
		err = b.settlePreprocessing(s)
	} else {
		err = b.guessPreprocessing(m, s)
	}
	unclear := problem(err)
	rep.Entry, rep.Path, rep.Beside, rep.Found, rep.Recorded = b.Entry, b.Path, b.Beside, true, recorded
	rep.fillPublished(r)
	rep.Compiled = b.Path == ""
	rep.Warnings = append(rep.Warnings, b.Warnings...)
	rep.Structure = newStructure(m, b.Size)
	if unclear {
		return rep, nil
	}
	if p, err := b.prepareGraph(m, ""); !problem(err) {
		rep.Feature = &FeatureReport{p.Cut, p.Dim, p.Why}
		rep.Warnings = append(rep.Warnings, p.Warnings...)
		rep.Stages = reportStages(p)
	}
	return rep, nil
}

// fillPublished fills in what is known about an entry's file without reading it.
func (rep *Report) fillPublished(r *Registry) {
	if !rep.Recorded {
		return
	}
	rep.Checked = r.describeChecked(rep.Entry)
	if pub, ok := rep.Entry.Published(); ok {
		rep.Published = &pub
	}
}

// reportStages lists the stages of a prepared model, without weights that only affect other outputs.
func reportStages(p *Prepared) []StageReport {
	list := []StageReport{}
	m, err := graph.Read(p.Model)
	if err != nil || p.Folder != "" { // the weights are too large to be trained
		return list // no error is possible: Prepare wrote a readable model
	}
	for _, s := range gradient.Stages(gradient.Plain(m), p.Tensor) {
		list = append(list, StageReport{s.Name, len(s.Weights), s.Parameters, s.Shape.String()})
	}
	return list
}

func newStructure(m *graph.Model, size int64) *Structure {
	return &Structure{
		Producer: m.Producer, IRVersion: m.IRVersion, Opset: m.Opset(), Nodes: len(m.Graph.Nodes),
		Parameters: m.Graph.Parameters(), Bytes: size,
		Inputs: summariseTensors(m.Graph.DataInputs()), Outputs: summariseTensors(m.Graph.Outputs),
	}
}

func summariseTensors(list []*graph.ValueInfo) []TensorSummary {
	out := make([]TensorSummary, len(list))
	for i, v := range list {
		out[i] = TensorSummary{v.Name, v.Type.String(), v.Shape.String()}
	}
	return out
}
