package review

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/report/review/decisions"
)

// asked is a decision sent by the page.
type asked struct {
	ID      *int             `json:"id"`
	Action  decisions.Action `json:"action"`
	Label   string           `json:"label"`
	Create  bool             `json:"create"` // the label may be a new class
	Note    *string          `json:"note"`   // null: unchanged
	Version *int64           `json:"version"`
}

// applied is the response to a change.
type applied struct {
	Applied []state `json:"applied,omitempty"`
	Undone  []state `json:"undone,omitempty"`
	Redone  []state `json:"redone,omitempty"`
	progress
}

// handleGet returns a handler that sends the result of find as JSON.
func handleGet(find func(*http.Request, url.Values) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		values, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			answerError(w, refuseWith(http.StatusBadRequest, "the URL's query: %v", err))
			return
		}
		v, err := find(req, values)
		if err != nil {
			answerError(w, err)
			return
		}
		sendJSON(w, http.StatusOK, v)
	}
}

// handlePost returns a handler that decodes the request's JSON, calls do, and sends the status and value it returns.
func handlePost[T any](do func(body T) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var body T
		if err := readJSON(req, &body); err != nil {
			answerError(w, err)
			return
		}
		status, v, err := do(body)
		if err != nil {
			answerError(w, err)
			return
		}
		sendJSON(w, status, v)
	}
}

// answerError sends an error. If the decisions file is gone, the message gives the URL of a download of all decisions.
func answerError(w http.ResponseWriter, err error) {
	if !errors.As(err, new(*decisions.Gone)) {
		sendJSON(w, statusOf(err), map[string]string{"error": err.Error()})
		return
	}
	sendJSON(w, http.StatusServiceUnavailable, map[string]string{"save": savingAt,
		"error": err.Error() + "; download the saved decisions (" + savingAt + "), put the file there and start " +
			"winnow again"})
}

// asBadRequest returns the error with HTTP status 400, or nil if err is nil.
func asBadRequest(err error) error {
	if err == nil {
		return nil
	}
	return refuseWith(http.StatusBadRequest, "%v", err)
}

func (r *Reviewer) getSession(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	return r.newSession(), p.getFirstFailure()
}

func (r *Reviewer) getRows(_ *http.Request, values url.Values) (any, error) {
	var learned []int
	if values.Get("state") == string(undecided) && values.Get("sort") == "" && values.Get("scope") != "all" {
		learned = r.getLearnedOrder()
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	q, err := parseQuery(values, r.table, &r.plane)
	if err != nil {
		return nil, err
	}
	q.order = learned
	total, mistakes, page := r.decided.findPage(q)
	rows := make([]row, len(page))
	for i, id := range page {
		rows[i] = r.decided.newRow(id, q.reviewer)
	}
	return map[string]any{"total": total, "offset": q.offset, "rows": rows, "mistakes": mistakes}, nil
}

func (r *Reviewer) getTypical(_ *http.Request, values url.Values) (any, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	p := &parameters{values: values}
	class, n := p.getOneOf("class", r.table.classes), p.getNumber("n", 6, 0, mostTypical)
	if class == "" {
		p.failWith("class: is missing")
	}
	if err := p.getFirstFailure(); err != nil {
		return nil, err
	}
	return map[string]any{"class": class, "pictures": r.decided.findTypical(class, n)}, nil
}

func (r *Reviewer) getConfusions(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	most := p.getNumber("limit", 100, 0, mostPairs)
	if err := p.getFirstFailure(); err != nil {
		return nil, err
	}
	return map[string]any{"pairs": r.listConfusions(most)}, nil
}

func (r *Reviewer) getChanges(_ *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	since, reviewer := p.getNumber("since", 0, 0, 1<<62), p.getReviewer()
	if err := p.getFirstFailure(); err != nil {
		return nil, err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	version, ids := r.decided.listChangedSince(int64(since), mostChanges)
	answer := struct {
		Audit   string  `json:"audit"`
		Version int64   `json:"version"` // Changed is complete up to this version
		More    bool    `json:"more"`
		Changed []state `json:"changed"`
		progress
	}{r.table.sum, version, version < r.decided.getStoreVersion(), r.decided.listStatesFor(ids, reviewer),
		*r.decided.progress}
	return answer, nil
}

// author identifies the browser tab and the reviewer of a change. It is also the request body of undo and redo.
type author struct {
	Tab      string `json:"tab"`
	Reviewer string `json:"reviewer"`
}

// mostTab is the maximum length of a tab's name in bytes.
const mostTab = 100

func (r *Reviewer) postDecide(body struct {
	author
	Decisions []asked `json:"decisions"`
	Audit     string  `json:"audit"` // the hash in the session; "": any audit
}) (int, any, error) {
	if body.Audit != "" && body.Audit != r.table.sum {
		return 0, nil, refuseWith(http.StatusPreconditionFailed,
			"winnow now serves another audit: reload the page")
	}
	decide := func(by decisions.Author) ([]decisions.Image, error) {
		changes, err := r.convertChanges(body.Decisions, by.Reviewer)
		if err != nil {
			return nil, asBadRequest(err)
		}
		for i := range changes {
			changes[i].Picture = r.readPicture(changes[i].Path)
		}
		made, err := r.Decisions.Decide(by, changes)
		for i := range made {
			r.decided.pictures.Seen(made[i].Path, made[i].At, changes[i].Picture)
		}
		return made, err
	}
	return r.postChange(body.author, decide, func(a *applied, list []state) { a.Applied = list })
}

// mostReviewers is the maximum number of reviewers who can decide about a manifest.
const mostReviewers = 100

// convertChanges validates a reviewer's decisions and converts them to changes for the store.
func (r *Reviewer) convertChanges(list []asked, reviewer string) ([]decisions.Change, error) {
	if len(list) == 0 || len(list) > mostDecisions {
		return nil, fmt.Errorf("decisions: found %d, expected 1 to %d", len(list), mostDecisions)
	}
	r.mutex.RLock() // guards the class names
	defer r.mutex.RUnlock()
	t, all := r.table, r.decided.progress.Reviewers
	if len(all) >= mostReviewers && !slices.ContainsFunc(all, func(p progressOf) bool { return p.Name == reviewer }) {
		return nil, fmt.Errorf("reviewer: %q is new, but there are already %d reviewers, the maximum",
			reviewer, mostReviewers)
	}
	out := make([]decisions.Change, len(list))
	seen := map[int]bool{}
	for i, a := range list {
		if a.ID == nil || *a.ID < 0 || *a.ID >= len(t.images) || seen[*a.ID] {
			return nil, fmt.Errorf("decision %d: id is missing, repeated or out of range, expected 0 to %d",
				i, len(t.images)-1)
		}
		e := &t.images[*a.ID]
		note := r.decided.getVote(*a.ID, reviewer).Note
		if a.Note != nil {
			note = *a.Note
		}
		var err error
		switch {
		case !a.Action.Known():
			err = fmt.Errorf("action is %.40q, expected keep, drop, relabel, unsure or undecided", a.Action)
		case a.Version == nil || *a.Version < 0:
			err = errors.New("version is missing, expected the version that the page showed")
		case a.Action != relabel && a.Label != "":
			err = fmt.Errorf("%s takes no label", a.Action)
		case a.Action == keep && e.Given == "":
			err = fmt.Errorf("image %q has no label to keep", e.Path)
		case a.Action == relabel && a.Create && !t.isClass[a.Label]:
			err = checkNewClass(a.Label)
		case a.Action == relabel && !t.isClass[a.Label]:
			err = fmt.Errorf("there is no class %.80q", a.Label)
		case a.Action == relabel && a.Label == e.Given:
			err = fmt.Errorf("%.80q is the given label: use the action keep", a.Label)
		default:
			err = decisions.CheckNote(note)
		}
		if err != nil {
			return nil, fmt.Errorf("decision %d: %w", i, err)
		}
		seen[*a.ID] = true
		out[i] = decisions.Change{Path: e.Path, Given: e.Given, Action: a.Action, Label: a.Label, Note: note,
			Version: *a.Version}
	}
	return out, nil
}

// checkNewClass returns an error if a name cannot be a class, which must also work as a folder and in a list.
func checkNewClass(name string) error {
	const most = 100 // bytes
	if name == "" || len(name) > most || name != strings.TrimSpace(name) || name[0] == '.' ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool {
		return c == '/' || c == '\\' || !unicode.IsPrint(c)
	}) {
		return fmt.Errorf("%.80q cannot be a new class: expected 1 to %d bytes of printable characters, without "+
			"slashes, a dot at the start, or spaces at the ends", name, most)
	}
	return nil
}

// readPicture returns the size, time and hash of the image file that a decision is about.
func (r *Reviewer) readPicture(path string) decisions.Picture {
	if r.Files == nil {
		return decisions.Picture{}
	}
	return decisions.Look(r.Files, path)
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
		return 0, nil, refuseWith(http.StatusBadRequest,
			"tab: found %d bytes, expected the name of a tab, 1 to %d bytes",
			len(by.Tab), mostTab)
	}
	if err := decisions.CheckReviewer(by.Reviewer); err != nil {
		return 0, nil, asBadRequest(err)
	}
	perform := func() ([]decisions.Image, error) { return apply(decisions.Author(by)) }
	states, a, err := r.makeChange(by.Reviewer, perform)
	var conflict *decisions.Conflict
	switch {
	case errors.As(err, &conflict):
		return http.StatusConflict, map[string]any{"conflicts": states, "error": conflict.Error()}, nil
	case errors.Is(err, decisions.ErrNothing):
		return 0, nil, refuseWith(http.StatusNotFound, "%v", err)
	case err != nil:
		return 0, nil, err
	}
	put(&a, states)
	return http.StatusOK, a, nil
}

// makeChange applies a reviewer's change first to the store on disk and then in memory. On a conflict, it returns the
// current states of the images.
func (r *Reviewer) makeChange(reviewer string, apply func() ([]decisions.Image, error)) (
	states []state, a applied, err error) {
	r.deciding.Lock()
	defer r.deciding.Unlock()
	images, err := apply()
	var conflict *decisions.Conflict
	if errors.As(err, &conflict) {
		images = conflict.Images
	} else if err != nil {
		return nil, a, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var ids []int
	for _, i := range images {
		id, ok := r.table.id[i.Path]
		if !ok {
			continue // undoing a decision about an image that is not in this manifest
		}
		if ids = append(ids, id); conflict == nil {
			r.decided.setDecision(id, i)
			if r.learning != nil && id < r.table.audited {
				r.learning.addVote(id, r.decided.getVote(id, i.Reviewer))
			}
		}
	}
	r.learnSoon()
	r.decided.countProgress()
	return r.decided.listStatesFor(ids, reviewer), applied{progress: *r.decided.progress}, err
}
