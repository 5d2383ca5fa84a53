package review

import (
	"errors"
	"fmt"

	"winnow/report/review/decisions"
)

// asked is a decision as the page sends it.
type asked struct {
	ID      *int32           `json:"id"`
	Action  decisions.Action `json:"action"` // "": the decision stands, and only the tags change
	Label   string           `json:"label"`
	Note    *string          `json:"note"` // null: unchanged
	Give    []string         `json:"give"` // tags that the image gets
	Take    []string         `json:"take"` // tags that it loses
	Version *int64           `json:"version"`
}

// applied is the answer to a change.
type applied struct {
	Applied   []state         `json:"applied,omitempty"`
	Undone    []state         `json:"undone,omitempty"`
	Redone    []state         `json:"redone,omitempty"`
	Counts    map[string]int  `json:"counts"` // of the audit's images
	Whole     map[string]int  `json:"whole"`  // of all images
	Precision precision       `json:"precision"`
	Hint      string          `json:"hint"`
	Version   int64           `json:"version"`
	Classes   []classProgress `json:"classes"` // the classes of the changed images
	Reviewers []progressOf    `json:"reviewers"`
	Learned   *learned        `json:"learned"` // null: the review learns nothing
	Tags      []tagCount      `json:"tags"`
}

// classProgress is the number of decided suspects of a class.
type classProgress struct {
	Name    string `json:"name"`
	Decided int32  `json:"decided"`
}

// mostReviewers is the largest number of reviewers of a manifest.
const mostReviewers = 100

// convertChanges checks a reviewer's decisions and converts them to the store's form.
func (r *Reviewer) convertChanges(list []asked, reviewer string) ([]decisions.Change, error) {
	if len(list) == 0 || len(list) > mostDecisions {
		return nil, fmt.Errorf("decisions: found %d, expected 1 to %d", len(list), mostDecisions)
	}
	r.mutex.RLock() // guards the names of classes
	defer r.mutex.RUnlock()
	t, who := r.table, r.decided.numberOf(reviewer)
	if who == newcomer && len(r.decided.reviewers) >= mostReviewers {
		return nil, fmt.Errorf("reviewer: %q is new, and %d reviewers, the most possible, have decided already",
			reviewer, mostReviewers)
	}
	out := make([]decisions.Change, len(list))
	seen := map[int32]bool{}
	for i, a := range list {
		switch {
		case a.ID == nil || *a.ID < 0 || int(*a.ID) >= len(t.all):
			return nil, fmt.Errorf("decision %d: its id is missing or not an image's, expected 0 to %d",
				i, len(t.all)-1)
		case seen[*a.ID]:
			return nil, fmt.Errorf("decision %d: image %d appears twice", i, *a.ID)
		case !a.Action.Known() && !(a.Action == "" && a.Note == nil && len(a.Give)+len(a.Take) > 0):
			return nil, fmt.Errorf("decision %d: action is %.40q, expected keep, drop, relabel, unsure or undecided",
				i, a.Action)
		case a.Version == nil || *a.Version < 0:
			return nil, fmt.Errorf("decision %d: version is missing, expected the version that the page showed", i)
		case a.Action != decisions.Relabel && a.Label != "":
			return nil, fmt.Errorf("decision %d: %s takes no label", i, a.Action)
		}
		image := t.all[*a.ID].image
		given := t.nameGivenLabel(image)
		if a.Action == decisions.Keep && given == "" {
			return nil, fmt.Errorf("decision %d: image %q has no label to keep", i, t.getImagePath(image))
		}
		if a.Action == decisions.Relabel {
			if _, ok := t.classOf[a.Label]; !ok {
				return nil, fmt.Errorf("decision %d: no class is called %.80q", i, a.Label)
			}
			if a.Label == given {
				return nil, fmt.Errorf("decision %d: %.80q is the given label: keep it", i, a.Label)
			}
		}
		if err := r.decided.checkTags(a.Give, a.Take); err != nil {
			return nil, fmt.Errorf("decision %d: %w", i, err)
		}
		note := r.decided.getVote(image, who).note
		if a.Note != nil {
			note = *a.Note
		}
		if err := decisions.CheckNote(note); err != nil {
			return nil, fmt.Errorf("decision %d: %w", i, err)
		}
		seen[*a.ID] = true
		out[i] = decisions.Change{
			Path: t.getImagePath(
				image,
			), Given: given, Action: a.Action, Label: a.Label, Note: note, Version: *a.Version,
			Stands: a.Action == "", Give: a.Give, Take: a.Take,
		}
	}
	return out, nil
}

// lookAtPicture returns the picture that a decision about an image is about.
func (r *Reviewer) lookAtPicture(path string) decisions.Picture {
	if r.Files == nil {
		return decisions.Picture{}
	}
	return decisions.Look(r.Files, path)
}

// makeChange makes a reviewer's change in the store and, when it is on disk, in memory. On a conflict it returns
// the current states of the images.
func (r *Reviewer) makeChange(reviewer string, apply func() ([]decisions.Image, error)) (
	states []state, a applied, err error) {
	r.deciding.Lock()
	defer r.deciding.Unlock()
	images, err := apply()
	var conflict *decisions.Conflict
	if errors.As(err, &conflict) {
		images = conflict.Images
	} else if err != nil {
		return nil, a, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	d, t := r.decided, r.table
	at := []int32{}
	for _, i := range images {
		image, ok := t.findImage(i.Path)
		if !ok {
			continue // an undo of another audit's image, which this manifest does not have
		}
		at = append(at, image)
		if conflict == nil {
			d.setDecision(image, i)
			if id := t.id[image]; id != none && r.learning != nil {
				r.learning.addVote(id, i.Reviewer, d.voteOf(image, i), i.Change, i.At.UnixMilli())
			}
		}
	}
	if conflict == nil {
		defer r.learnSoon()
	}
	return d.listStatesFor(at, d.numberOf(reviewer)), r.reportLearned(at), err
}

// reportLearned returns the state of the review after a change of images, with what it has learned so far.
func (r *Reviewer) reportLearned(images []int32) applied {
	a := r.decided.reportProgress(images)
	l := r.learning
	if l == nil || l.said == nil {
		return a
	}
	said := *l.said
	if left, drawn := l.listFirstDraws(); len(drawn) > 0 || left > 0 {
		said.Check = &checking{Of: len(drawn) + left}
		for _, id := range drawn {
			if r.decided.action[r.table.list[id].image] != undecided {
				said.Check.Done++
			}
		}
		if said.Check.Done == said.Check.Of {
			said.Check = nil
		}
	}
	a.Learned = &said
	return a
}

// reportProgress returns the state of the review after a change of images.
func (d *decided) reportProgress(images []int32) applied {
	p := d.measurePrecision()
	a := applied{
		Counts: byName(d.counts), Whole: byName(d.whole), Precision: p, Hint: d.hintWhenToStop(p),
		Classes: []classProgress{}, Reviewers: d.eachReviewer(), Tags: d.tagCounts(),
	}
	a.Version = d.getStoreVersion()
	seen := map[int32]bool{}
	for _, image := range images {
		id := d.table.id[image]
		if id == none || seen[d.table.list[id].given] {
			continue
		}
		class := d.table.list[id].given
		seen[class] = true
		a.Classes = append(a.Classes, classProgress{d.table.classes[class], d.classes[class]})
	}
	return a
}

// byName returns counts of actions by the actions' names.
func byName(counts [actions]int) map[string]int {
	list := map[string]int{}
	for a, n := range counts {
		list[string(actionNames[a])] = n
	}
	return list
}
