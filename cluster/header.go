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
const format = 2

// String names the shard.
func (h Header) String() string { return fmt.Sprintf("%d/%d", h.Shard, h.Of) }

// diffHeader says in what the jobs of two parts differ, "" if in nothing.
func (h Header) diffHeader(other Header) string {
	a, b := h.identifyWork(), other.identifyWork()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			return fmt.Sprintf("%s %q and %q", name, a[name], b[name])
		}
	}
	if len(a) != len(b) {
		return "other inputs or settings"
	}
	return ""
}

// identifyWork returns all that parts of one job have in common.
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
