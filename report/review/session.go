package review

import (
	"cmp"
	"slices"
)

// session is the answer to the page's first request.
type session struct {
	Title     string         `json:"title"`
	Audit     string         `json:"audit"`
	Sum       string         `json:"sum"` // distinguishes audits; the page sends it with decisions
	Manifest  string         `json:"manifest"`
	Out       string         `json:"out"`    // "": the corrected manifest can only be downloaded
	Total     int            `json:"total"`  // images of the audit
	Images    int            `json:"images"` // of the manifest
	Home      View           `json:"home"`
	Splits    []sessionSplit `json:"splits"`
	Reading   reading        `json:"reading"`
	Missing   Missing        `json:"missing"`
	Findings  map[string]int `json:"findings"` // groups of each kind of finding
	Classes   []sessionClass `json:"classes"`
	Kinds     map[string]int `json:"kinds"`
	Drawn     bool           `json:"drawn"`  // suspects are images drawn at random
	Counts    map[string]int `json:"counts"` // of the audit's images
	Whole     map[string]int `json:"whole"`  // of all images
	Precision precision      `json:"precision"`
	Hint      string         `json:"hint"`
	Similar   bool           `json:"similar"`
	Tags      []tagCount     `json:"tags"`
	NoUpload  string         `json:"no_upload"` // why files cannot be searched for; "": they can
	Version   int64          `json:"version"`
	Reviewer  string         `json:"reviewer"` // the name that the page suggests
	Reviewers []progressOf   `json:"reviewers"`
	Notice    string         `json:"notice"`
	Learned   *learned       `json:"learned"`   // null: the list has one order
	HowLearn  string         `json:"how_learn"` // how to learn, if the review does not; "": it does
	Next      []string       `json:"next"`      // commands that go on with the decisions

	Report  bool            `json:"report"`  // a report lies beside the manifest
	Exports map[Form]string `json:"exports"` // commands that export the decisions

	HasTruth bool    `json:"has_truth"` // always false: reviewers must not see the true labels
	Studio   *studio `json:"studio"`    // how to set up Label Studio for tasks
}

// sessionClass is a class of the manifest.
type sessionClass struct {
	Name     string `json:"name"`
	Called   string `json:"called"` // the name shown on the page; "": Name
	Images   int32  `json:"images"`
	Suspects int32  `json:"suspects"`
	Decided  int32  `json:"decided"` // number of decided suspects
}

// sessionSplit is a split of the manifest.
type sessionSplit struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
}

// reading says how the manifest was read.
type reading struct {
	Form     string   `json:"form"`     // such as "class folders"; "": a table
	Lines    []string `json:"lines"`    // what needs attention: what was left out, and why
	Labelled int      `json:"labelled"` // images with a label
}

func (t *table) newReading() reading {
	said := reading{Lines: []string{}, Labelled: t.labels}
	if how := t.manifest.Reading; how != nil {
		said.Lines = append(said.Lines, how.Lines()...)
		if how.Form != "table" {
			said.Form = how.Form
		}
	}
	return said
}

func (r *Reviewer) newSession() session {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	t, d := r.table, r.decided
	now := r.reportLearned(nil)
	s := session{
		Title: r.Title, Audit: r.AuditFile, Sum: t.sum, Manifest: r.ManifestFile.String(), Out: r.Out,
		Drawn: t.drawn, Total: len(t.list), Classes: []sessionClass{}, Kinds: map[string]int{},
		Images: len(t.all), Home: r.Home, Splits: []sessionSplit{}, Reading: t.newReading(), Missing: r.Missing,
		Report:   r.Report != "",
		Findings: map[string]int{},
		Counts:   now.Counts, Whole: now.Whole, Precision: now.Precision, Hint: now.Hint, Version: now.Version,
		Reviewer: r.Reviewer, Notice: r.Notice, Reviewers: now.Reviewers, Learned: now.Learned, Next: r.Next,
		Similar: r.Finder != nil, Tags: now.Tags,
	}
	for i, name := range t.splits {
		s.Splits = append(s.Splits, sessionSplit{name, t.sizes[i]})
	}
	for _, kind := range findingKinds {
		s.Findings[kind] = len(t.findings[kind])
	}
	if r.learning == nil {
		s.HowLearn = r.Learn.Hint
	}
	if r.Finder != nil {
		if err := r.Finder.Uploads(); err != nil {
			s.NoUpload = noUploads(err)
		}
	}
	s.Studio, s.Exports = r.newStudioSetup(), r.Exports
	for _, k := range kindNames {
		s.Kinds[k.name] = t.byKind[k.name]
	}
	for class, name := range t.classes {
		c := sessionClass{Name: name, Called: r.Names[name]}
		if class < len(t.images) {
			c.Images, c.Suspects, c.Decided = t.images[class], t.members[class], d.classes[class]
		}
		s.Classes = append(s.Classes, c)
	}
	return s
}

// confused is a pair of labels that are confused, as JSON.
type confused struct {
	Given     string `json:"given"`
	Suggested string `json:"suggested"`
	Suspects  int32  `json:"suspects"`
	Decided   int32  `json:"decided"`
	Accepted  int32  `json:"accepted"`
}

// listConfusions returns the pairs of given and suggested label with the most suspects.
func (r *Reviewer) listConfusions(most int) []confused {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	t, d := r.table, r.decided
	order := make([]int, len(t.pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := t.pairs[a], t.pairs[b]
		return cmp.Or(cmp.Compare(q.suspects, p.suspects),
			cmp.Compare(t.classes[p.given], t.classes[q.given]),
			cmp.Compare(t.classes[p.suggested], t.classes[q.suggested]))
	})
	list := []confused{}
	for _, i := range order[:min(most, len(order))] {
		p := t.pairs[i]
		list = append(list, confused{
			t.classes[p.given], t.classes[p.suggested], p.suspects, d.pairs[i].decided, d.pairs[i].accepted,
		})
	}
	return list
}
