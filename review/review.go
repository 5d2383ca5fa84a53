// Package review is the page on which people decide what an audit suspects: images with their labels, decisions that are
// kept the moment they are made, and a mended manifest at the end.
//
// The audit lies in memory in columns (table), what is decided beside it (decided); package decisions keeps that on disk,
// package pictures makes the small pictures. A [Server] answers the page's requests: all bounded, all behind a token, no
// path ever comes from outside. The page itself is embedded (page/).
package review

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/review/decisions"
	"winnow/review/pictures"
)

// Config says what is reviewed and with what.
type Config struct {
	Title        string // "": the name of the audit's file
	AuditFile    string
	ManifestFile string
	Audit        *Audit // of AuditFile; nil: decisions can only be carried out
	Manifest     *datasets.Dataset
	Decisions    *decisions.Store
	Pictures     *pictures.Pictures
	Finder       Finder            // nil: no search by image
	Out          string            // where the mended manifest is written; "": it can only be downloaded
	Form         Form              // of Out; "": the manifest's
	Root         string            // folder of the images, which tasks for Label Studio name
	Names        map[string]string // of classes, by label; labels without one are shown as they are
	Notice       string            // said when the page opens
	Reviewer     string            // the name that the page proposes
}

// Finder finds the images of the manifest that are like another. One goroutine at a time calls it.
type Finder interface {
	// Similar finds n images most like one of the manifest, best first, itself left out. ErrNoVector: it has none.
	Similar(ctx context.Context, path string, n int) ([]Found, error)
	// Uploads reports whether Search works.
	Uploads() bool
	// Search finds n images most like that in an image file's bytes. ErrNotImage wraps what is wrong with the file.
	Search(ctx context.Context, file []byte, n int) ([]Found, error)
}

// Found is an image found.
type Found struct {
	Path       string
	Similarity float64
}

// Reviewer is an audit and the decisions about it.
type Reviewer struct {
	Config
	Others int // audits that were looked at with the same decisions before

	table *table
	texts textIndex

	searches  *searches
	uploading chan struct{} // so many at a time
	exporting sync.Mutex
	deciding  sync.Mutex   // one change at a time, from the disk to the memory
	mutex     sync.RWMutex // of decided
	decided   *decided
}

// New joins audit, manifest and decisions; an error says what does not fit.
func New(c Config) (*Reviewer, error) {
	c.Title = cmp.Or(c.Title, filepath.Base(c.AuditFile))
	var err error
	if c.Root, err = location.Absolute(c.Root); err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	if c.Audit == nil {
		none, err := newTable(c.Manifest, func(func(suspects.Entry) error) (bool, error) { return false, nil }, "", c.ManifestFile)
		if err != nil {
			return nil, err
		}
		c.Audit = &Audit{none}
	}
	t := c.Audit.table
	d, err := newDecided(t, c.Decisions)
	if err != nil {
		return nil, err
	}
	r := &Reviewer{Config: c, table: t, decided: d, searches: newSearches(), uploading: make(chan struct{}, uploads)}
	r.texts.fill(t)
	if len(t.image) > 0 {
		r.Others, err = c.Decisions.Opened(decisions.Audit{Sum: t.sum, Name: c.AuditFile, Images: len(t.image)})
	}
	return r, err
}

// Decided returns how many images of the audit are decided.
func (r *Reviewer) Decided() int {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return len(r.table.image) - r.decided.counts[undecided]
}

// Summary returns the state of the review in one line.
func (r *Reviewer) Summary() string {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	c := r.decided.counts
	text := fmt.Sprintf("%d of %d images decided: %d kept, %d dropped, %d relabelled", len(r.table.image)-c[undecided], len(r.table.image), c[keep], c[drop], c[relabel])
	if c[unsure]+c[disagreed] > 0 {
		text += fmt.Sprintf(", %d unsure, %d without a majority", c[unsure], c[disagreed])
	}
	return text
}
