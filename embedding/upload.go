package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/extraction"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/search"
	"winnow/search/qdrant"
)

// Upload says where points go, and how.
type Upload struct {
	URL        string // "": nowhere
	Address    qdrant.Address
	Key        string
	Collection string // "": the folder's name
	Payload    string // columns of the manifest
	Chosen     bool   // Payload was asked for
	Batch      int
	Recreate   bool
	OnDisk     bool

	Note  func(format string, args ...any)                         // takes a fact for the user; may be nil
	Watch func(what string) (at func(done, total int), end func()) // shows how far it is; may be nil
}

// PayloadError is a column that cannot be kept beside the vectors.
type PayloadError struct{ error }

// KeyVariable holds the key of a Qdrant server: an argument would stand in the list of processes.
const KeyVariable = "WINNOW_QDRANT_API_KEY"

// FindKey reads the key from a file, or from the environment; "" where there is none.
func FindKey(file string) (string, error) {
	key := os.Getenv(KeyVariable)
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("export: --qdrant-key-file: %w", err)
		}
		key = string(data)
	}
	key = strings.TrimSpace(key)
	if strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", errors.New("export: the key of the Qdrant server holds something else than printable ASCII, expected one word")
	}
	return key, nil
}

// Dial prepares the connection; nil where none is asked for.
func (q Upload) Dial() (*qdrant.Server, error) {
	if q.URL == "" {
		return nil, nil
	}
	if q.Key != "" && !q.Address.TLS && !q.Address.Loopback() && q.Note != nil {
		q.Note("the key of the Qdrant server goes to %s unencrypted: use https:// where others can listen", q.Address)
	}
	return qdrant.Dial(q.Address, q.Key)
}

// Run sends the embeddings of a run's images.
func (q Upload) Run(ctx context.Context, server *qdrant.Server, r *folder.Run, splits string) (*Uploaded, error) {
	columns, err := q.columns(r.Manifest)
	if err != nil {
		return nil, err
	}
	points, model, err := RunPoints(ctx, r, splits, columns)
	if err != nil {
		return nil, err
	}
	return q.send(ctx, server, r.Dir, model, columns, points)
}

// Gallery sends the vectors of an index or of a feature store, with columns of a manifest ("": none).
func (q Upload) Gallery(ctx context.Context, dir, manifestFile string) (*Uploaded, error) {
	server, err := q.Dial()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	g, err := search.OpenGallery(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("export: %s: neither a run folder, nor an index, nor a feature store: %w", dir, err), "winnow train makes a run, winnow index an index")
	}
	defer g.Close()
	var manifest *datasets.Dataset
	var columns []string
	if manifestFile != "" {
		if manifest, err = datasets.Read(manifestFile, datasets.ReadOptions{}); err != nil {
			return nil, err
		}
		if columns, err = q.columns(manifest); err != nil {
			return nil, err
		}
	} else if q.Chosen {
		return nil, PayloadError{errors.New("--payload names columns of a manifest: name that with --manifest")}
	}
	return q.send(ctx, server, dir, g.Model(), columns, GalleryPoints(g, manifest, columns))
}

// Uploaded is what winnow export --json says of an upload.
type Uploaded struct {
	URL string `json:"url"`
	qdrant.Result
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// String says it in words.
func (u *Uploaded) String() string {
	text := fmt.Sprintf("%s at %s: %d points of %d values, %d sent, %d there already", u.Collection, u.URL, u.Rows, u.Dim, u.Sent, u.Kept)
	if n := len(u.LeftOut); n > 0 {
		text += fmt.Sprintf(", %d unreadable images left out", n)
	}
	return text + fmt.Sprintf("\n            the collection holds %d points; %d read back and found equal", u.Points, u.Compared)
}

// send sends points and says in the user's words what is in the way.
func (q Upload) send(ctx context.Context, server *qdrant.Server, dir, model string, columns []string, points Points) (*Uploaded, error) {
	q.Collection = cmp.Or(q.Collection, filepath.Base(extraction.Absolute(dir)))
	if q.Note == nil {
		q.Note = func(string, ...any) {}
	}
	observe, end := (func(done, total int))(nil), func() {}
	if q.Watch != nil {
		observe, end = q.Watch("points")
	}
	defer end()
	r, err := qdrant.Upload(ctx, server, points, qdrant.Options{Collection: q.Collection, Model: model, Batch: q.Batch, Recreate: q.Recreate, OnDisk: q.OnDisk,
		Indexed: columns, Note: func(text string) { q.Note("%s", text) }, Observe: observe})
	if err != nil {
		return nil, q.advised(err)
	}
	left := append([]lookup.LeftOut{}, points.LeftOut()...)
	if len(left) > 0 {
		q.Note("%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
	}
	return &Uploaded{URL: server.Address().String(), Result: r, LeftOut: left}, nil
}

// advised adds what to do about an error.
func (q Upload) advised(err error) error {
	var request *qdrant.RequestError
	var other *qdrant.OtherCollection
	again := "the same command goes on with what is there"
	if q.Recreate {
		again = "the same command without --recreate goes on with what is there"
	}
	switch {
	case errors.As(err, &other):
		return hint.With(err, "name another --collection, or replace this one with --recreate")
	case errors.As(err, &request) && request.Refused():
		return hint.With(err, "put the server's key into %s, or name a file with --qdrant-key-file", KeyVariable)
	case errors.As(err, &request) && request.NoAnswer() && q.Address.Port == qdrant.RESTPort:
		return hint.With(err, "port %d is Qdrant's REST interface; gRPC listens on 6334 unless it is set otherwise", qdrant.RESTPort)
	case errors.As(err, &request) && request.NoAnswer():
		return hint.With(err, "is the server up, and is this its gRPC port? Then %s", again)
	case errors.As(err, &request):
		return hint.With(err, "%s", again)
	}
	return err
}

// columns checks --payload against a manifest.
func (q Upload) columns(d *datasets.Dataset) (columns []string, err error) {
	if q.Payload == "" {
		return nil, nil
	}
	known := append([]string{"label", "split"}, d.Columns...)
	for name := range strings.SplitSeq(q.Payload, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			return nil, payloadError("--payload: found %q, expected columns of the manifest: %s", name, strings.Join(known, ", "))
		case name == qdrant.PathField || name == qdrant.ModelField || name == qdrant.DigestField:
			return nil, payloadError("--payload: %q is the name of a field that winnow writes itself", name)
		case slices.Contains(columns, name):
			return nil, payloadError("--payload: %q stands there twice", name)
		}
		columns = append(columns, name)
	}
	return columns, nil
}

func payloadError(format string, args ...any) error { return PayloadError{fmt.Errorf(format, args...)} }
