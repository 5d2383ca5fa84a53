package review

import (
	"slices"
	"time"

	"winnow/report/review/decisions"
)

// vote is a reviewer's decision and note about an image.
type vote struct {
	reviewer int32
	action   uint8
	label    int32 // of relabel
	note     string
	at       int64 // milliseconds
	version  int64
	was      uint8 // the action, if it was about another picture than the file holds now
	wasLabel int32
}

// decideByVotes returns what happens to an image: what more than half of the reviewers want who decided and were
// sure. Without such a majority it is disagreed, and the image is left as given; so it is if all are unsure.
func decideByVotes(votes []vote) (action uint8, label int32) {
	at, sure := decisions.Majority(len(votes), func(i int) bool { return settlesLabel(votes[i].action) },
		func(i, j int) bool { return votes[i].action == votes[j].action && votes[i].label == votes[j].label })
	switch {
	case at >= 0:
		return votes[at].action, votes[at].label
	case sure > 0:
		return disagreed, none
	case slices.ContainsFunc(votes, func(v vote) bool { return v.action == unsure }):
		return unsure, none
	}
	return undecided, none
}

// settlesLabel reports whether an action says if the given label is right.
func settlesLabel(action uint8) bool { return action == keep || action == drop || action == relabel }

// hasDisagreement reports whether reviewers who were sure disagree, even if one decision has a majority.
func hasDisagreement(votes []vote) bool {
	first := -1
	for i, v := range votes {
		switch {
		case !settlesLabel(v.action):
		case first < 0:
			first = i
		case v.action != votes[first].action || v.label != votes[first].label:
			return true
		}
	}
	return false
}

// hasNote reports whether there is a note.
func hasNote(votes []vote) bool {
	for _, v := range votes {
		if v.note != "" {
			return true
		}
	}
	return false
}

// numberReviewer returns the number of a reviewer; a new name gets a new number.
func (d *decided) numberReviewer(name string) int32 {
	n, ok := d.number[name]
	if !ok {
		n = int32(len(d.reviewers))
		d.number[name] = n
		d.reviewers, d.each = append(d.reviewers, name), append(d.each, [actions]int{})
	}
	return n
}

// newcomer stands for a reviewer who has not decided yet.
const newcomer = none - 1

// numberOf returns the number of a reviewer, or newcomer.
func (d *decided) numberOf(name string) int32 {
	if n, ok := d.number[name]; ok {
		return n
	}
	return newcomer
}

// getVote returns a reviewer's vote about an image.
func (d *decided) getVote(image, reviewer int32) vote {
	for _, v := range d.votes[image] {
		if v.reviewer == reviewer {
			return v
		}
	}
	return vote{label: none, wasLabel: none}
}

// decision is an image's decision as JSON.
type decision struct {
	Action  decisions.Action `json:"action"`
	Label   string           `json:"label"`
	At      time.Time        `json:"at"`
	Version int64            `json:"version"`
}

// opinion is another reviewer's vote about an image, as JSON.
type opinion struct {
	Reviewer string           `json:"reviewer"`
	Action   decisions.Action `json:"action"`
	Label    string           `json:"label"`
	Note     string           `json:"note"`
	At       time.Time        `json:"at"`
}

// seen is an image's decisions as a reviewer sees them.
type seen struct {
	Decision *decision        `json:"decision"` // null: undecided
	Before   *decision        `json:"before"`   // about another picture of this path; null: none
	Version  int64            `json:"version"`
	Note     string           `json:"note"`
	Tags     []string         `json:"tags"` // of the image, by whichever reviewer
	Others   []opinion        `json:"others"`
	Differ   bool             `json:"differ"`  // reviewers disagree
	Outcome  decisions.Action `json:"outcome"` // the outcome of all decisions: an action, or disagreed
	Label    string           `json:"outcome_label"`
}

// listDecisionsFor returns an image's decisions as a reviewer sees them. Who has not decided sees nothing of what
// others said.
func (d *decided) listDecisionsFor(image, reviewer int32) seen {
	votes := d.votes[image]
	if own := d.getVote(image, reviewer); own.action == undecided {
		s := seen{Others: []opinion{}, Outcome: decisions.Undecided, Version: own.version, Note: own.note,
			Tags: d.tagsOf(image)}
		if own.was != undecided {
			s.Before = &decision{actionNames[own.was], d.labelName(own.wasLabel), time.UnixMilli(own.at).UTC(),
				own.version}
		}
		return s
	}
	s := seen{
		Others: []opinion{}, Differ: hasDisagreement(votes), Tags: d.tagsOf(image),
		Outcome: actionNames[d.action[image]], Label: d.labelName(d.label[image]),
	}
	for _, v := range votes {
		action, label, at := actionNames[v.action], d.labelName(v.label), time.UnixMilli(v.at).UTC()
		switch {
		case v.reviewer != reviewer && (v.action != undecided || v.note != ""):
			s.Others = append(s.Others, opinion{d.reviewers[v.reviewer], action, label, v.note, at})
		case v.reviewer == reviewer:
			s.Version, s.Note = v.version, v.note
			if v.action != undecided {
				s.Decision = &decision{action, label, at, v.version}
			}
		}
	}
	return s
}

func (d *decided) labelName(label int32) string {
	if label == none {
		return ""
	}
	return d.table.classes[label]
}

// progressOf is a reviewer's progress, as JSON.
type progressOf struct {
	Name    string `json:"name"`
	Decided int    `json:"decided"` // number of images
}

// eachReviewer returns the progress of all reviewers who have decided something.
func (d *decided) eachReviewer() []progressOf {
	list := []progressOf{}
	for i, counts := range d.each {
		if n := counts[keep] + counts[drop] + counts[relabel] + counts[unsure]; n > 0 {
			list = append(list, progressOf{d.reviewers[i], n})
		}
	}
	return list
}
