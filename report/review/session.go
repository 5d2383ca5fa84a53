package review

import (
	"cmp"
	"fmt"
	"slices"

	"winnow/internal/text"
	"winnow/report/review/decisions"
)

// session is the response to the page's first request.
type session struct {
	Title    string         `json:"title"`
	Audit    string         `json:"audit"`
	Sum      string         `json:"sum"` // hash of the audit; the page sends it with decisions
	Manifest string         `json:"manifest"`
	Out      string         `json:"out"`    // "": download only
	Total    int            `json:"total"`  // number of images in the audit
	Images   int            `json:"images"` // number of images in the manifest
	Home     View           `json:"home"`
	Splits   []sessionSplit `json:"splits"`
	Reading  reading        `json:"reading"`
	Missing  Missing        `json:"missing"`
	Findings map[string]int `json:"findings"` // number of groups of each kind of finding
	Kinds    map[string]int `json:"kinds"`
	Drawn    bool           `json:"drawn"` // suspects are images drawn at random
	Similar  bool           `json:"similar"`
	Learns   bool           `json:"learns"`    // undecided images are reranked after decisions
	NoUpload string         `json:"no_upload"` // why uploads do not work; "": they work
	Reviewer string         `json:"reviewer"`  // the name that the page suggests
	Notice   string         `json:"notice"`
	Train    string         `json:"train"` // command that trains on the decisions
	progress
	Classes []sessionClass `json:"classes"` // replaces progress.Classes

	HasTruth bool `json:"has_truth"` // always false: reviewers must not see the true labels
}

// sessionClass is a class of the manifest.
type sessionClass struct {
	Name     string `json:"name"`
	Called   string `json:"called"` // the name to show; "": Name
	Images   int    `json:"images"`
	Suspects int    `json:"suspects"`
	Decided  int    `json:"decided"` // number of decided suspects
}

// sessionSplit is a split of the manifest.
type sessionSplit struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
}

// reading describes how the manifest was read.
type reading struct {
	Form     string   `json:"form"`     // format, such as "class folders"; "": a table
	Lines    []string `json:"lines"`    // notes for the user, such as the files left out
	Labelled int      `json:"labelled"` // number of images with a label
}

func (r *Reviewer) newSession() session {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	t := r.table
	s := session{
		Title: r.Title, Audit: r.AuditFile, Sum: t.sum, Manifest: r.ManifestFile.String(), Out: r.Out,
		Drawn: t.drawn, Total: t.audited, Images: len(t.images), Home: Suspects, Splits: t.splits, Missing: r.Missing,
		Reading: reading{Lines: []string{}}, Findings: map[string]int{}, Kinds: map[string]int{}, Reviewer: r.Reviewer,
		Notice: r.Notice, Train: r.Train, Similar: r.Finder != nil, Learns: r.learning.isLearning(),
		progress: *r.decided.progress, Classes: []sessionClass{},
	}
	if t.audited == 0 {
		s.Home = Data
	}
	if how := r.Manifest.Reading; how != nil {
		s.Reading.Lines = append(s.Reading.Lines, how.Lines()...)
		if how.Form != "table" {
			s.Reading.Form = how.Form
		}
	}
	for _, kind := range findingKinds {
		s.Findings[kind] = len(t.findings[kind])
	}
	for _, kind := range kindNames {
		s.Kinds[kind] = t.kinds[kind]
	}
	if r.Finder != nil {
		if err := r.Finder.Uploads(); err != nil {
			s.NoUpload = noUploads(err)
		}
	}
	images, flagged := map[string]int{}, map[string]int{}
	if rest := t.images[t.audited:]; t.audited > 0 && len(rest) > 0 {
		s.Reading.Lines = append(s.Reading.Lines, fmt.Sprintf("not audited, because unreadable, added since, or in "+
			"another split: %s, the first is %s", text.Plural(len(rest), "image"), rest[0].Path))
	}
	for i := range t.images {
		e := &t.images[i]
		if images[e.Given]++; e.isOfKind(suspect) {
			flagged[e.Given]++
		}
	}
	s.Reading.Labelled = len(t.images) - images[""]
	for _, c := range r.decided.progress.Classes {
		s.Classes = append(s.Classes, sessionClass{c.Name, r.Names[c.Name], images[c.Name], flagged[c.Name], c.Decided})
	}
	return s
}

// confused counts the suspects with a given and a suggested label, as JSON.
type confused struct {
	Given     string `json:"given"`
	Suggested string `json:"suggested"`
	Suspects  int    `json:"suspects"`
	Decided   int    `json:"decided"`
	Accepted  int    `json:"accepted"`
}

// listConfusions returns the pairs of given and suggested label, most suspects first.
func (r *Reviewer) listConfusions(most int) []confused {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	pairs := map[[2]string]*confused{}
	list := []*confused{}
	for id := range r.table.images {
		e, o := &r.table.images[id], r.decided.outcome[id]
		if !e.Flagged || e.Given == e.Suggested {
			continue
		}
		p := pairs[[2]string{e.Given, e.Suggested}]
		if p == nil {
			p = &confused{Given: e.Given, Suggested: e.Suggested}
			pairs[[2]string{e.Given, e.Suggested}], list = p, append(list, p)
		}
		if p.Suspects++; o.Action != undecided {
			p.Decided++
		}
		if o == (outcome{decisions.Relabel, e.Suggested}) {
			p.Accepted++
		}
	}
	slices.SortFunc(list, func(a, b *confused) int {
		return cmp.Or(b.Suspects-a.Suspects, cmp.Compare(a.Given, b.Given), cmp.Compare(a.Suggested, b.Suggested))
	})
	out := []confused{}
	for _, p := range list[:min(most, len(list))] {
		out = append(out, *p)
	}
	return out
}
