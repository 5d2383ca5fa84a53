package parts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/text"
)

// Header says what a part is of. Parts whose headers differ in anything but the shard, its rows and the version are not of one job.
type Header struct {
	Format   int               `json:"winnow_part"`
	Job      string            `json:"job"`   // the command
	Shard    int               `json:"shard"` // 1 … Of
	Of       int               `json:"of"`
	First    int               `json:"first"` // of the rows of the whole, from 0
	End      int               `json:"end"`   // behind its last row
	Total    int               `json:"total"` // rows of the whole
	Unit     string            `json:"unit"`  // what the rows are: "images"
	Inputs   map[string]string `json:"inputs"`
	Settings map[string]string `json:"settings"`
	Winnow   string            `json:"winnow"` // version of the program
}

// format is the version of the parts that this program writes and reads.
const format = 1

// NewHeader returns the header of a shard's part of a job over total rows of a kind ("images"), dealt by whole batches. inputs are named
// with their sha256, settings are all that change the result.
func NewHeader(job string, s Shard, total, batch int, unit string, inputs, settings map[string]string, winnow string) (Header, error) {
	first, end, err := s.Range(total, batch)
	if err != nil {
		return Header{}, fmt.Errorf("%s: %w", job, err)
	}
	return Header{Format: format, Job: job, Shard: s.Index, Of: s.Of, First: first, End: end, Total: total, Unit: unit,
		Inputs: inputs, Settings: settings, Winnow: winnow}, nil
}

// String names the shard.
func (h Header) String() string { return fmt.Sprintf("%d/%d", h.Shard, h.Of) }

// Differs describes how another part is of another job, or "".
func (h Header) Differs(other Header) string {
	switch {
	case h.Job != other.Job:
		return fmt.Sprintf("made by winnow %s and by winnow %s", h.Job, other.Job)
	case h.Of != other.Of:
		return fmt.Sprintf("one of %d parts and one of %d", h.Of, other.Of)
	case h.Total != other.Total:
		return fmt.Sprintf("of %d %s and of %d", h.Total, h.Unit, other.Total)
	}
	if why := apart("input", h.Inputs, other.Inputs); why != "" {
		return why
	}
	return apart("setting", h.Settings, other.Settings)
}

// apart names the first entry in which two maps differ, in the order of the names.
func apart(what string, a, b map[string]string) string {
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case inA != inB:
			return fmt.Sprintf("%s %q stands in one of them only", what, name)
		case x != y:
			if what == "input" {
				x, y = fmt.Sprintf("sha256 %.12s…", x), fmt.Sprintf("%.12s…", y)
			}
			return fmt.Sprintf("%s %q: %s and %s", what, name, text.Line(x), text.Line(y))
		}
	}
	return ""
}

// check refuses a header that no part has.
func (h Header) check() error {
	if h.Format != format {
		return fmt.Errorf("found a part of version %d, expected %d", h.Format, format)
	}
	if h.Job == "" || h.Of < 1 || h.Of > most || h.Shard < 1 || h.Shard > h.Of || h.First < 0 || h.End < h.First || h.Total < h.End {
		return fmt.Errorf("found shard %d/%d with rows %d to %d of %d", h.Shard, h.Of, h.First, h.End, h.Total)
	}
	return nil
}

func parseHeader(line []byte, into any, h *Header) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("its header cannot be read: %w", err)
	}
	return h.check()
}

// suffix is what the folder of the parts is named by, behind the output's name.
const suffix = ".parts"

// Out returns the output that a user means, be it named itself or by the folder of its parts.
func Out(name string) string {
	at := location.At(name).Clean()
	return at.With(strings.TrimSuffix(at.Path(), suffix)).String()
}

// Dir returns the folder of the parts of an output.
func Dir(out string) string { return ending(Out(out), suffix) }

// First returns the output of the first pass of a job that makes the output out in two.
func First(out string) string { return ending(out, ".sums") }

// ending returns an output with an ending after its name.
func ending(out, end string) string {
	at := location.At(out)
	return at.With(at.Path() + end).String()
}

// Path returns the name of the part of a shard.
func Path(out string, index, of int) string {
	return location.At(Dir(out)).Join(fmt.Sprintf("%d-of-%d", index, of)).String()
}

var partName = regexp.MustCompile(`^([1-9][0-9]{0,6})-of-([1-9][0-9]{0,6})$`)

// named reads the name of a part.
func named(name string) (index, of int, ok bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	index, _ = strconv.Atoi(m[1])
	of, _ = strconv.Atoi(m[2])
	return index, of, index <= of && of <= most
}
