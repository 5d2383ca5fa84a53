package cluster

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
)

// Header identifies the job and the rows of a part. Parts of a job differ only in the shard, its rows and the version
// of the program.
type Header struct {
	Format   int               `json:"winnow_part"`
	Job      string            `json:"job"`   // name of the command
	Shard    int               `json:"shard"` // 1 … Of
	Of       int               `json:"of"`
	First    int               `json:"first"` // first row of the part, from 0
	End      int               `json:"end"`   // end of the part: its last row + 1
	Total    int               `json:"total"` // number of rows of the job
	Unit     string            `json:"unit"`  // name of the rows, such as "images"
	Inputs   map[string]string `json:"inputs"`
	Settings map[string]string `json:"settings"`
	Winnow   string            `json:"winnow"` // version of the program
}

// format is the version of the parts that this program writes and reads.
const format = 2

// String returns the shard as I/N.
func (h Header) String() string { return fmt.Sprintf("%d/%d", h.Shard, h.Of) }

// diffHeader describes how the jobs of two parts differ; "" if they do not.
func (h Header) diffHeader(other Header) string {
	a, b := h.identifyWork(), other.identifyWork()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			return fmt.Sprintf("%s %q and %q", name, a[name], b[name])
		}
	}
	if len(a) != len(b) {
		return "different inputs or settings"
	}
	return ""
}

// identifyWork returns everything that the parts of a job have in common.
func (h Header) identifyWork() map[string]string {
	all := map[string]string{"command": h.Job, "parts": strconv.Itoa(h.Of), "rows": strconv.Itoa(h.Total)}
	for name, sum := range h.Inputs {
		all["input "+name] = sum
	}
	for name, value := range h.Settings {
		all["setting "+name] = value
	}
	return all
}

// checkHeader returns an error for an impossible header.
func (h Header) checkHeader() error {
	if h.Format != format {
		return fmt.Errorf("part of version %d, expected %d", h.Format, format)
	}
	if h.Job == "" || h.Of < 1 || h.Of > mostShards || h.Shard < 1 || h.Shard > h.Of || h.First < 0 ||
		h.End < h.First || h.Total < h.End {
		return fmt.Errorf("impossible shard %d/%d with rows %d to %d of %d", h.Shard, h.Of, h.First, h.End, h.Total)
	}
	return nil
}

// suffix is appended to the output's name to name the folder of its parts.
const suffix = ".parts"

// Out returns the output that a user names either directly or by the folder of its parts.
func Out(at location.Source) location.Source {
	at = at.Clean()
	return at.With(strings.TrimSuffix(at.Path(), suffix))
}

// Dir returns the folder of the parts of an output.
func Dir(out location.Source) location.Source {
	out = Out(out)
	return out.With(out.Path() + suffix)
}

// Path returns the location of a shard's part.
func Path(out location.Source, index, of int) location.Source {
	return Dir(out).Join(fmt.Sprintf("%d-of-%d", index, of))
}

// PartOf reports whether a file or folder is a part; if so, it returns the output and the shard.
func PartOf(at location.Source) (out location.Source, s Shard, ok bool) {
	index, of, ok := parseName(at.Base())
	dir := at.Parent().Clean()
	out = Out(dir)
	return out, Shard{Index: index, Of: of}, ok && Dir(out) == dir
}

var partName = regexp.MustCompile(`^([1-9][0-9]{0,6})-of-([1-9][0-9]{0,6})$`)

// parseName parses the name of a part.
func parseName(name string) (index, of int, ok bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	index, _ = strconv.Atoi(m[1])
	of, _ = strconv.Atoi(m[2])
	return index, of, index <= of && of <= mostShards
}
