package cluster

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

// Header says which job and rows a part belongs to. Parts of one job differ only in the shard, its rows and the
// version.
type Header struct {
	Format   int               `json:"winnow_part"`
	Job      string            `json:"job"`   // the command
	Shard    int               `json:"shard"` // 1 … Of
	Of       int               `json:"of"`
	First    int               `json:"first"` // of the rows of the whole, from 0
	End      int               `json:"end"`   // after its last row
	Total    int               `json:"total"` // rows of the whole
	Unit     string            `json:"unit"`  // what the rows are: "images"
	Inputs   map[string]string `json:"inputs"`
	Settings map[string]string `json:"settings"`
	Winnow   string            `json:"winnow"` // version of the program
}

// format is the version of parts that this program writes and reads.
const format = 1

// String names the shard.
func (h Header) String() string { return fmt.Sprintf("%d/%d", h.Shard, h.Of) }

// diffHeader says in what the jobs of two parts differ, "" if in nothing.
func (h Header) diffHeader(other Header) string {
	switch {
	case h.Job != other.Job:
		return fmt.Sprintf("made by winnow %s and by winnow %s", h.Job, other.Job)
	case h.Of != other.Of:
		return fmt.Sprintf("one of %d parts and one of %d", h.Of, other.Of)
	case h.Total != other.Total:
		return fmt.Sprintf("of %d %s and of %d", h.Total, h.Unit, other.Total)
	}
	if why := diffMaps("input", h.Inputs, other.Inputs); why != "" {
		return why
	}
	return diffMaps("setting", h.Settings, other.Settings)
}

// diffMaps describes the first entry, by name, in which two maps differ, or returns "".
func diffMaps(what string, a, b map[string]string) string {
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
			return fmt.Sprintf("%s %q is in only one of them", what, name)
		case x != y:
			if what == "input" {
				x, y = fmt.Sprintf("sha256 %.12s…", x), fmt.Sprintf("%.12s…", y)
			}
			return fmt.Sprintf("%s %q: %s and %s", what, name, text.Line(x), text.Line(y))
		}
	}
	return ""
}

// checkHeader returns an error for a header that no part can have.
func (h Header) checkHeader() error {
	if h.Format != format {
		return fmt.Errorf("found a part of version %d, expected %d", h.Format, format)
	}
	if h.Job == "" || h.Of < 1 || h.Of > mostShards || h.Shard < 1 || h.Shard > h.Of || h.First < 0 ||
		h.End < h.First || h.Total < h.End {
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
	return h.checkHeader()
}

// suffix follows the output's name in the name of the folder of its parts.
const suffix = ".parts"

// Out returns the output that a user names, directly or by the folder of its parts.
func Out(at location.Source) location.Source {
	at = at.Clean()
	return at.With(strings.TrimSuffix(at.Path(), suffix))
}

// Dir returns the folder of the parts of an output.
func Dir(out location.Source) location.Source {
	out = Out(out)
	return out.With(out.Path() + suffix)
}

// Path returns where the part of a shard is.
func Path(out location.Source, index, of int) location.Source {
	return Dir(out).Join(fmt.Sprintf("%d-of-%d", index, of))
}

// PartOf reports whether a file or folder is a part, and of which output and shard.
func PartOf(at location.Source) (out location.Source, s Shard, ok bool) {
	index, of, ok := parseName(at.Base())
	dir := at.Parent().Clean()
	out = Out(dir)
	return out, Shard{Index: index, Of: of}, ok && Dir(out) == dir
}

var partName = regexp.MustCompile(`^([1-9][0-9]{0,6})-of-([1-9][0-9]{0,6})$`)

// parseName reads the name of a part.
func parseName(name string) (index, of int, ok bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	index, _ = strconv.Atoi(m[1])
	of, _ = strconv.Atoi(m[2])
	return index, of, index <= of && of <= mostShards
}
