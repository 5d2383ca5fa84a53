package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/internal/catalog"
	"winnow/internal/fetch"
	"winnow/internal/hint"
	"winnow/models"
)

// FetchOptions holds the source of a backbone's file and the callbacks of a download.
type FetchOptions struct {
	From     string                             // a file or a URL (ending in / for a folder); "": the published URL
	Accepted bool                               // the user accepts the model's licence, if it requires that
	Note     func(fact string)                  // may be nil
	Progress func(doneMB, totalMB, earlier int) // megabytes: done, total, and from an earlier transfer; may be nil
}

// Fetched is an installed backbone.
type Fetched struct {
	*models.Backbone
	Cut   *models.Prepared
	There bool // it was installed before
}

// Fetch downloads the file of a known backbone, checks its size and its SHA-256, and records it by
// [models.Registry.AddFile]. The file is stored next to the registry. A file that is already there is only checked.
func Fetch(ctx context.Context, r *models.Registry, name string, o FetchOptions) (*Fetched, error) {
	e, ok := r.Entry(name)
	if !ok {
		return nil, hint.With(fmt.Errorf("models: %q%s: no model has this name", name, catalog.Ask(name, r.Names())),
			"winnow models list names those that can be fetched")
	}
	if _, found := r.Locate(e); found {
		return checkPresent(r, e)
	}
	files, err := listEntrySources(e, o.From)
	if err != nil {
		return nil, err
	}
	if pub, _ := e.Published(); pub.Terms != "" && !o.Accepted {
		return nil, &Unaccepted{name, e.Licence, pub.Terms}
	}
	path := e.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.Path()), e.File)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	if err := bringAll(ctx, files, filepath.Dir(path), o); errors.As(err, new(*fetch.Unavailable)) {
		if o.From != "" && !fetch.IsAddress(o.From) {
			return nil, hint.With(fmt.Errorf("models: %q was not fetched: %w", name, err),
				"name the published file; winnow models show %s prints its size and SHA-256", name)
		}
		return nil, hint.With(fmt.Errorf("models: %q was not fetched: %w", name, err),
			"repeat the command to resume; check the network and its proxy (HTTPS_PROXY), or name a mirror or a "+
				"copy: winnow models get %s --from URL|FILE",
			name)
	} else if err != nil {
		return nil, err
	}
	return recordFetched(r, e, path)
}

// Unaccepted is the error for a model whose licence must be accepted before it is fetched.
type Unaccepted struct{ Name, Licence, Terms string }

func (e *Unaccepted) Error() string {
	return fmt.Sprintf("models: %q has a licence that you must accept first, the %s: %s", e.Name, e.Licence, e.Terms)
}

// checkPresent checks a file that exists already.
func checkPresent(r *models.Registry, e models.Entry) (*Fetched, error) {
	b, err := r.Resolve(e.Name, models.Settings{})
	if err != nil {
		return nil, hint.With(err, "move that file away and run the same command again, or record it under another "+
			"name: winnow models add --name NAME FILE")
	}
	p, err := PrepareBackbone(b, "")
	return &Fetched{b, p, true}, err
}

// listEntrySources returns the files of an entry. The first file is the network itself, the others are its weights.
func listEntrySources(e models.Entry, from string) ([]fetch.Source, error) {
	pub, ok := e.Published()
	list := []fetch.Source{{Name: filepath.Base(e.File), Size: pub.Size, SHA256: pub.SHA256, Places: pub.Places}}
	for _, part := range pub.Parts {
		list = append(list, fetch.Source(part))
	}
	switch {
	case !ok:
		return nil, hint.With(
			fmt.Errorf("models: %q: no file with a known SHA-256 is published, and nothing is fetched "+
				"unchecked", e.Name),
			"winnow models show %s prints how to make it, or which other model can be fetched",
			e.Name,
		)
	case from == "" && len(pub.Places) == 0:
		return nil, hint.With(fmt.Errorf("models: %q: no place is known that has its file", e.Name),
			"name a URL or a copy: winnow models get %s --from URL|FILE; the SHA-256 is checked", e.Name)
	case strings.Contains(from, "://") && !fetch.IsAddress(from):
		return nil, hint.Misused("models: found %q, expected an address that begins with http:// or "+
			"https://, or a file", from)
	}
	for i := range list {
		if from != "" {
			list[i].Places = []string{placeNextToFirst(from, list[i].Name, i == 0)}
		}
	}
	return list, nil
}

// placeNextToFirst returns the place of one file of a model: in the folder of from, which is the place of the model's
// first file or the URL of their folder.
func placeNextToFirst(from, name string, first bool) string {
	switch {
	case fetch.IsAddress(from) && strings.HasSuffix(from, "/"):
		return from + name
	case first:
		return from
	case fetch.IsAddress(from):
		return from[:strings.LastIndex(from, "/")+1] + name
	}
	return filepath.Join(filepath.Dir(from), name)
}

// bringAll fetches the files of a model into a folder.
func bringAll(ctx context.Context, files []fetch.Source, folder string, o FetchOptions) error {
	for _, f := range files {
		if err := fetchMissing(ctx, f, filepath.Join(folder, f.Name), o); err != nil {
			return err
		}
	}
	return nil
}

// fetchMissing fetches a file unless an earlier call has fetched it.
func fetchMissing(ctx context.Context, file fetch.Source, path string, o FetchOptions) error {
	sum, err := fetch.Sum(path)
	switch {
	case err == nil && sum == file.SHA256:
		return nil
	case err == nil:
		return hint.With(fmt.Errorf("models: %s: found a file with SHA-256 %s, expected %s", path, sum, file.SHA256),
			"move it away and run the same command again")
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("models: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	progress := func(done, total, earlier int64) {
		if o.Progress != nil {
			const mb = 1_000_000
			o.Progress(int(done/mb), int((total+mb-1)/mb), int(earlier/mb))
		}
	}
	err = fetch.File(ctx, file, path, o.Note, progress)
	if err == nil || ctx.Err() != nil || errors.As(err, new(*fetch.Unavailable)) {
		return err
	}
	return fmt.Errorf("models: %w", err)
}

// recordFetched adds a fetched file to the registry. If the registry has the model already and only its file was
// missing, recordFetched checks the file.
func recordFetched(r *models.Registry, e models.Entry, path string) (*Fetched, error) {
	if r.Own(e.Name) {
		got, err := checkPresent(r, e)
		if err == nil {
			got.There = false
		}
		return got, err
	}
	b, p, err := r.AddFile(path, e.Name, models.Settings{}, AddBackbone)
	return &Fetched{Backbone: b, Cut: p}, err
}

// String returns a line that describes the backbone and whether it was fetched.
func (g *Fetched) String() string {
	how := "added"
	if g.There {
		how = "nothing to fetch for"
	}
	return fmt.Sprintf("%s %s: %s, feature %s of %s numbers, %s", how, g.Name, cmp.Or(g.Path, "part of winnow"),
		g.Cut.Cut, models.Numbers(g.Cut.Dim), g.Preprocessing.Describe())
}
