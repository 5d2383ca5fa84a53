package review

import (
	"fmt"
	"slices"
	"sort"

	"winnow/report/review/decisions"
)

// The actions as numbers, in memory.
const (
	undecided uint8 = iota
	keep
	drop
	relabel
	unsure
	disagreed // only as an outcome: reviewers disagree and no decision has a majority
	actions
)

var actionNames = [actions]decisions.Action{
	decisions.Undecided, decisions.Keep, decisions.Drop, decisions.Relabel, decisions.Unsure, "disagreed",
}

// decided holds the decisions about the images of a manifest, their outcomes, and the counts derived from them.
type decided struct {
	table     *table
	pictures  *decisions.Pictures // tells which images changed since they were decided
	reviewers []string            // in the order of their first decisions
	number    map[string]int32
	votes     [][]vote // votes about each image of the manifest
	action    []uint8  // the outcome for each image
	label     []int32  // the new label for each image, if the outcome is relabel

	changes []changed         // in order
	counts  [actions]int      // of the audit's images by their outcomes
	whole   [actions]int      // of all images
	each    [][actions]int    // number of images that each reviewer decided
	done    int               // suspects with a decision
	judged  int               // suspects with a settled decision
	wrong   int               // suspects that were dropped or relabelled
	classes []int32           // decided suspects of each given class
	pairs   []tally           // one for each confusion
	gone    []decisions.Image // decisions about images that the manifest does not have
	tags    map[int32][]string
	tagged  map[string]int // images of each tag
}

// changed records that an image changed at a version of the store.
type changed struct {
	version int64
	image   int32
}

// tally counts the decided suspects of a confusion, and those whose suggestion was accepted.
type tally struct{ decided, accepted int32 }

// newDecided reads the store's decisions about the table's images.
func newDecided(t *table, s *decisions.Store, seen *decisions.Pictures) (*decided, error) {
	n := len(t.manifest.Samples)
	d := &decided{
		table: t, pictures: seen, number: map[string]int32{},
		votes: make([][]vote, n), action: make([]uint8, n), label: slices.Repeat([]int32{none}, n),
		classes: make([]int32, len(t.classes)), pairs: make([]tally, len(t.pairs)),
		tags: map[int32][]string{}, tagged: map[string]int{},
	}
	d.counts[undecided], d.whole[undecided] = len(t.list), n
	strangers, known := 0, 0
	err := s.Images(func(i decisions.Image) error {
		image, ok := t.findImage(i.Path)
		switch {
		case ok:
			known++
			d.setDecision(image, i)
		case i.Action != decisions.Undecided:
			d.gone = append(d.gone, i)
			if i.Action != decisions.Drop { // a corrected manifest is without the dropped ones
				strangers++
			}
		}
		return nil
	})
	if err == nil && strangers > known {
		err = fmt.Errorf("review: %s: holds decisions about %d images of which %d are not in the manifest, "+
			"such as %q: it is about other images; name another file of decisions",
			s.Path, strangers+known, strangers, d.gone[len(d.gone)-1].Path)
	}
	return d, err
}

// getStoreVersion returns the store's version at the last change.
func (d *decided) getStoreVersion() int64 {
	if n := len(d.changes); n > 0 {
		return d.changes[n-1].version
	}
	return 0
}

// voteOf returns a reviewer's decision about an image as it stands today.
func (d *decided) voteOf(image int32, i decisions.Image) vote {
	v := vote{
		reviewer: d.numberReviewer(i.Reviewer), action: uint8(slices.Index(actionNames[:], i.Action)), label: none,
		note: i.Note, at: i.At.UnixMilli(), version: i.Version,
	}
	if i.Action == decisions.Relabel {
		v.label = d.table.numberClass(i.Label)
	}
	v.action, v.label = d.table.asItStands(v.action, v.label, i.Given, d.table.nameGivenLabel(image))
	if v.action != undecided && d.pictures.Changed(i.Path, i.At) {
		v.was, v.wasLabel = v.action, v.label
		v.action, v.label = undecided, none
	}
	return v
}

// countStale returns the number of images that changed since somebody decided about them and that nobody decided since.
func (d *decided) countStale() (n int) {
	for image, votes := range d.votes {
		if d.action[image] == undecided && slices.ContainsFunc(votes, func(v vote) bool { return v.was != undecided }) {
			n++
		}
	}
	return n
}

// setDecision stores a reviewer's decision about an image.
func (d *decided) setDecision(image int32, i decisions.Image) {
	v := d.voteOf(image, i)
	if id := d.table.id[image]; id != none {
		d.countImage(id, -1)
		defer d.countImage(id, +1)
	}
	d.countVotes(image, -1)
	defer d.countVotes(image, +1)
	votes := d.votes[image]
	if at := slices.IndexFunc(votes, func(old vote) bool { return old.reviewer == v.reviewer }); at >= 0 {
		votes[at] = v
	} else {
		d.votes[image] = append(votes, v)
	}
	d.action[image], d.label[image] = decideByVotes(d.votes[image])
	d.replaceTags(image, i.Tags)
	d.changes = append(d.changes, changed{i.Change, image})
}

// asItStands adapts a decision to an image whose given label has changed since, as in a corrected manifest. An
// image relabelled with its present label is kept. A judgement of the old label (keep or unsure) no longer
// counts.
func (t *table) asItStands(action uint8, label int32, then, now string) (uint8, int32) {
	switch {
	case then == now:
	case action == relabel && t.classes[label] == now:
		return keep, none
	case action == keep || action == unsure:
		return undecided, none
	}
	return action, label
}

// countImage adds an image of the audit with its present outcome to the counts, or subtracts it.
func (d *decided) countImage(id int32, by int) {
	t := d.table
	e := &t.list[id]
	action := d.action[e.image]
	d.counts[action] += by
	if e.kinds&suspect == 0 || action == undecided {
		return
	}
	d.done += by
	d.classes[e.given] += int32(by)
	if settlesLabel(action) {
		d.judged += by
	}
	if action == drop || action == relabel {
		d.wrong += by
	}
	if p := e.pair; p != none {
		d.pairs[p].decided += int32(by)
		if action == relabel && d.label[e.image] == e.suggested {
			d.pairs[p].accepted += int32(by)
		}
	}
}

// countVotes adds an image with its outcome and its votes to the counts of all images, or subtracts it.
func (d *decided) countVotes(image int32, by int) {
	d.whole[d.action[image]] += by
	for _, v := range d.votes[image] {
		d.each[v.reviewer][v.action] += by
	}
}

// listChangedSince returns the images that changed after a version of the store, each once, and the version up to which
// the list is complete. The list stops after most images, at the end of a version.
func (d *decided) listChangedSince(version int64, most int) (upTo int64, images []int32) {
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
