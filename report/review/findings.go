package review

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
)

// findingKinds are what an audit finds besides suspects: copies of a picture, copies in different splits, images that
// fit no class, pictures with problems.
var findingKinds = []string{"copies", "leaks", "outliers", "problems"}

// finding is a group of images that one decision may be about.
type finding struct {
	images []int32
	why    string // of copies: their labels contradict, or agree; of problems: the problem
}

// What finding.why says of copies.
const (
	contradicting = "contradict"
	agreeing      = "agree"
)

// groupMost is the largest number of images of a group that is not a group of copies: more are divided.
const groupMost = 24

// gatherFindings groups the findings of the audit. Copies whose labels contradict each other come first; outliers begin
// with the farthest.
func (t *table) gatherFindings() {
	t.findings = map[string][]finding{}
	numbers := make([]int, 0, len(t.groups))
	for n, images := range t.groups {
		if len(images) > 1 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		f := finding{images: slices.Clone(t.groups[n]), why: agreeing}
		slices.SortFunc(f.images, func(a, b int32) int { return cmp.Compare(t.place[a], t.place[b]) })
		first := &t.all[t.place[f.images[0]]]
		leaks := false
		for _, image := range f.images {
			e := &t.all[t.place[image]]
			if e.given != first.given {
				f.why = contradicting
			}
			leaks = leaks || t.split[t.place[image]] != t.split[t.place[f.images[0]]]
		}
		t.findings["copies"] = append(t.findings["copies"], f)
		if leaks {
			t.findings["leaks"] = append(t.findings["leaks"], f)
		}
	}
	for _, image := range slices.Sorted(maps.Keys(t.joined)) {
		if s := t.joined[image]; strings.Contains(s, datasets.Train) || strings.Contains(s, datasets.Test) {
			t.findings["leaks"] = append(t.findings["leaks"], finding{[]int32{image}, agreeing})
		}
	}
	for _, kind := range []string{"copies", "leaks"} {
		slices.SortStableFunc(t.findings[kind], func(a, b finding) int { return -cmp.Compare(a.why, b.why) })
	}
	var outliers []int32
	problems := map[string][]int32{}
	for id := range t.list {
		e := &t.list[id]
		if e.kinds&outlier != 0 {
			outliers = append(outliers, e.image)
		}
		for _, p := range t.problems[e.image] {
			if list := problems[p.Kind]; len(list) == 0 || list[len(list)-1] != e.image {
				problems[p.Kind] = append(list, e.image)
			}
		}
	}
	fit := func(image int32) float64 {
		if v := t.all[t.place[image]].fit; !math.IsNaN(v) {
			return v
		}
		return 0
	}
	slices.SortStableFunc(outliers, func(a, b int32) int { return cmp.Compare(fit(a), fit(b)) })
	divide := func(kind, why string, images []int32) {
		for part := range slices.Chunk(images, groupMost) {
			t.findings[kind] = append(t.findings[kind], finding{part, why})
		}
	}
	divide("outliers", "", outliers)
	kinds := make([]string, 0, len(problems))
	for kind := range problems {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		divide("problems", kind, problems[kind])
	}
}

// mostGroups is the largest number of groups of a page.
const mostGroups = 100

// foundGroup is a group of findings, as JSON.
type foundGroup struct {
	Why    string `json:"why"`
	Images int    `json:"images"` // in all
	Rows   []row  `json:"rows"`   // the first ones
	Likely string `json:"likely"` // the label of contradicting copies that is likelier by the audit; "": none is
}

// getFindings returns a page of groups of findings.
func (r *Reviewer) getFindings(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	kind, reviewer := p.getValue("kind"), p.getReviewer()
	offset, limit := p.getNumber("offset", 0, 0, 1<<30), p.getNumber("limit", 12, 0, mostGroups)
	if !slices.Contains(findingKinds, kind) {
		p.failWith("kind: found %.40q, expected copies, leaks, outliers or problems", kind)
	}
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	t, who := r.table, r.decided.numberOf(reviewer)
	list := t.findings[kind]
	page := []foundGroup{}
	for _, f := range list[min(offset, len(list)):min(offset+limit, len(list))] {
		g := foundGroup{Why: f.why, Images: len(f.images), Rows: []row{}}
		for _, image := range f.images[:min(mostNear, len(f.images))] {
			g.Rows = append(g.Rows, r.newRowWithReason(t.place[image], who))
			if t.verdicts[image] == suspects.Kept {
				g.Likely = t.nameGivenLabel(image)
			}
		}
		page = append(page, g)
	}
	return map[string]any{"total": len(list), "offset": offset, "groups": page}, nil
}
