package review

import (
	"errors"
	"fmt"
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
	mostPairs     = 1000
)

// query selects images with filters. An empty filter selects all images.
type query struct {
	all                    bool // also select images that are not in the audit
	class, to, split, kind string
	below, above           float64
	sure                   float64 // least probability of a suggested label that is another one; 0: any image
	reviewer               string  // the reviewer who sends the query
	by                     string  // whose decisions state refers to: "" reviewer, =NAME that reviewer, * the outcome
	state, text, sort      string
	within                 *lasso
	offset, limit          int
	order                  []int // all ids in the order to show; nil: ordered by sort
}

// parameters parses the query values of a request and keeps the first error.
type parameters struct {
	values url.Values
	err    error
}

func (p *parameters) getValue(name string) string {
	if n := len(p.values[name]); n > 1 {
		p.failWith("%s: found %d values, expected one", name, n)
	}
	return p.values.Get(name)
}

func (p *parameters) failWith(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// getNumber returns a whole number from least to most, or otherwise if the value is missing.
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

// getScore returns a score, or otherwise if the value is missing.
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

// getOneOf returns a value that is "" or in a list.
func (p *parameters) getOneOf(name string, list []string) string {
	text := p.getValue(name)
	if text != "" && !slices.Contains(list, text) {
		p.failWith("%s: found %.80q, expected one of %.400s", name, text, strings.Join(list, ", "))
	}
	return text
}

// getReviewer returns the name of the reviewer who sends the request.
func (p *parameters) getReviewer() string {
	name := p.getValue("reviewer")
	if err := decisions.CheckReviewer(name); err != nil {
		p.failWith("reviewer: %v", err)
	}
	return name
}

// getFirstFailure returns the first error, with HTTP status 400.
func (p *parameters) getFirstFailure() error { return asBadRequest(p.err) }

// sorts are the orders of /api/rows: most suspect first (also ""), least suspect first, by given label, by path, and in
// the manifest's order. Images that are not in the audit are the last of "suspect" and the first of "least". Without a
// sort, the undecided images of the audit are in the order learned from the decisions.
var sorts = []string{"suspect", "least", "class", "path", "manifest"}

// states are the values of the filter state of /api/rows.
var states = []string{"all", "decided", "differ", "noted", string(undecided), string(keep), string(drop),
	string(relabel), string(unsure), string(disagreed)}

// parseQuery parses the query of /api/rows.
func parseQuery(values url.Values, t *table, places *plane) (query, error) {
	p := &parameters{values: values}
	splits := make([]string, len(t.splits))
	for i, s := range t.splits {
		splits[i] = s.Name
	}
	q := query{
		class: p.getOneOf("class", t.classes), to: p.getOneOf("to", t.classes),
		below: p.getScore("below", math.Inf(1)), above: p.getScore("above", math.Inf(-1)),
		sure: p.getScore("sure", 0), text: strings.ToLower(p.getValue("text")), kind: p.getOneOf("kind", kindNames),
		split: p.getOneOf("split", splits), all: p.getOneOf("scope", []string{"audit", "all"}) == "all",
		sort: p.getOneOf("sort", sorts), state: p.getOneOf("state", states), reviewer: p.getReviewer(),
		by: p.getValue("by"), within: p.readLasso(places),
		offset: p.getNumber("offset", 0, 0, math.MaxInt32), limit: p.getNumber("limit", 50, 0, mostRows),
	}
	if q.by != "" && q.by != "*" && q.by[0] != '=' {
		p.failWith("by: found %.40q, expected * for all reviewers, or = and a reviewer's name", q.by)
	}
	return q, p.getFirstFailure()
}

// selects reports whether the query selects an image.
func (q *query) selects(d *decided, id int) bool {
	e := &d.table.images[id]
	switch {
	case !q.all && !e.audited, q.class != "" && e.Given != q.class, q.to != "" && (e.Suggested != q.to || !e.audited),
		q.split != "" && e.split != q.split, q.kind != "" && !e.isOfKind(q.kind),
		q.text != "" && !strings.Contains(strings.ToLower(e.Path), q.text),
		q.within != nil && !q.within.holdsImage(id):
		return false
	case q.sure > 0 && !(e.mistakeOfSuggestion() <= 1-q.sure):
		return false
	case !math.IsInf(q.below, 1) || !math.IsInf(q.above, -1):
		if !e.audited || !(e.Score < q.below) || !(e.Score > q.above) {
			return false
		}
	}
	action := d.outcome[id].Action
	if q.by == "" {
		action = d.getVote(id, q.reviewer).Action
	} else if q.by != "*" {
		action = d.getVote(id, q.by[1:]).Action
	}
	switch q.state {
	case "", "all":
		return true
	case "decided":
		return action != undecided
	case "differ":
		return hasDisagreement(d.votes[id])
	case "noted":
		return slices.ContainsFunc(d.votes[id], func(v vote) bool { return v.Note != "" })
	}
	return string(action) == q.state
}

// mistakeOfSuggestion returns the probability that the suggested label is wrong, or NaN if the audit suggests no other
// label or gives no probability.
func (e *entry) mistakeOfSuggestion() float64 {
	if e.SuggestedProbability == nil || e.Suggested == e.Given || e.Suggested == "" {
		return math.NaN()
	}
	return 1 - *e.SuggestedProbability
}

// findPage returns the ids on the requested page, the number of all images that the query selects, and, if it selects
// by sure, how many of their suggested labels are expected to be wrong.
func (d *decided) findPage(q query) (total int, mistakes float64, page []int) {
	if q.order == nil {
		q.order = d.table.orders[q.sort]()
	}
	for _, id := range q.order {
		if !q.selects(d, id) {
			continue
		}
		if total >= q.offset && len(page) < q.limit {
			page = append(page, id)
		}
		if total++; q.sure > 0 {
			mistakes += d.table.images[id].mistakeOfSuggestion()
		}
	}
	return total, mistakes, page
}

// lasso is a polygon on the map that selects images.
type lasso struct {
	corners []spot
	at      []spot // positions of the images
}

// mostCorners is the maximum number of corners of a lasso.
const mostCorners = 200

// readLasso parses the corners of a lasso, x,y,x,y,…, or returns nil if the query has no lasso.
func (p *parameters) readLasso(places *plane) *lasso {
	text := p.getValue("lasso")
	if text == "" {
		return nil
	}
	l := &lasso{at: places.getSpots()}
	if l.at == nil {
		p.failWith("lasso: the map is not computed yet")
	}
	words := strings.Split(text, ",")
	if len(words)%2 != 0 || len(words) < 6 || len(words) > 2*mostCorners {
		p.failWith("lasso: found %d numbers, expected x,y of 3 to %d corners", len(words), mostCorners)
		return l
	}
	for i := 0; i < len(words); i += 2 {
		x, errX := strconv.ParseFloat(words[i], 32)
		y, errY := strconv.ParseFloat(words[i+1], 32)
		if err := errors.Join(errX, errY); err != nil || math.IsNaN(x+y) {
			p.failWith("lasso: found %.40q, expected numbers", words[i]+","+words[i+1])
		}
		l.corners = append(l.corners, spot{float32(x), float32(y)})
	}
	return l
}

// holdsImage reports whether an image is inside the lasso, by the even-odd rule.
func (l *lasso) holdsImage(id int) bool {
	at, in := l.at[id], false
	for i, j := 0, len(l.corners)-1; i < len(l.corners); j, i = i, i+1 {
		a, b := l.corners[i], l.corners[j]
		if (a.y > at.y) != (b.y > at.y) && at.x < (b.x-a.x)*(at.y-a.y)/(b.y-a.y)+a.x {
			in = !in
		}
	}
	return in
}
