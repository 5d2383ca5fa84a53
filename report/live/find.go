package live

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/report/reply"
	"winnow/run/folder"
)

// Search says where runs and audits of a labelled set are looked for.
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

// Found are the runs and audits of a set.
type Found struct {
	Runs   []string // folders, newest first
	Audits []Audit
	searched
}

// searched says how far a search went.
type searched struct {
	In      []string `json:"in"`
	Deepest int      `json:"deepest"`
	Looked  int      `json:"looked"` // folders
	Partly  bool     `json:"partly"` // a bound was reached
	Others  int      `json:"others"` // runs of other data
}

// Audit is an audit of a set, by its page.
type Audit struct {
	Key  string    `json:"key"`
	Name string    `json:"name"`
	List string    `json:"list"` // the list of suspects
	At   time.Time `json:"at"`
	page string
}

// findFolders searches, breadth first. It follows no links and looks into no run, no feature store and not among the
// images.
func (s *Search) findFolders(ctx context.Context) Found {
	f := Found{searched: searched{In: s.Folders, Deepest: deepest}}
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
			if s.isOf(at.dir, facts) {
				f.Runs = append(f.Runs, at.dir)
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
		f.Audits = append(f.Audits, findAudits(at.dir, entries)...)
		if at.depth == deepest || full == images && at.depth > 0 {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(ours, filepath.Ext(e.Name())) {
				queue = append(queue, place{filepath.Join(at.dir, e.Name()), at.depth + 1})
			}
		}
	}
	slices.SortStableFunc(f.Runs, func(a, b string) int { return started[b].Compare(started[a]) })
	if len(f.Runs) > mostRuns {
		f.Runs, f.Partly = f.Runs[:mostRuns], true
	}
	slices.SortStableFunc(f.Audits, func(a, b Audit) int { return b.At.Compare(a.At) })
	return f
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
func (s *Search) isOf(_ string, facts folder.Facts) bool {
	manifest, root := facts.Places["manifest"].Absolute, facts.Places["root"].Absolute
	if manifest.IsZero() {
		return false
	}
	return makeSourceAbsolute(manifest) == makeSourceAbsolute(s.Manifest) ||
		makeSourceAbsolute(imageroot.Resolve(root, manifest)) == makeSourceAbsolute(s.Root)
}

// findAudits returns the audits in a folder: lists with a page and the vectors of their images beside them.
func findAudits(dir string, entries []os.DirEntry) (list []Audit) {
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".features")
		if !ok || !e.IsDir() || !names[name+".html"] {
			continue
		}
		for _, ending := range []string{".csv", ".json", ".jsonl", ".parquet"} {
			info, err := os.Stat(filepath.Join(dir, name+ending))
			if !names[name+ending] || err != nil {
				continue
			}
			page := filepath.Join(dir, name+".html")
			list = append(list, Audit{Key: Key(page), Name: name, List: filepath.Join(dir, name+ending),
				At: info.ModTime(), page: page})
			break
		}
	}
	return list
}

// mostPage is the largest page of an audit that is sent, in bytes.
const mostPage = 64 << 20

func (s *Server) getAudit(w http.ResponseWriter, req *http.Request) {
	key := req.URL.Query().Get("audit")
	_, found := s.searchAgain(req.Context(), false)
	at := slices.IndexFunc(found.Audits, func(a Audit) bool { return a.Key == key })
	if at < 0 {
		reply.Error(w, reply.Refuse(http.StatusNotFound, "no audit has the key %.40q: look at the list again", key))
		return
	}
	page, err := regular.ReadFile(found.Audits[at].page, mostPage)
	if err != nil {
		reply.Error(w, err)
		return
	}
	sendPage(w, page)
}
