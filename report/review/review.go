// Package review implements the server of the review page, on which people review a labelled data set and decide about
// its images. The page has these views: all images (data), the suspects of an audit (suspects), its other findings
// (findings), a map of the embeddings (map), and similar images (search). Every decision is saved immediately. The
// result is a corrected manifest.
//
// One server serves all views. In memory, table holds the manifest joined to its audit, and decided holds the
// decisions, which package decisions stores on disk. A view consists of a file with its handlers, a module of the page,
// and a part of index.html. [Reviewer.Handler] answers the page's requests. All requests need a token, are limited in
// size and number, and refer to images by key, never by path. The files of the page are embedded (page/).
package review

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/text"
	"winnow/report/review/decisions"
)

// Config holds the inputs and options of a review.
type Config struct {
	Title        string // "": the name of the audit's file
	AuditFile    string
	ManifestFile location.Source
	Audit        *Audit // the content of AuditFile; nil: no audit
	Manifest     *datasets.Dataset
	Decisions    *decisions.Store
	Files        fs.FS             // the images; nil: not available
	Finder       Finder            // nil: no similarity search
	Out          string            // file of the corrected manifest, or a folder; "": download only
	By           string            // how a folder Out gets its images
	Names        map[string]string // class names by label; labels without a name are shown as they are
	Notice       string            // shown when the page opens
	Reviewer     string            // the name that the page suggests
	Train        string            // command that trains on the decisions, shown on the page
	Missing      Missing           // commands that create missing inputs
	KeepOrder    bool              // keep the audit's order: do not learn from decisions
	Work         *Work             // what the page can start; nil: nothing

	Moving func(to map[string]string) error // see datasets.FolderOut
}

// View is the name of a view of the page.
type View string

// The views.
const (
	Data     View = "data"     // all images
	Suspects View = "suspects" // suspects of an audit
	Findings View = "findings" // other findings of an audit
	Map      View = "map"      // map of the embeddings
	Search   View = "search"   // similar images
)

// Missing holds commands that create the inputs that views need, to be shown on the page; "" if an input exists.
type Missing struct {
	Audit   string `json:"audit"`
	Vectors string `json:"vectors"`
}

// Finder finds similar images. Its methods are called by one goroutine at a time.
type Finder interface {
	// Similar returns the n images most similar to the mean of the unit vectors of the images at paths, best first,
	// without these images. The error is ErrNoVector if none of them has a vector.
	Similar(ctx context.Context, paths []string, n int) ([]Found, error)
	// Uploads returns nil if Search works, otherwise the reason, with a hint.
	Uploads() error
	// Search returns the n images most similar to an image file, or ErrNotImage if the file cannot be decoded.
	Search(ctx context.Context, file []byte, n int) ([]Found, error)
}

// Found is an image that a [Finder] found.
type Found struct {
	Path       string
	Similarity float64
}

// Reviewer serves a manifest, its audit and the decisions about its images.
type Reviewer struct {
	Config
	table    *table
	pictures *pictureCache
	plane    plane
	learning *learning       // nil: the list keeps the audit's order
	ending   context.Context // done when the server ends
	end      context.CancelFunc

	turn      chan struct{} // semaphore of the finder: one search at a time
	uploads   atomic.Int64  // number of uploaded images in memory
	exporting sync.Mutex
	deciding  sync.Mutex   // serializes changes, on disk and then in memory
	mutex     sync.RWMutex // guards decided
	decided   *decided

	written    Exported // the last folder written, and what was decided then
	writtenFor map[int]datasets.Decision
}

// New joins audit, manifest and decisions. It returns an error if they are about different images.
func New(c Config) (*Reviewer, error) {
	if c.Title == "" && c.AuditFile != "" {
		c.Title = filepath.Base(c.AuditFile)
	}
	c.Title = cmp.Or(c.Title, c.ManifestFile.Base())
	var err error
	if c.Audit == nil {
		if c.Audit, err = noAudit(c.ManifestFile, c.Manifest); err != nil {
			return nil, err
		}
	}
	t := c.Audit.table
	seen := &decisions.Pictures{}
	if c.Files != nil {
		if seen, err = c.Decisions.Pictures(c.Files); err != nil {
			return nil, err
		}
	}
	d, err := newDecided(t, c.Decisions, seen)
	if err != nil {
		return nil, err
	}
	if n := d.countStale(); n > 0 {
		c.Notice = strings.TrimPrefix(c.Notice+" "+fmt.Sprintf("%s since it was decided: the old decision is not "+
			"used, but the card shows it.", text.Plural(n, "image")+" changed"), " ")
	}
	d.countProgress()
	r := &Reviewer{Config: c, table: t, decided: d, turn: make(chan struct{}, 1),
		pictures: newPictureCache(c.Files)}
	r.ending, r.end = context.WithCancel(context.Background())
	r.plane.steps = planeSteps
	r.learning = r.newLearning()
	r.learnSoon()
	return r, nil
}

// Decided returns the number of decided images.
func (r *Reviewer) Decided() int {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return len(r.table.images) - r.decided.progress.Whole[undecided]
}

// Summary returns the state of the review in one line.
func (r *Reviewer) Summary() string {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	c, n := r.decided.progress.Counts, r.table.audited
	if whole := r.decided.progress.Whole; n-c[undecided] < len(r.table.images)-whole[undecided] || n == 0 {
		c, n = whole, len(r.table.images) // some are not in the list of suspects
	}
	said := fmt.Sprintf("%d of %d images decided: %d kept, %d dropped, %d relabelled",
		n-c[undecided], n, c[keep], c[drop], c[relabel])
	if c[unsure]+c[disagreed] > 0 {
		said += fmt.Sprintf(", %d unsure, %d without a majority", c[unsure], c[disagreed])
	}
	if gone := len(r.decided.gone); gone > 0 {
		said += fmt.Sprintf("; %d decisions are on images that are not in the manifest", gone)
	}
	if n := r.decided.countStale(); n > 0 {
		said += "; " + text.Plural(n, "decided image") + " changed since: decide again"
	}
	if r.table.drawn {
		if share := r.decided.progress.Precision.describeShare(); share != "" {
			said += "; " + share
		}
	}
	return said
}
