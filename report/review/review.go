// Package review is the page on which people look at a labelled set and decide about its images, in views: all images
// (data), the suspects of an audit, what else it found (findings), the plane of the vectors (map), and images that are
// alike (search). Decisions are saved at once, and a corrected manifest comes out at the end.
//
// One server serves all views. The manifest and its audit are a list in memory (table), the decisions next to it
// (decided); package decisions keeps them on disk. A view is a file
// with its handlers, a module of the page, and a part of index.html. [Reviewer.Handler] answers the page's requests.
// All requests have limits and need a token, and no path comes from outside. The page is embedded (page/).
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

// Config describes a review.
type Config struct {
	Title        string // "": the name of the audit's file
	AuditFile    string
	ManifestFile location.Source
	Audit        *Audit // the content of AuditFile; nil: decisions can only be exported
	Manifest     *datasets.Dataset
	Decisions    *decisions.Store
	Files        fs.FS             // of the images; nil: they are not at hand
	Finder       Finder            // nil: no search by image
	Out          string            // file of the corrected manifest; "": it can only be downloaded
	Names        map[string]string // names of classes by label; a label without one is shown as it is
	Notice       string            // shown when the page opens
	Reviewer     string            // the name that the page suggests
	Next         []string          // commands that continue with the decisions, for people
	Missing      Missing           // commands that make what is not there
	KeepOrder    bool              // of the list: do not learn from decisions
}

// View is a part of the page with a name in the navigation.
type View string

// The views.
const (
	Data     View = "data"     // all images
	Suspects View = "suspects" // of an audit
	Findings View = "findings" // of an audit besides suspects
	Map      View = "map"      // the plane of the vectors
	Search   View = "search"   // images that are alike
)

// Missing holds the commands that make what views need and do not have, for people; "" for what is there.
type Missing struct {
	Audit   string `json:"audit"`
	Vectors string `json:"vectors"`
}

// Finder finds images of the manifest that are similar to another one. Only one goroutine at a time calls it.
type Finder interface {
	// Similar finds the n images most similar to the mean of the unit vectors of some of the manifest, best first,
	// without these. ErrNoVector: none of them has a vector.
	Similar(ctx context.Context, paths []string, n int) ([]Found, error)
	// Uploads returns why Search does not work, with a hint, or nil if it does.
	Uploads() error
	// Search finds the n images most similar to an image file. ErrNotImage wraps what is wrong with the file.
	Search(ctx context.Context, file []byte, n int) ([]Found, error)
}

// Found is a found image.
type Found struct {
	Path       string
	Similarity float64
}

// Reviewer is an audit and the decisions about it.
type Reviewer struct {
	Config
	table    *table
	pictures *pictureCache
	plane    plane
	learning *learning       // nil: the list keeps its order
	ending   context.Context // done when the server ends
	end      context.CancelFunc

	turn      chan struct{} // of the finder: one search at a time
	uploads   atomic.Int64  // uploaded images in memory
	exporting sync.Mutex
	deciding  sync.Mutex   // one change at a time, on disk and then in memory
	mutex     sync.RWMutex // guards decided
	decided   *decided
}

// New combines audit, manifest and decisions. The error says what does not match.
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
		c.Notice = strings.TrimPrefix(c.Notice+" "+fmt.Sprintf("%s since it was decided: the old decision does not "+
			"count, and the card shows it.", text.Plural(n, "picture")+" changed"), " ")
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

// Decided returns how many images are decided.
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
		said += "; " + text.Plural(n, "decided picture") + " changed since: decide again"
	}
	if r.table.drawn {
		if share := r.decided.progress.Precision.describeShare(); share != "" {
			said += "; " + share
		}
	}
	return said
}
