package review

import "math"

// pic is an image shown on the page, as JSON.
type pic struct {
	Key   string `json:"key"`
	Path  string `json:"path"`
	Label string `json:"label"`
}

// row is an image of the manifest with its audit and its decisions as a reviewer sees them, as JSON.
type row struct {
	ID             int      `json:"id"`
	Key            string   `json:"key"`
	Rank           int      `json:"rank"`
	Path           string   `json:"path"`
	Given          string   `json:"given"`
	Suggested      string   `json:"suggested"`
	Score          *float64 `json:"score"` // null: not scored
	SuggestedScore *float64 `json:"suggested_score"`
	Probable       bool     `json:"score_is_probability"`
	ProbableToo    bool     `json:"suggested_score_is_probability"`
	Unjudged       bool     `json:"unjudged"`
	Kinds          []string `json:"kinds"`
	Fit            *float64 `json:"fit"`
	ForGiven       []pic    `json:"given_neighbours"`
	ForSuggested   []pic    `json:"suggested_neighbours"`
	Copies         []pic    `json:"copies"`
	Group          []pic    `json:"group"`    // the other duplicates of the image
	Problems       []string `json:"problems"` // problems of the image file, with explanations
	Split          string   `json:"split"`
	Audited        bool     `json:"audited"` // the image is in the audit
	Verdict        string   `json:"verdict"` // verdict on duplicates with different labels: right, wrong or look
	seen
}

// mostNear is the maximum number of images in each list of a row.
const mostNear = 64

func (t *table) newPic(id int) pic { e := &t.images[id]; return pic{e.key(), e.Path, e.Given} }

// newRow returns the row of an image as a reviewer sees it. Lists leave out images that are not in the manifest,
// because the page cannot show them.
func (d *decided) newRow(id int, reviewer string) row {
	t := d.table
	e := &t.images[id]
	r := row{
		ID: id, Key: e.key(), Rank: e.Rank, Path: e.Path, Given: e.Given, Suggested: e.Suggested, Split: e.split,
		Audited: e.audited, Verdict: string(e.CopyVerdict), Probable: e.GivenProbability != nil,
		ProbableToo: e.SuggestedProbability != nil, Unjudged: e.Unjudged, Kinds: []string{}, ForGiven: []pic{},
		ForSuggested: []pic{}, Copies: []pic{}, Group: []pic{}, Problems: []string{},
		seen: d.listDecisionsFor(id, reviewer),
	}
	if e.audited {
		r.Score, r.SuggestedScore, r.Fit = numberOrNil(&e.Score), numberOrNil(e.SuggestedScore), numberOrNil(e.Fit)
	}
	add := func(list *[]pic, path string) {
		if at, ok := t.id[path]; ok && at != id && len(*list) < mostNear {
			*list = append(*list, t.newPic(at))
		}
	}
	for _, n := range e.SupportGiven {
		add(&r.ForGiven, n.Path)
	}
	for _, n := range e.SupportSuggested {
		add(&r.ForSuggested, n.Path)
	}
	for _, c := range e.Copies {
		add(&r.Copies, c.Path)
	}
	for _, other := range t.groups[e.CopyGroup] {
		add(&r.Group, t.images[other].Path)
	}
	for _, p := range e.Problems {
		r.Problems = append(r.Problems, p.Kind+": "+p.Why)
	}
	for _, kind := range kindNames {
		if e.isOfKind(kind) {
			r.Kinds = append(r.Kinds, kind)
		}
	}
	return r
}

// numberOrNil returns v, or nil for NaN, which JSON cannot represent.
func numberOrNil(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) {
		return nil
	}
	return v
}

// findTypical returns up to n images that are typical of a class: first audited images that are not flagged, then
// images that are not in the audit (some lists contain only suspects), then suspects; each time the least suspect
// first. It leaves out images whose label was decided to be wrong.
func (d *decided) findTypical(class string, n int) []pic {
	t, lists := d.table, [3][]pic{}
	for _, id := range t.orders["least"]() {
		e, action := &t.images[id], d.outcome[id].Action
		if e.Given != class || isWrong(action) {
			continue
		}
		at := 0
		switch {
		case !e.audited:
			at = 1
		case e.Flagged && action != keep:
			at = 2
		}
		if len(lists[at]) < n {
			lists[at] = append(lists[at], t.newPic(id))
		}
	}
	list := append(append(append([]pic{}, lists[0]...), lists[1]...), lists[2]...)
	return list[:min(n, len(list))]
}
