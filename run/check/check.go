// Package check tests the labels of images, as a linter tests code: it turns the findings of an audit
// ([inspect.Report]) into a list of single findings, leaves out those that a baseline knows or that no change since an
// earlier version concerns, decides which of them fail, and writes the list in the formats of CI systems ([Formats]).
package check

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/inspect"
)

// The checks.
const (
	unreadable = "unreadable"
	listed     = "listed-twice"
	duplicate  = "duplicate"
	leak       = "leak"
	outlier    = "outlier"
	labelError = "label-error"
	wrong      = "wrong"
)

// Finding is one problem of one image, or of images that belong together. Labels and Splits are those of Paths; an
// image that is listed twice has the labels of both rows.
type Finding struct {
	Check       string   `json:"check"`
	Paths       []string `json:"paths"`
	Labels      []string `json:"labels,omitempty"`
	Splits      []string `json:"splits,omitempty"`
	Suggested   string   `json:"suggested_label,omitempty"`
	Probability *float64 `json:"probability_wrong,omitempty"`
	Message     string   `json:"message"`
	Fails       bool     `json:"fails"`
	// File is the manifest, with Line, the row's line in a table; without a manifest, File is the image.
	File        string `json:"file"`
	Line        int    `json:"line,omitempty"`
	Fingerprint string `json:"fingerprint"` // of the check, the paths and their labels or splits
}

// Result holds the new findings. Known, Untouched and Gone count findings that are not listed: those in the baseline,
// those that no change concerns, and those that are in the baseline but no longer found.
type Result struct {
	Source    string             `json:"source"`
	Images    int                `json:"images"`
	Failed    int                `json:"failed"`
	Findings  []Finding          `json:"findings"`
	Known     int                `json:"known"`
	Untouched int                `json:"untouched"`
	Gone      int                `json:"gone"`
	Changes   *datasets.Changes  `json:"changes,omitempty"`
	Still     *inspect.Remaining `json:"still_wrong,omitempty"`
	Notes     []string           `json:"notes,omitempty"`

	names func(label string) string
	all   []Finding      // also the findings that are not new
	rows  map[string]int // first row of each path
	place func(path string, row int) (file string, line int)
}

// List lists all findings of an audit. place returns the file and the line of an image, by its path and its row in the
// source; line 0 means none.
func List(a *inspect.Report, gate Gate, place func(path string, row int) (file string, line int)) (*Result, error) {
	d := a.Dataset()
	r := &Result{Source: a.Source().String(), Images: len(d.Samples), Findings: []Finding{}, names: a.Names.Of,
		place: place}
	r.rows = map[string]int{}
	for _, s := range slices.Backward(d.Samples) {
		r.rows[s.Path] = s.Row
	}
	add := func(f Finding) {
		f.File, f.Line = place(f.Paths[0], r.rows[f.Paths[0]])
		r.addFinding(f, gate)
	}
	for _, left := range a.LeftOut {
		add(Finding{Check: unreadable, Paths: []string{left.Path}, Labels: []string{""},
			Message: left.Path + ": " + left.Reason})
	}
	for _, again := range d.Repeats {
		s := d.Samples[again.Of]
		given, other := d.LabelName(s), d.LabelName(again.Sample)
		f := Finding{Check: listed, Paths: []string{s.Path}, Labels: []string{given, other},
			Message: fmt.Sprintf("%s: listed twice, as %s", s.Path, r.names(given))}
		if given != other {
			f.Check = duplicate
			f.Message = fmt.Sprintf("%s: listed as %s and as %s", s.Path, r.names(given), r.names(other))
		}
		f.File, f.Line = place(s.Path, again.Sample.Row)
		r.addFinding(f, gate)
	}
	for _, group := range a.Groups {
		r.addGroup(group, add)
	}
	for _, e := range a.Images {
		if e.Outlier {
			add(Finding{Check: outlier, Paths: []string{e.Path}, Labels: []string{e.Given},
				Message: fmt.Sprintf("%s (%s): fits no class", e.Path, r.names(e.Given))})
		}
		r.addLabelError(e, a.Blind, gate, add)
	}
	if a.Blind {
		r.Notes = append(r.Notes, "No label was scored: the features do not separate the classes better than chance.")
	}
	if err := r.addRemaining(a, gate); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(Names(), x.Check), slices.Index(Names(), y.Check)),
			cmp.Compare(y.chance(), x.chance()))
	})
	r.all = r.Findings
	return r, nil
}

// chance returns the probability that the label is wrong, 0 if unknown.
func (f *Finding) chance() float64 {
	if f.Probability == nil {
		return 0
	}
	return *f.Probability
}

// addFinding completes a finding and adds it.
func (r *Result) addFinding(f Finding, gate Gate) {
	least, fails := gate[f.Check]
	f.Fails = fails && (f.Check != labelError || f.chance() >= least)
	var parts []string
	for i, path := range f.Paths {
		switch f.Check {
		case leak:
			path += "\x00" + f.Splits[i]
		case duplicate, labelError:
			path += "\x00" + f.Labels[i]
		}
		parts = append(parts, path)
	}
	if len(f.Labels) > len(f.Paths) { // listed twice
		parts = append(parts, f.Labels...)
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(f.Check + "\x00\x00" + strings.Join(parts, "\x00\x00")))
	f.Fingerprint = hex.EncodeToString(sum[:16])
	r.Findings = append(r.Findings, f)
}

// addGroup adds the findings of a group of duplicates.
func (r *Result) addGroup(group datasets.Duplicates, add func(Finding)) {
	describe := func(what []string) string {
		parts := make([]string, 0, 3)
		for i, path := range text.First(group.Paths, 3) {
			parts = append(parts, fmt.Sprintf("%s (%s)", path, what[i]))
		}
		if n := len(group.Paths) - len(parts); n > 0 {
			parts = append(parts, fmt.Sprintf("%d more", n))
		}
		return strings.Join(parts, ", ")
	}
	f := Finding{Paths: group.Paths, Labels: group.Labels, Splits: group.Splits}
	if group.LabelsVary {
		labels := make([]string, len(group.Labels))
		for i, label := range group.Labels {
			labels[i] = r.names(label)
		}
		f.Check, f.Message = duplicate, "one image under two labels: "+describe(labels)
		add(f)
	}
	if group.Leak {
		f.Check, f.Message = leak, "one image in two splits: "+describe(group.Splits)
		add(f)
	}
}

// addLabelError adds a label that is flagged, that people found wrong, or that the gate refuses.
func (r *Result) addLabelError(e suspects.Suspect, blind bool, gate Gate, add func(Finding)) {
	p := 1.0
	if e.Checked != suspects.Wrong {
		if blind || e.Unjudged || e.Checked != "" || e.GivenProbability == nil {
			return
		}
		p = 1 - *e.GivenProbability
	}
	if least, gated := gate[labelError]; !e.Flagged && e.Checked == "" && !(gated && least > 0 && p >= least) {
		return
	}
	f := Finding{Check: labelError, Paths: []string{e.Path}, Labels: []string{e.Given}, Probability: &p}
	why := "is wrong with a probability of " + text.Chance(p)
	if e.Checked != "" {
		why = "was found wrong by people"
	}
	f.Message = fmt.Sprintf("%s: the label %s %s", e.Path, r.names(e.Given), why)
	if e.Suggested != e.Given {
		f.Suggested = e.Suggested
		f.Message += ", suggested: " + r.names(e.Suggested)
	}
	add(f)
}

// addRemaining adds the number of labels that are still wrong, and a finding if it exceeds the gate's limit with a
// confidence of 95 %.
func (r *Result) addRemaining(a *inspect.Report, gate Gate) error {
	most, gated := gate[wrong]
	if a.Checked == nil || a.Checked.Random == nil {
		if gated {
			return hint.With(fmt.Errorf("check: wrong: found no decisions about %d images drawn at random, expected "+
				"them in the file of decisions", inspect.Checked), "check them with winnow studio --check, and give "+
				"the file with %s", "--decisions")
		}
		return nil
	}
	s := a.Checked.Random.Still
	r.Still = &s
	low, high := float64(s.Low)/float64(s.Labels), float64(s.High)/float64(s.Labels)
	switch {
	case !gated:
	case low > most:
		f := Finding{Check: wrong, Paths: []string{}, Message: r.describeRemaining() + ", more than " +
			text.Percent(most)}
		f.File, _ = r.place("", -1)
		r.addFinding(f, gate)
	case high > most:
		r.Notes = append(r.Notes, fmt.Sprintf("It is open whether more than %s of the labels are wrong: the interval "+
			"reaches %s.", text.Percent(most), text.Percent(high)))
	}
	return nil
}

func (r *Result) describeRemaining() string {
	return fmt.Sprintf("Of %d labels, %d to %d are still wrong (95 %% confidence)", r.Still.Labels, r.Still.Low,
		r.Still.High)
}

// Since keeps the findings about images that changed since an earlier version of the dataset. Their places become those
// of changed images.
func (r *Result) Since(old, now *datasets.Dataset) {
	r.Changes = datasets.CompareVersions(old, now)
	touched := r.Changes.Touched()
	changed := func(path string) bool { return touched[path] }
	r.Untouched = r.keepFindings(func(f Finding) bool {
		return f.Check == wrong || slices.ContainsFunc(f.Paths, changed)
	})
	for i := range r.Findings {
		f := &r.Findings[i]
		if at := slices.IndexFunc(f.Paths, changed); at > 0 {
			f.File, f.Line = r.place(f.Paths[at], r.rows[f.Paths[at]])
		}
	}
}

// keepFindings keeps some findings and returns the number of the others.
func (r *Result) keepFindings(keep func(Finding) bool) (left int) {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return !keep(f) })
	return before - len(r.Findings)
}
