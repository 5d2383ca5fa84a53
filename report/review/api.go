package review

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"winnow/report/reply"
	"winnow/report/review/decisions"
)

// handleGet returns a handler that answers with the result of find as JSON.
func handleGet(find func(*http.Request, url.Values) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		values, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			answerError(w, reply.Refuse(http.StatusBadRequest, "the address's parameters: %v", err))
			return
		}
		v, err := find(req, values)
		if err != nil {
			answerError(w, err)
			return
		}
		reply.JSON(w, http.StatusOK, v)
	}
}

// handlePost returns a handler for a change: do receives the request's JSON and returns status and answer.
func handlePost[T any](do func(body T) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var body T
		if err := reply.Read(req, &body); err != nil {
			answerError(w, err)
			return
		}
		status, v, err := do(body)
		if err != nil {
			answerError(w, err)
			return
		}
		reply.JSON(w, status, v)
	}
}

// answerError answers with an error. If the decisions' file is gone, it says where to download what was saved.
func answerError(w http.ResponseWriter, err error) {
	if !errors.As(err, new(*decisions.Gone)) {
		reply.Error(w, err)
		return
	}
	reply.JSON(w, http.StatusServiceUnavailable, map[string]string{"save": savingAt,
		"error": err.Error() + "; download what was saved (" + savingAt + "), put that file there and start " +
			"winnow again"})
}

// asBadRequest turns an error into one with status 400.
func asBadRequest(err error) error {
	if err == nil {
		return nil
	}
	return reply.Refuse(http.StatusBadRequest, "%v", err)
}

func (r *Reviewer) getSession(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	return r.newSession(), asBadRequest(p.getFirstFailure())
}

func (r *Reviewer) getRows(_ *http.Request, values url.Values) (any, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	q, err := parseQuery(values, r.decided, &r.plane)
	if err != nil {
		return nil, asBadRequest(err)
	}
	total, page := r.decided.findPage(q, &r.texts)
	rows := make([]row, len(page))
	for i, id := range page {
		rows[i] = r.newRowWithReason(id, q.eyes)
	}
	return map[string]any{"total": total, "offset": q.offset, "rows": rows}, nil
}

func (r *Reviewer) getTypical(_ *http.Request, values url.Values) (any, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	p := &parameters{values: values}
	class, n := p.getClass("class", r.table), p.getNumber("n", 6, 0, mostTypical)
	if p.err == nil && class == none {
		p.failWith("class: is missing")
	}
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	return map[string]any{"class": r.table.classes[class], "pictures": r.decided.findTypical(class, n)}, nil
}

func (r *Reviewer) getConfusions(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	most := p.getNumber("limit", 100, 0, mostPairs)
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	return map[string]any{"pairs": r.listConfusions(most)}, nil
}

func (r *Reviewer) getChanges(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	since, reviewer := p.getNumber("since", 0, 0, 1<<62), p.getReviewer()
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	version, images := r.decided.listChangedSince(int64(since), mostChanges)
	now := r.reportLearned(images)
	return map[string]any{
		"audit": r.table.sum, "version": version, "more": version < now.Version,
		"changed": r.decided.listStatesFor(images, r.decided.numberOf(reviewer)),
		"counts":  now.Counts, "whole": now.Whole, "precision": now.Precision, "hint": now.Hint, "classes": now.Classes,
		"reviewers": now.Reviewers, "learned": now.Learned, "tags": now.Tags,
	}, nil
}

// historyEntry is one decision of the history as JSON.
type historyEntry struct {
	N            int64            `json:"n"`
	At           time.Time        `json:"at"`
	Tab          string           `json:"tab"`
	Reviewer     string           `json:"reviewer"`
	Action       decisions.Action `json:"action"`
	Label        string           `json:"label"`
	Note         string           `json:"note"`
	BeforeAction decisions.Action `json:"before_action"`
	BeforeLabel  string           `json:"before_label"`
	BeforeNote   string           `json:"before_note"`
	Give         []string         `json:"give,omitempty"` // tags
	Take         []string         `json:"take,omitempty"`
	ID           *int32           `json:"id"`  // null: not in this manifest
	Key          *string          `json:"key"` // null: not in this manifest
	Path         string           `json:"path"`
	Undone       bool             `json:"undone"`
	Hidden       bool             `json:"hidden"` // another's answer about an image that the reviewer has not decided
}

func (r *Reviewer) getHistory(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	offset, limit := p.getNumber("offset", 0, 0, 1<<40), p.getNumber("limit", 50, 0, mostHistory)
	reviewer := p.getReviewer()
	if err := p.getFirstFailure(); err != nil {
		return nil, asBadRequest(err)
	}
	total, list, err := r.Decisions.History(offset, limit)
	if err != nil {
		return nil, err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	who := r.decided.numberOf(reviewer)
	entries := make([]historyEntry, len(list))
	for i, e := range list {
		entries[i] = historyEntry{
			N: e.N, At: e.At.UTC(), Tab: e.Tab, Reviewer: e.Reviewer,
			Action: e.Action, Label: e.Label, Note: e.Note,
			BeforeAction: e.BeforeAction, BeforeLabel: e.BeforeLabel, BeforeNote: e.BeforeNote,
			Path: e.Path, Undone: e.Undone, Give: e.Given, Take: e.Taken,
		}
		if image, ok := r.table.findImage(e.Path); ok {
			key := keyOf(image)
			entries[i].Key = &key
			if e.Reviewer != reviewer && r.decided.getVote(image, who).action == undecided {
				entries[i] = historyEntry{N: e.N, At: e.At.UTC(), Reviewer: e.Reviewer, Path: e.Path, Undone: e.Undone,
					Key: &key, Hidden: true}
			}
			id := r.table.place[image]
			entries[i].ID = &id
		}
	}
	return map[string]any{"total": total, "entries": entries}, nil
}

// author is the tab and reviewer of a change. It is also the body of undo and redo.
type author struct {
	Tab      string `json:"tab"`
	Reviewer string `json:"reviewer"`
}

// mostTab is the longest name of a tab in bytes.
const mostTab = 100

func (r *Reviewer) postDecide(body struct {
	author
	Decisions []asked `json:"decisions"`
	Audit     string  `json:"audit"` // the session's sum; "": any audit
}) (int, any, error) {
	if body.Audit != "" && body.Audit != r.table.sum {
		return 0, nil, reply.Refuse(http.StatusPreconditionFailed,
			"winnow now reviews another audit here: reload the page")
	}
	decide := func(by decisions.Author) ([]decisions.Image, error) {
		changes, err := r.convertChanges(body.Decisions, by.Reviewer)
		if err != nil {
			return nil, asBadRequest(err)
		}
		for i := range changes {
			if changes[i].Stands {
				continue
			}
			changes[i].Picture = r.lookAtPicture(changes[i].Path)
		}
		made, err := r.Decisions.Decide(by, changes)
		if err != nil {
			return nil, err
		}
		for i := range made {
			if changes[i].Stands {
				continue
			}
			r.decided.pictures.Seen(made[i].Path, made[i].At, changes[i].Picture)
		}
		return made, nil
	}
	return r.postChange(body.author, decide, func(a *applied, list []state) { a.Applied = list })
}

func (r *Reviewer) postUndo(body author) (int, any, error) {
	return r.postChange(body, r.Decisions.Undo, func(a *applied, list []state) { a.Undone = list })
}

func (r *Reviewer) postRedo(body author) (int, any, error) {
	return r.postChange(body, r.Decisions.Redo, func(a *applied, list []state) { a.Redone = list })
}

func (r *Reviewer) postChange(by author, apply func(decisions.Author) ([]decisions.Image, error),
	put func(*applied, []state)) (int, any, error) {
	if by.Tab == "" || len(by.Tab) > mostTab {
		return 0, nil, reply.Refuse(http.StatusBadRequest,
			"tab: found %d bytes, expected the name of a tab, 1 to %d bytes",
			len(by.Tab), mostTab)
	}
	if err := decisions.CheckReviewer(by.Reviewer); err != nil {
		return 0, nil, asBadRequest(err)
	}
	states, a, err := r.makeChange(
		by.Reviewer,
		func() ([]decisions.Image, error) { return apply(decisions.Author(by)) },
	)
	var conflict *decisions.Conflict
	switch {
	case errors.As(err, &conflict):
		return http.StatusConflict, map[string]any{"conflicts": states, "error": conflict.Error()}, nil
	case errors.Is(err, decisions.ErrTags):
		return 0, nil, asBadRequest(err)
	case errors.Is(err, decisions.ErrNothing):
		return 0, nil, reply.Refuse(http.StatusNotFound, "%v", err)
	case err != nil:
		return 0, nil, err
	}
	put(&a, states)
	return http.StatusOK, a, nil
}
