package review

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"winnow/report/review/decisions"
)

// Actions and outcomes. The outcome disagreed means that reviewers disagree and no decision has a majority.
const (
	undecided = decisions.Undecided
	keep      = decisions.Keep
	drop      = decisions.Drop
	relabel   = decisions.Relabel
	unsure    = decisions.Unsure
	disagreed = decisions.Action("disagreed")
)

var actionNames = []decisions.Action{undecided, keep, drop, relabel, unsure, disagreed}

// settlesLabel reports whether an action decides that the given label is right or wrong.
func settlesLabel(a decisions.Action) bool { return a == keep || isWrong(a) }

// isWrong reports whether an action decides that the given label is wrong.
func isWrong(a decisions.Action) bool { return a == drop || a == relabel }

// vote is a reviewer's current decision and note about an image.
type vote struct {
	decisions.Image
	before *decision // the decision before the image file changed; nil: none
}

// outcome is the combined result of all decisions about an image.
type outcome struct {
	Action decisions.Action
	Label  string // the new label if Action is relabel
}

// decided holds the decisions about the images of a manifest, and their outcomes.
type decided struct {
	table    *table
	pictures *decisions.Pictures // reports which image files changed after a decision
	votes    [][]vote            // votes of each image, by id
	outcome  []outcome           // outcome of each image, by id
	changes  []changed           // all changes, oldest first
	gone     []decisions.Image   // decisions about images that the manifest does not have
	progress *progress           // computed by countProgress; nil: outdated by a decision
}

// changed records the version of the store at which a decision about an image changed.
type changed struct {
	version int64
	id      int
}

// newDecided reads the store's decisions about the table's images.
func newDecided(t *table, s *decisions.Store, seen *decisions.Pictures) (*decided, error) {
	n := len(t.images)
	d := &decided{table: t, pictures: seen, votes: make([][]vote, n),
		outcome: slices.Repeat([]outcome{{Action: undecided}}, n)}
	foreign, known := 0, 0
	err := s.Images(func(i decisions.Image) error {
		id, ok := t.id[i.Path]
		switch {
		case ok:
			known++
			d.setDecision(id, i)
		case i.Action != undecided && !i.Moved:
			d.gone = append(d.gone, i)
			if i.Action != drop { // dropped images are expected to be missing
				foreign++
			}
		}
		return nil
	})
	if err == nil && foreign > known {
		err = fmt.Errorf("review: %s: contains decisions about %d images, and %d of the images are not in the "+
			"manifest, such as %q: use another decisions file",
			s.Path, foreign+known, foreign, d.gone[len(d.gone)-1].Path)
	}
	return d, err
}

// getStoreVersion returns the version of the store after the last change.
func (d *decided) getStoreVersion() int64 {
	if n := len(d.changes); n > 0 {
		return d.changes[n-1].version
	}
	return 0
}

// setDecision stores a reviewer's decision about an image.
func (d *decided) setDecision(id int, i decisions.Image) {
	v := d.voteOf(id, i)
	at := slices.IndexFunc(d.votes[id], func(old vote) bool { return old.Reviewer == v.Reviewer })
	if at >= 0 {
		d.votes[id][at] = v
	} else {
		d.votes[id] = append(d.votes[id], v)
	}
	d.outcome[id] = decideByVotes(d.votes[id])
	d.changes, d.progress = append(d.changes, changed{i.Change, id}), nil
}

// voteOf returns a reviewer's decision updated for the current manifest and image files. If the given label has changed
// since the decision, relabel with the current label becomes keep, and keep or unsure becomes undecided. If the image
// file has changed, every decision becomes undecided, and vote.before holds the old decision.
func (d *decided) voteOf(id int, i decisions.Image) vote {
	v, now := vote{Image: i}, d.table.images[id].Given
	if i.Action == relabel {
		d.table.addClass(i.Label)
	}
	switch {
	case i.Given == now:
	case i.Action == relabel && i.Label == now:
		v.Action, v.Label = keep, ""
	case i.Action == keep || i.Action == unsure:
		v.Action, v.Label = undecided, ""
	}
	if v.Action != undecided && d.pictures.Changed(i.Path, i.At) {
		v.before = newDecision(v.Image)
		v.Action, v.Label = undecided, ""
	}
	return v
}

// decideByVotes returns the outcome for an image: the decision of more than half of the reviewers who decided and were
// sure. Without such a majority the outcome is disagreed, or unsure if no reviewer was sure.
func decideByVotes(votes []vote) outcome {
	at, sure := decisions.Majority(len(votes), func(i int) bool { return settlesLabel(votes[i].Action) },
		func(i, j int) bool { return votes[i].Action == votes[j].Action && votes[i].Label == votes[j].Label })
	switch {
	case at >= 0:
		return outcome{votes[at].Action, votes[at].Label}
	case sure > 0:
		return outcome{disagreed, ""}
	case slices.ContainsFunc(votes, func(v vote) bool { return v.Action == unsure }):
		return outcome{unsure, ""}
	}
	return outcome{undecided, ""}
}

// hasDisagreement reports whether reviewers who were sure decided differently, even if one decision has a majority.
func hasDisagreement(votes []vote) bool {
	said := map[outcome]bool{}
	for _, v := range votes {
		if settlesLabel(v.Action) {
			said[outcome{v.Action, v.Label}] = true
		}
	}
	return len(said) > 1
}

// getVote returns a reviewer's vote about an image.
func (d *decided) getVote(id int, reviewer string) vote {
	for _, v := range d.votes[id] {
		if v.Reviewer == reviewer {
			return v
		}
	}
	return vote{Image: decisions.Image{Action: undecided}}
}

// countStale returns the number of undecided images whose file has changed since a reviewer decided about them.
func (d *decided) countStale() (n int) {
	for id, votes := range d.votes {
		stale := slices.ContainsFunc(votes, func(v vote) bool { return v.before != nil })
		if stale && d.outcome[id].Action == undecided {
			n++
		}
	}
	return n
}

// decision is a reviewer's decision about an image, as JSON.
type decision struct {
	Action  decisions.Action `json:"action"`
	Label   string           `json:"label"`
	At      time.Time        `json:"at"`
	Version int64            `json:"version"`
}

func newDecision(i decisions.Image) *decision {
	return &decision{i.Action, i.Label, i.At.UTC(), i.Version}
}

// opinion is another reviewer's vote about an image, as JSON.
type opinion struct {
	Reviewer string           `json:"reviewer"`
	Action   decisions.Action `json:"action"`
	Label    string           `json:"label"`
	Note     string           `json:"note"`
	At       time.Time        `json:"at"`
}

// seen holds the decisions about an image that a reviewer is shown.
type seen struct {
	Decision *decision        `json:"decision"` // null: undecided
	Before   *decision        `json:"before"`   // the decision before the image file changed; null: none
	Version  int64            `json:"version"`
	Note     string           `json:"note"`
	Others   []opinion        `json:"others"`
	Differ   bool             `json:"differ"`  // reviewers decided differently
	Outcome  decisions.Action `json:"outcome"` // combined result: an action, or disagreed
	Label    string           `json:"outcome_label"`
}

// state holds the decisions about an image after a change, as JSON.
type state struct {
	ID int `json:"id"`
	seen
}

// listDecisionsFor returns the decisions about an image that a reviewer is shown. The decisions of others are hidden
// until the reviewer has decided.
func (d *decided) listDecisionsFor(id int, reviewer string) seen {
	own := d.getVote(id, reviewer)
	s := seen{Others: []opinion{}, Outcome: undecided, Version: own.Version, Note: own.Note, Before: own.before}
	if own.Action == undecided {
		return s
	}
	s.Decision, s.Differ = newDecision(own.Image), hasDisagreement(d.votes[id])
	s.Outcome, s.Label = d.outcome[id].Action, d.outcome[id].Label
	for _, v := range d.votes[id] {
		if v.Reviewer != reviewer && (v.Action != undecided || v.Note != "") {
			s.Others = append(s.Others, opinion{v.Reviewer, v.Action, v.Label, v.Note, v.At.UTC()})
		}
	}
	return s
}

// listStatesFor returns the states of images that a reviewer is shown.
func (d *decided) listStatesFor(ids []int, reviewer string) []state {
	list := []state{}
	for _, id := range ids {
		list = append(list, state{id, d.listDecisionsFor(id, reviewer)})
	}
	return list
}

// listChangedSince returns the images whose decisions changed after a version of the store, each once, and the version
// up to which the list is complete. The list ends with the version in which it reaches most images.
func (d *decided) listChangedSince(version int64, most int) (upTo int64, ids []int) {
	from := sort.Search(len(d.changes), func(i int) bool { return d.changes[i].version > version })
	seen := map[int]bool{}
	upTo = version
	for _, c := range d.changes[from:] {
		if c.version != upTo && len(ids) >= most {
			break
		}
		if upTo = c.version; !seen[c.id] {
			seen[c.id], ids = true, append(ids, c.id)
		}
	}
	return upTo, ids
}

// progress holds the numbers of decided images, as JSON.
type progress struct {
	Counts    map[decisions.Action]int `json:"counts"` // images of the audit by outcome
	Whole     map[decisions.Action]int `json:"whole"`  // all images by outcome
	Left      map[string]int           `json:"left"`   // groups of findings with an undecided image, by kind
	Precision precision                `json:"precision"`
	Hint      string                   `json:"hint"`
	Version   int64                    `json:"version"`
	Classes   []classProgress          `json:"classes"`
	Reviewers []progressOf             `json:"reviewers"`
}

// classProgress is the number of decided suspects of a class.
type classProgress struct {
	Name    string `json:"name"`
	Decided int    `json:"decided"`
}

// progressOf is the number of images that a reviewer has decided.
type progressOf struct {
	Name    string `json:"name"`
	Decided int    `json:"decided"` // number of images
}

// countUndecidedGroups returns the number of groups of findings that have an undecided image, by kind.
func (d *decided) countUndecidedGroups() map[string]int {
	left := map[string]int{}
	for kind, list := range d.table.findings {
		for _, f := range list {
			if slices.ContainsFunc(f.ids, func(id int) bool { return d.outcome[id].Action == undecided }) {
				left[kind]++
			}
		}
	}
	return left
}

// countProgress returns the progress of the review. It recounts only after a decision.
func (d *decided) countProgress() progress {
	if d.progress != nil {
		return *d.progress
	}
	p := progress{Counts: map[decisions.Action]int{}, Whole: map[decisions.Action]int{}, Classes: []classProgress{},
		Reviewers: []progressOf{}, Version: d.getStoreVersion()}
	for _, a := range actionNames {
		p.Counts[a], p.Whole[a] = 0, 0
	}
	by, classes := map[string]int{}, map[string]int{}
	for id := range d.table.images {
		for _, v := range d.votes[id] {
			if v.Action != undecided {
				by[v.Reviewer]++
			}
		}
		e, action := &d.table.images[id], d.outcome[id].Action
		if p.Whole[action]++; e.audited {
			p.Counts[action]++
		}
		if e.isOfKind(suspect) && action != undecided {
			classes[e.Given]++
		}
	}
	for _, name := range d.table.classes {
		p.Classes = append(p.Classes, classProgress{name, classes[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		p.Reviewers = append(p.Reviewers, progressOf{name, by[name]})
	}
	p.Left = d.countUndecidedGroups()
	p.Precision = d.measurePrecision()
	p.Hint = d.hintWhenToStop(p.Precision, p.Classes)
	d.progress = &p
	return p
}
