package review

import (
	"math"
	"strconv"
)

// pic is an image to show.
type pic struct {
	Key   string `json:"key"`
	Path  string `json:"path"`
	Label string `json:"label"`
}

// row is an image of the audit.
type row struct {
	ID             int32    `json:"id"`
	Key            string   `json:"key"`
	Rank           int32    `json:"rank"`
	Path           string   `json:"path"`
	Given          string   `json:"given"`
	Suggested      string   `json:"suggested"`
	Score          *float64 `json:"score"` // null: not judged
	SuggestedScore *float64 `json:"suggested_score"`
	Probable       bool     `json:"score_is_probability"`
	ProbableToo    bool     `json:"suggested_score_is_probability"`
	Unjudged       bool     `json:"unjudged"`
	Kinds          []string `json:"kinds"`
	Fit            *float64 `json:"fit"`
	ForGiven       []pic    `json:"given_neighbours"`
	ForSuggested   []pic    `json:"suggested_neighbours"`
	Copies         []pic    `json:"copies"`
	Group          []pic    `json:"group"`    // the other copies of its picture
	Problems       []string `json:"problems"` // of the picture, each with the reason
	Split          string   `json:"split"`
	Audited        bool     `json:"audited"` // it is in the audit
	Verdict        string   `json:"verdict"` // of copies with different labels: right, wrong or look
	Why            *why     `json:"why"`     // it is shown; null: the reviewer chose it
	seen
}

// state is an image's decisions after a change, as JSON.
type state struct {
	ID int32 `json:"id"`
	seen
}

// keyOf returns an image's key in addresses.
func keyOf(image int32) string { return strconv.Itoa(int(image)) }

// imageOf returns the image with this key, or none.
func (t *table) imageOf(key string) int32 {
	v, err := strconv.ParseUint(key, 10, 31)
	if err != nil || v >= uint64(len(t.manifest.Samples)) || keyOf(int32(v)) != key {
		return none
	}
	return int32(v)
}

func (t *table) newPic(image int32) pic {
	return pic{keyOf(image), t.getImagePath(image), t.nameGivenLabel(image)}
}

func (t *table) newPics(images []int32) []pic {
	list := make([]pic, len(images))
	for i, image := range images {
		list[i] = t.newPic(image)
	}
	return list
}

// newRowWithReason returns the row of an id as a reviewer sees it, with the reason why it is shown.
func (r *Reviewer) newRowWithReason(id, reviewer int32) row {
	at := r.decided.newRowFor(id, reviewer)
	at.Why = r.explainWhyShown(id)
	return at
}

// newRowFor returns the row of an id as a reviewer sees it.
func (d *decided) newRowFor(id, reviewer int32) row {
	t := d.table
	e := &t.all[id]
	given, suggested, copies := t.listNeighbours(e)
	r := row{
		ID: id, Key: keyOf(e.image), Rank: e.rank, Path: t.getImagePath(e.image),
		Given: t.nameClassOrNone(e.given), Suggested: t.nameClassOrNone(e.suggested),
		Score: numberOrNil(e.score), SuggestedScore: numberOrNil(e.better),
		Split: t.splits[t.split[id]], Audited: int(id) < len(t.list), Verdict: string(t.verdicts[e.image]),
		Probable: e.said&ofGiven != 0, ProbableToo: e.said&ofSuggested != 0,
		Unjudged: e.said&unjudged != 0, Kinds: []string{}, Fit: numberOrNil(e.fit),
		ForGiven: t.newPics(given), ForSuggested: t.newPics(suggested), Copies: t.newPics(copies),
		seen: d.listDecisionsFor(e.image, reviewer),
	}
	r.Group, r.Problems = []pic{}, []string{}
	group := t.groups[t.groupOf[e.image]]
	for _, image := range group[:min(mostNear, len(group))] {
		if image != e.image {
			r.Group = append(r.Group, t.newPic(image))
		}
	}
	for _, p := range t.problems[e.image] {
		r.Problems = append(r.Problems, p.Kind+": "+p.Why)
	}
	for _, k := range kindNames {
		if e.kinds&k.kind != 0 {
			r.Kinds = append(r.Kinds, k.name)
		}
	}
	return r
}

// numberOrNil returns a pointer to v, or nil for NaN, which JSON does not have.
func numberOrNil(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// listStatesFor returns the states of images as a reviewer sees them.
func (d *decided) listStatesFor(images []int32, reviewer int32) []state {
	list := []state{}
	for _, image := range images {
		list = append(list, state{d.table.place[image], d.listDecisionsFor(image, reviewer)})
	}
	return list
}

// findTypical returns n images that are typical of a class: first the least suspect images of the audit that are
// not suspects, then images that the audit does not list (some lists hold only suspects), then suspects. Images
// found wrong are left out.
func (d *decided) findTypical(class int32, n int) []pic {
	t, list, ids := d.table, []pic{}, d.table.listIDsOfClass(class, false)
	take := func(image int32) {
		if action := d.action[image]; len(list) < n && action != drop && action != relabel {
			list = append(list, t.newPic(image))
		}
	}
	doubtful := func(id int32) bool { return t.list[id].kinds&suspect != 0 && d.action[t.list[id].image] != keep }
	for i := len(ids) - 1; i >= 0 && len(list) < n; i-- {
		if !doubtful(ids[i]) {
			take(t.list[ids[i]].image)
		}
	}
	for image := 0; image < len(t.id) && len(list) < n && len(t.list) < len(t.id); image++ {
		if t.id[image] == none && t.manifest.Samples[image].Label == int(class) {
			take(int32(image))
		}
	}
	for i := len(ids) - 1; i >= 0 && len(list) < n; i-- {
		if doubtful(ids[i]) {
			take(t.list[ids[i]].image)
		}
	}
	return list
}
