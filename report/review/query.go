package review

import (
	"fmt"
	"iter"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"winnow/report/review/decisions"
)

// Limits of one request.
const (
	mostRows      = 200
	mostTypical   = 64
	mostSimilar   = 200
	mostCentre    = 1000
	mostDecisions = 2000
	mostChanges   = 1000
	mostHistory   = 500
	mostPairs     = 1000
)

// query selects images of the audit.
type query struct {
	all           bool  // of all images of the manifest, also of those that the audit does not have
	class, to     int32 // none: any
	split         int   // position in the table's splits; none: any
	kind          kind  // 0: any
	below, above  float64
	eyes          int32 // the reviewer who asks
	by            int32 // the reviewer whose decisions state means; none: the outcome of all
	decided       bool  // state=decided: any action
	action        uint8
	any           bool // state=all
	differ, noted bool
	text          string
	tagged        []bool // by image: has the tag that is asked for; nil: any
	within        *lasso // nil: anywhere
	sort          string // one of sorts
	offset, limit int
}

// parameters reads the values of a request, each at most once, and keeps the first error.
type parameters struct {
	values url.Values
	known  []string
	err    error
}

func (p *parameters) getValue(name string) string {
	p.known = append(p.known, name)
	v := p.values[name]
	if len(v) > 1 {
		p.failWith("%s: found %d values, expected one", name, len(v))
	}
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

func (p *parameters) failWith(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// getNumber returns a whole number from least to most.
func (p *parameters) getNumber(name string, otherwise, least, most int) int {
	text := p.getValue(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < least || v > most {
		p.failWith("%s: found %.40q, expected a whole number from %d to %d", name, text, least, most)
	}
	return v
}

// getScore returns a bound of the score.
func (p *parameters) getScore(name string, otherwise float64) float64 {
	text := p.getValue(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		p.failWith("%s: found %.40q, expected a number", name, text)
	}
	return v
}

// getClass returns the class with this name.
func (p *parameters) getClass(name string, t *table) int32 {
	text := p.getValue(name)
	if text == "" {
		return none
	}
	c, ok := t.classOf[text]
	if !ok {
		p.failWith("%s: no class is called %.80q", name, text)
	}
	return c
}

// getReviewer returns the name of the reviewer who asks.
func (p *parameters) getReviewer() string {
	name := p.getValue("reviewer")
	if err := decisions.CheckReviewer(name); err != nil {
		p.failWith("reviewer: %v", err)
	}
	return name
}

// getFirstFailure returns the first error, or an error for a parameter that was not read.
func (p *parameters) getFirstFailure() error {
	for name := range p.values {
		if !slices.Contains(p.known, name) {
			p.failWith("parameter %.40q is unknown, expected %s", name, strings.Join(p.known, ", "))
		}
	}
	return p.err
}

// parseQuery reads the filter of /api/rows.
func parseQuery(values url.Values, d *decided, places *plane) (query, error) {
	p, t := &parameters{values: values}, d.table
	q := query{
		class: p.getClass("class", t), to: p.getClass("to", t),
		below: p.getScore("below", math.Inf(1)), above: p.getScore("above", math.Inf(-1)),
		text:   strings.ToLower(p.getValue("text")),
		offset: p.getNumber("offset", 0, 0, math.MaxInt32), limit: p.getNumber("limit", 50, 0, mostRows),
	}
	if tag := p.getValue("tag"); tag != "" {
		q.tagged = d.withTag(tag)
	}
	if q.sort = p.getValue("sort"); !slices.Contains(sorts, q.sort) {
		p.failWith("sort: found %.40q, expected suspect, least, class, path or manifest", q.sort)
	}
	q.within = p.readLasso(places)
	switch scope := p.getValue("scope"); scope {
	case "", "audit":
	case "all":
		q.all = true
	default:
		p.failWith("scope: found %.40q, expected audit or all", scope)
	}
	if q.split = none; p.getValue("split") != "" {
		if q.split = slices.Index(t.splits, p.getValue("split")); q.split < 0 {
			p.failWith("split: found %.40q, expected %s", p.getValue("split"), strings.Join(t.splits, ", "))
		}
	}
	if name := p.getValue("kind"); name != "" {
		at := slices.IndexFunc(kindNames, func(k struct {
			kind kind
			name string
		}) bool {
			return k.name == name
		})
		if at < 0 {
			p.failWith("kind: found %.40q, expected suspect, outlier, copy, group or problem", name)
		} else {
			q.kind = kindNames[at].kind
		}
	}
	q.eyes = d.numberOf(p.getReviewer())
	switch by := p.getValue("by"); {
	case by == "":
		q.by = q.eyes
	case by == "*":
		q.by = none
	case by[0] == '=':
		q.by = d.numberOf(by[1:])
	default:
		p.failWith("by: found %.40q, expected * for all reviewers, or = and the name of one", by)
	}
	switch name := p.getValue("state"); name {
	case "", "all":
		q.any = true
	case "differ":
		q.any, q.differ = true, true
	case "noted":
		q.any, q.noted = true, true
	case "decided":
		q.decided = true
	default:
		at := slices.Index(actionNames[:], decisions.Action(name))
		if at < 0 {
			p.failWith("state: found %.40q, expected undecided, decided, all, keep, drop, relabel, unsure, disagreed, "+
				"differ or noted", name)
		}
		q.action = uint8(max(at, 0))
	}
	return q, p.getFirstFailure()
}

// findPage returns the ids on a page of the query's images, and the total number.
func (d *decided) findPage(q query, texts *textIndex) (total int, page []int32) {
	t := d.table
	if list := t.listUnfiltered(q); list != nil {
		return len(list), list[min(q.offset, len(list)):min(q.offset+q.limit, len(list))]
	}
	var holds []bool
	if q.text != "" {
		holds = texts.findHoldingText(t, q.text)
	}
	scored := !math.IsInf(q.below, 1) || !math.IsInf(q.above, -1)
	// What is looked at first is small and decides most.
	passes := func(id int32) bool {
		switch {
		case q.kind != 0 && t.kinds[id]&q.kind == 0, q.split != none && int(t.split[id]) != q.split:
			return false
		case holds != nil && !holds[id], q.tagged != nil && !q.tagged[t.image[id]]:
			return false
		case q.to == none && !scored && q.any && !q.differ && !q.noted && q.within == nil:
			return true
		}
		image := t.image[id]
		if q.within != nil && !q.within.holdsImage(image) {
			return false
		}
		if q.to != none || scored {
			e := &t.all[id]
			if q.to != none && e.suggested != q.to || scored && (!(e.score < q.below) || !(e.score > q.above)) {
				return false
			}
		}
		if !q.any {
			action := d.action[image]
			if q.by != none {
				action = d.getVote(image, q.by).action
			}
			if q.decided && action == undecided || !q.decided && action != q.action {
				return false
			}
		}
		return (!q.differ || hasDisagreement(d.votes[image])) && (!q.noted || hasNote(d.votes[image]))
	}
	for id := range t.yieldSortedIDs(q) {
		if !passes(id) {
			continue
		}
		if total >= q.offset && len(page) < q.limit {
			page = append(page, id)
		}
		total++
	}
	return total, page
}

// listUnfiltered returns the ids that a query chooses by its class alone, in its order, if they are at hand; else nil.
func (t *table) listUnfiltered(q query) []int32 {
	switch {
	case !q.all || !q.any || q.differ || q.noted || q.to != none || q.split != none || q.kind != 0 || q.text != "" ||
		q.within != nil || q.tagged != nil || !math.IsInf(q.below, 1) || !math.IsInf(q.above, -1):
		return nil
	case q.class != none && (q.sort == "" || q.sort == "suspect" || q.sort == "class"):
		return t.listIDsOfClass(q.class, true)
	case q.class == none && q.sort == "path":
		return t.byPath()
	case q.class == none && q.sort == "manifest":
		return t.place
	}
	return nil
}

// sorts are the orders of /api/rows: most suspect first (also ""), least suspect first, by given label, by
// path, as in the manifest. Images that the audit does not have come last, or first among the least suspect.
var sorts = []string{"", "suspect", "least", "class", "path", "manifest"}

// yieldSortedIDs yields the ids in the query's order, of a single class if it names one.
func (t *table) yieldSortedIDs(q query) iter.Seq[int32] {
	end := int32(len(t.list))
	if q.all {
		end = int32(len(t.all))
	}
	among := func(list []int32) iter.Seq[int32] {
		return func(yield func(int32) bool) {
			for _, id := range list {
				if id < end && (q.class == none || t.given[id] == q.class) && !yield(id) {
					return
				}
			}
		}
	}
	switch {
	case q.sort == "path":
		return among(t.byPath())
	case q.sort == "manifest":
		return among(t.place)
	case q.class != none && q.sort == "least":
		return yieldValues(slices.Backward(t.listIDsOfClass(q.class, q.all)))
	case q.class != none:
		return slices.Values(t.listIDsOfClass(q.class, q.all))
	case q.sort == "class":
		return func(yield func(int32) bool) { t.eachClass(q.all, yield) }
	}
	return func(yield func(int32) bool) {
		for i := range end {
			if q.sort == "least" {
				i = end - 1 - i
			}
			if !yield(i) {
				return
			}
		}
	}
}

// yieldValues yields the values of pairs.
func yieldValues(pairs iter.Seq2[int, int32]) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, id := range pairs {
			if !yield(id) {
				return
			}
		}
	}
}

// eachClass yields the ids class by class, in the order of the classes' names, those without a class last.
func (t *table) eachClass(all bool, yield func(int32) bool) {
	for _, class := range t.names {
		for _, id := range t.listIDsOfClass(class, all) {
			if !yield(id) {
				return
			}
		}
	}
	for id := len(t.list); all && id < len(t.all); id++ {
		if t.all[id].given == none && !yield(int32(id)) {
			return
		}
	}
}

// listIDsOfClass returns the ids of a given class, most suspect first, of the audit or of all images; nil for a label
// that no image has.
func (t *table) listIDsOfClass(class int32, all bool) []int32 {
	switch {
	case int(class) >= len(t.at):
		return nil
	case all:
		return t.at[class]
	}
	return t.at[class][:t.audited[class]]
}
