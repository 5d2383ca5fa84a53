package review

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
)

// findingKinds are the kinds of findings other than suspects: duplicates, duplicates in different splits, outliers, and
// image files with problems.
var findingKinds = []string{"copies", "leaks", "outliers", "problems"}

// finding is a group of images that the page shows together.
type finding struct {
	ids []int
	why string // duplicates: contradicting or agreeing; problems: the kind of problem
}

// Values of finding.why for duplicates: their labels differ, or are the same.
const (
	contradicting = "contradict"
	agreeing      = "agree"
)

// groupMost is the maximum size of a group of outliers or problems; larger groups are split.
const groupMost = 24

// gatherFindings groups the findings of the audit. Duplicates with different labels are first, and outliers are sorted
// by how badly they fit, the worst first.
func (t *table) gatherFindings() {
	t.findings = map[string][]finding{}
	for _, n := range slices.Sorted(maps.Keys(t.groups)) {
		ids := t.groups[n]
		if len(ids) < 2 {
			continue
		}
		f, first, leaks := finding{ids, agreeing}, &t.images[ids[0]], false
		for _, id := range ids {
			if t.images[id].Given != first.Given {
				f.why = contradicting
			}
			leaks = leaks || t.images[id].split != first.split
		}
		t.findings["copies"] = append(t.findings["copies"], f)
		if leaks {
			t.findings["leaks"] = append(t.findings["leaks"], f)
		}
	}
	var outliers []int
	problems := map[string][]int{}
	for id := range t.images {
		e := &t.images[id]
		if e.Outlier {
			outliers = append(outliers, id)
		}
		for _, p := range e.Problems {
			if list := problems[p.Kind]; len(list) == 0 || list[len(list)-1] != id {
				problems[p.Kind] = append(list, id)
			}
		}
	}
	for _, id := range t.place {
		if s := t.images[id].split; strings.Contains(s, splitsJoined) &&
			(strings.Contains(s, datasets.Train) || strings.Contains(s, datasets.Test)) {
			t.findings["leaks"] = append(t.findings["leaks"], finding{[]int{id}, agreeing})
		}
	}
	for _, kind := range []string{"copies", "leaks"} {
		slices.SortStableFunc(t.findings[kind], func(a, b finding) int { return -cmp.Compare(a.why, b.why) })
	}
	fit := func(id int) float64 {
		if v := numberOrNil(t.images[id].Fit); v != nil {
			return *v
		}
		return 0
	}
	slices.SortStableFunc(outliers, func(a, b int) int { return cmp.Compare(fit(a), fit(b)) })
	for part := range slices.Chunk(outliers, groupMost) {
		t.findings["outliers"] = append(t.findings["outliers"], finding{part, ""})
	}
	for _, kind := range slices.Sorted(maps.Keys(problems)) {
		for part := range slices.Chunk(problems[kind], groupMost) {
			t.findings["problems"] = append(t.findings["problems"], finding{part, kind})
		}
	}
}

// mostGroups is the maximum number of groups per page.
const mostGroups = 100

// foundGroup is a group of findings, as JSON.
type foundGroup struct {
	Why    string `json:"why"`
	Images int    `json:"images"` // number of images in the group
	Rows   []row  `json:"rows"`   // the first ones
	Likely string `json:"likely"` // duplicates with different labels: the likeliest label by the audit; "": not known
}

// getFindings returns a page of groups of findings.
func (r *Reviewer) getFindings(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	kind, reviewer := p.getOneOf("kind", findingKinds), p.getReviewer()
	offset, limit := p.getNumber("offset", 0, 0, 1<<30), p.getNumber("limit", 12, 0, mostGroups)
	if kind == "" {
		p.failWith("kind: is missing, expected one of %s", strings.Join(findingKinds, ", "))
	}
	if err := p.getFirstFailure(); err != nil {
		return nil, err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	list, page := r.table.findings[kind], []foundGroup{}
	for _, f := range list[min(offset, len(list)):min(offset+limit, len(list))] {
		g := foundGroup{Why: f.why, Images: len(f.ids), Rows: []row{}}
		for _, id := range f.ids[:min(mostNear, len(f.ids))] {
			g.Rows = append(g.Rows, r.decided.newRow(id, reviewer))
			if e := &r.table.images[id]; e.CopyVerdict == suspects.Kept {
				g.Likely = e.Given
			}
		}
		page = append(page, g)
	}
	return map[string]any{"total": len(list), "offset": offset, "groups": page}, nil
}
