package live

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/run/folder"
)

// Search says where runs of a labelled set are looked for.
type Search struct {
	Folders  []string        // the search begins in these
	Manifest location.Source // the set: a run is of it if it was trained on this manifest or folder,
	Root     location.Source // or on images below this root
}

// Bounds of a search.
const (
	deepest     = 3     // folders below the first
	mostFolders = 2_000 // looked into
	mostRuns    = 200   // listed, the newest
)

// searched says how far a search went.
type searched struct {
	In      []string `json:"in"`
	Deepest int      `json:"deepest"`
	Looked  int      `json:"looked"` // folders
	Partly  bool     `json:"partly"` // a bound was reached
	Others  int      `json:"others"` // runs of other data
}

// findFolders returns the folders of the set's runs, newest first. It searches breadth first, follows no links, and
// searches no run, no feature store and not among the images.
func (s *Search) findFolders(ctx context.Context) (runs []string, f searched) {
	f = searched{In: s.Folders, Deepest: deepest}
	type place struct {
		dir   string
		depth int
	}
	var queue []place
	seen, images := map[string]bool{}, makeSourceAbsolute(s.Root)
	for _, dir := range s.Folders {
		queue = append(queue, place{dir, 0})
	}
	started := map[string]time.Time{}
	for len(queue) > 0 && ctx.Err() == nil {
		at := queue[0]
		queue = queue[1:]
		full, err := filepath.Abs(at.dir)
		if err != nil || seen[full] {
			continue
		}
		seen[full] = true
		if f.Looked++; f.Looked > mostFolders {
			f.Looked, f.Partly = mostFolders, true
			break
		}
		if facts, err := folder.ReadFacts(at.dir); err == nil {
			if s.isOf(facts) {
				runs = append(runs, at.dir)
				started[at.dir] = facts.Started
			} else {
				f.Others++
			}
			continue
		}
		entries, err := os.ReadDir(at.dir)
		if err != nil {
			continue
		}
		if at.depth == deepest || full == images && at.depth > 0 {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(ours, filepath.Ext(e.Name())) {
				queue = append(queue, place{filepath.Join(at.dir, e.Name()), at.depth + 1})
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b string) int { return started[b].Compare(started[a]) })
	if len(runs) > mostRuns {
		runs, f.Partly = runs[:mostRuns], true
	}
	return runs, f
}

// ours are the endings of folders that hold no runs.
var ours = []string{".features", ".thumbs", ".finetune", ".parts"}

// makeSourceAbsolute returns a source's absolute path, "" if it has none.
func makeSourceAbsolute(s location.Source) string {
	if s.IsZero() {
		return ""
	}
	at, err := s.Absolute()
	if err != nil {
		return ""
	}
	return at.Clean().String()
}

// isOf reports whether a run was trained on the set.
func (s *Search) isOf(facts folder.Facts) bool {
	manifest, root := facts.Places["manifest"].Absolute, facts.Places["root"].Absolute
	if manifest.IsZero() {
		return false
	}
	return makeSourceAbsolute(manifest) == makeSourceAbsolute(s.Manifest) ||
		makeSourceAbsolute(imageroot.Resolve(root, manifest)) == makeSourceAbsolute(s.Root)
}
