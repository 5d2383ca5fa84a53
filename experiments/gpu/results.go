package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
)

// Results is gpu.json.
type Results struct {
	Began   string  `json:"began"` // start of the first part, RFC 3339
	Device  string  `json:"device"`
	Small   bool    `json:"small"`
	Goals   []Goal  `json:"goals"`
	Parts   []Part  `json:"parts"`
	Minutes float64 `json:"minutes"` // time of all parts in all calls
}

// Part is the result of a part.
type Part struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Error   string   `json:"error,omitempty"`
	Seconds float64  `json:"seconds"`
	Records []Record `json:"records"`

	Trying []string `json:"trying,omitempty"` // the measurement in progress
}

// The states of a part.
const (
	stateDone   = "done"
	statePartly = "partly" // the time was over
	stateFailed = "failed"
	stateNot    = "not run"
)

// Record is one measurement.
type Record struct {
	Of     []string           `json:"of"` // network, precision …
	Values map[string]float64 `json:"values,omitempty"`
	Text   string             `json:"text,omitempty"`
	Error  string             `json:"error,omitempty"`
}

// Goal is a goal and its result.
type Goal struct {
	Name  string `json:"name"`
	State string `json:"state"` // pass, fail, not run
	Found string `json:"found"`
}

// find returns the record of a measurement, or nil if there is none yet.
func (p *Part) find(of ...string) *Record {
	for i := range p.Records {
		if slices.Equal(p.Records[i].Of, of) {
			return &p.Records[i]
		}
	}
	return nil
}

func partFile(out, name string) string { return filepath.Join(out, "parts", name+".json") }

// readPart reads the results of a part.
func readPart(out, name string) (Part, error) {
	p := Part{Name: name, State: stateNot, Records: []Record{}}
	data, err := os.ReadFile(partFile(out, name))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, fmt.Errorf("gpu: %s: %w; remove it to measure the part again", partFile(out, name), err)
	}
	return p, nil
}

func writePart(out string, p Part) error { return writeJSON(partFile(out, p.Name), p) }

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// readHead reads gpu.json of an earlier call, if there was one.
func (r *Results) readHead(out string) error {
	data, err := os.ReadFile(filepath.Join(out, "gpu.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return fmt.Errorf("gpu: %s: %w", filepath.Join(out, "gpu.json"), err)
	}
	return nil
}

// write compares the results with the goals and writes gpu.json.
func (r *Results) write(out string) error {
	r.judgeGoals()
	return writeJSON(filepath.Join(out, "gpu.json"), r)
}

// digest returns a line of text for each record of a part.
func (r *Results) digest(p part) (lines []string) {
	for _, rec := range r.part(p.name).Records {
		line := strings.Join(rec.Of, ", ") + ":"
		for _, c := range p.columns {
			if v, has := rec.Values[c.value]; has {
				line += fmt.Sprintf(" %s "+c.format+",", c.heading, v)
			}
		}
		lines = append(lines, strings.TrimSuffix(oneLine(line+" "+rec.Text+" "+rec.Error), ","))
	}
	return lines
}

// besideTorch returns the images/s of winnow's fastest way and of PyTorch in a cell (0: not measured), and their ratio.
func (r *Results) besideTorch(of []string) (share, ours, theirs float64) {
	p := r.part("training")
	for _, w := range ways() {
		if rec := p.find(append(slices.Clone(of), w.name)...); rec != nil {
			ours = max(ours, rec.Values["images_per_second"])
		}
	}
	if rec := p.find(append(slices.Clone(of), besideTorch)...); rec != nil {
		theirs = rec.Values["images_per_second"]
	}
	if ours == 0 || theirs == 0 {
		return 0, ours, theirs
	}
	return ours / theirs, ours, theirs
}

// oneLine replaces line breaks and repeated spaces, so that a message fits in a table.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
