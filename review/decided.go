package review

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"winnow/review/decisions"
)

// The actions as numbers, in memory.
const (
	undecided uint8 = iota
	keep
	drop
	relabel
	actions
)

var actionNames = [actions]decisions.Action{decisions.Undecided, decisions.Keep, decisions.Drop, decisions.Relabel}

// decided holds the decisions about the images of a manifest, and the counts that follow from them.
type decided struct {
	table   *table
	action  []uint8 // of each image of the manifest
	label   []int32 // of relabel
	at      []int64 // milliseconds
	version []int64

	changes []changed // in order
	counts  [actions]int
	judged  int // suspects decided, and wrong ones among them
	wrong   int
	classes []int32 // suspects decided of each given class
	pairs   []tally // of each confusion
}

// changed records that an image changed with a version of the store.
type changed struct {
	version int64
	image   int32
}

// tally counts the suspects of a confusion that are decided, and those whose suggestion was accepted.
type tally struct{ decided, accepted int32 }

// newDecided reads what the store holds about the table's images.
func newDecided(t *table, s *decisions.Store) (*decided, error) {
	n := len(t.manifest.Samples)
	d := &decided{
		table: t, action: make([]uint8, n), label: slices.Repeat([]int32{none}, n), at: make([]int64, n), version: make([]int64, n),
		classes: make([]int32, len(t.classes)), pairs: make([]tally, len(t.pairs)),
	}
	d.counts[undecided] = len(t.image)
	strangers, known, example := 0, 0, ""
	err := s.Images(func(i decisions.Image) error {
		image, ok := t.find(i.Path)
		switch {
		case ok:
			known++
			d.set(image, i)
		case i.Action == decisions.Keep || i.Action == decisions.Relabel: // dropped images may be gone
			strangers++
			example = i.Path
		}
		return nil
	})
	if err == nil && strangers > known {
		err = fmt.Errorf("review: %s: holds decisions about %d images of which %d are not in the manifest, such as %q: it is about other images; name another file with --decisions", s.Path, strangers+known, strangers, example)
	}
	return d, err
}

// set takes over an image's decision from the store.
func (d *decided) set(image int32, i decisions.Image) {
	action := uint8(slices.Index(actionNames[:], i.Action))
	label := int32(none)
	if i.Action == decisions.Relabel {
		label = d.table.class(i.Label)
	}
	action, label = d.table.asItStands(action, label, i.Given, d.table.label(image))
	if id := d.table.id[image]; id != none {
		d.count(id, -1)
		defer d.count(id, +1)
	}
	d.action[image], d.label[image], d.at[image], d.version[image] = action, label, i.At.UnixMilli(), i.Version
	d.changes = append(d.changes, changed{i.Change, image})
}

// asItStands returns a decision about an image whose label may have changed since, as in a mended manifest: an image relabelled
// with the label that it has now is kept; that another label was kept says nothing about this one.
func (t *table) asItStands(action uint8, label int32, then, now string) (uint8, int32) {
	switch {
	case then == now:
	case action == relabel && t.classes[label] == now:
		return keep, none
	case action == keep:
		return undecided, none
	}
	return action, label
}

// count adds an image of the audit with its present decision to the counts, or subtracts it.
func (d *decided) count(id int32, by int) {
	t := d.table
	action := d.action[t.image[id]]
	d.counts[action] += by
	if t.kinds[id]&suspect == 0 || action == undecided {
		return
	}
	d.judged += by
	d.classes[t.given[id]] += int32(by)
	if action != keep {
		d.wrong += by
	}
	if p := t.pair[id]; p != none {
		d.pairs[p].decided += int32(by)
		if action == relabel && d.label[t.image[id]] == t.suggested[id] {
			d.pairs[p].accepted += int32(by)
		}
	}
}

// decision returns an image's decision as JSON; nil if it is undecided.
func (d *decided) decision(image int32) *decision {
	if d.action[image] == undecided {
		return nil
	}
	out := &decision{Action: actionNames[d.action[image]], At: time.UnixMilli(d.at[image]).UTC(), Version: d.version[image]}
	if d.action[image] == relabel {
		out.Label = d.table.classes[d.label[image]]
	}
	return out
}

// since returns the images that changed after a version of the store, each once, and the version up to which the list is
// complete: it covers at most so many changes.
func (d *decided) since(version int64, most int) (upTo int64, images []int32) {
	from := sort.Search(len(d.changes), func(i int) bool { return d.changes[i].version > version })
	seen := map[int32]bool{}
	upTo = version
	for i := from; i < len(d.changes); i++ {
		if c := d.changes[i]; c.version != upTo && len(images) >= most {
			break
		}
		upTo = d.changes[i].version
		if image := d.changes[i].image; !seen[image] {
			seen[image] = true
			images = append(images, image)
		}
	}
	return upTo, images
}
