package review

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"winnow/cmd/winnow/term"
	"winnow/report/jobs"
	"winnow/report/review"
	"winnow/report/review/finder"
)

// opened is a set whose page is open, with its trainings and jobs. When an audit is done that the page started, the set
// is opened again with its list, while the page waits.
type opened struct {
	ctx    context.Context
	p      *term.Program
	answer review.Switch
	extras *extras

	mutex  sync.Mutex
	over   bool // the server has ended
	o      Options
	r      *review.Reviewer
	at     time.Time // when it was opened
	closes func() error
}

// openAndServe opens the images with their audit and serves the page.
func openAndServe(ctx context.Context, p *term.Program, o Options) (err error) {
	page := &opened{ctx: ctx, p: p}
	if err := page.openSet(o); err != nil {
		return err
	}
	defer func() {
		page.mutex.Lock()
		defer page.mutex.Unlock()
		err = errors.Join(err, page.closes())
	}()
	if page.r.Notice != "" {
		p.Note("%s", page.r.Notice)
	}
	if page.extras, err = newExtras(p, o.Beside(""), page.getSet, page.openJobList); err != nil {
		return err
	}
	defer page.extras.runs.End()
	page.answer.Change(page.r.Handler)
	return servePage(ctx, p, o, page)
}

// openSet opens the set as o says. page.mutex is held, or page is new.
func (page *opened) openSet(o Options) error {
	at := time.Now()
	o.Missing = listMissingCommands(o)
	var found *finder.Finder
	r, closeDecisions, err := review.Open(o.Files, func() (_ review.Finder, err error) {
		if found, err = openFinder(page.p, o); found == nil {
			return nil, err
		}
		return found, err
	})
	if err != nil {
		return errors.Join(err, closeFinder(found))
	}
	r.Next = listNextCommands(o)
	page.o, page.r, page.at = o, r, at
	page.closes = func() error { return errors.Join(closeDecisions(), closeFinder(found)) }
	return nil
}

// getReview returns the review as it is now.
func (page *opened) getReview() *review.Reviewer {
	page.mutex.Lock()
	defer page.mutex.Unlock()
	return page.r
}

// getSet returns the set as it is now.
func (page *opened) getSet() set {
	page.mutex.Lock()
	defer page.mutex.Unlock()
	o, r := page.o, page.r
	s := set{
		Manifest: o.Manifest, Root: o.Root, Columns: o.Columns, Names: o.Names, Audit: r.AuditFile,
		Audited: r.AuditFile != "",
	}
	s.Features = o.Features
	if r.Decided() > 0 {
		s.Decisions = r.Decisions.Path
	}
	return s
}

// newPageHandler returns the handler that answers the page's requests.
func (page *opened) newPageHandler() http.Handler { return page.extras.newHandler(&page.answer) }

// openJobList opens the list of an audit that a job made. If that fails, the page stays as it was and says why.
func (page *opened) openJobList(job jobs.Job) {
	if job.Kind != auditJob {
		return
	}
	page.answer.Change(func() http.Handler {
		page.mutex.Lock()
		defer page.mutex.Unlock()
		if page.over {
			return http.NotFoundHandler()
		}
		if info, err := os.Stat(listMadeBy(job)); err == nil && page.r.AuditFile == listMadeBy(job) &&
			info.ModTime().Before(page.at) {
			return page.r.Handler() // it ended while there was no server: this list was opened
		}
		was, o := page.o, page.o
		o.Audit, o.Guessed = listMadeBy(job), false
		o.Features = featuresOf(o.Audit)
		err := page.closes()
		page.closes = func() error { return nil }
		if err == nil {
			err = page.openSet(o)
		}
		if err != nil {
			page.p.Note("%s is not shown: %v", o.Audit, err)
			if err := page.openSet(was); err != nil {
				page.p.Note("start winnow studio again: %v", err)
				return http.NotFoundHandler()
			}
			page.r.Notice = "The audit is done, but its list is not shown: start winnow studio again."
		}
		return page.r.Handler()
	})
}

// endRequests says that no request comes any more.
func (page *opened) endRequests() {
	page.mutex.Lock()
	page.over = true
	page.mutex.Unlock()
	if command, runs := page.extras.jobs.Running(); runs {
		page.p.Note("this goes on: %s; winnow studio shows it again", command)
	}
}
