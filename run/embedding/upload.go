package embedding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/search"
	"winnow/search/pgvector"
)

// Upload says where to send points, and how.
type Upload struct {
	Database
	Payload  string // columns of the manifest
	Chosen   bool   // the user set Payload
	Batch    int
	Recreate bool

	Watch func(what string) (at func(done, total int), end func()) // shows progress; may be nil
}

// PayloadError is a column that cannot be stored with the vectors.
type PayloadError struct{ error }

// Run sends the embeddings of a run's images.
func (q Upload) Run(ctx context.Context, server *pgvector.Server, r *folder.Run, splits string) (*Uploaded, error) {
	columns, err := q.choosePayload(r.Manifest)
	if err != nil {
		return nil, err
	}
	server.Notify(q.noteText)
	if _, err := server.Hello(ctx); err != nil { // before vectors are computed
		return nil, q.explainUpload(err)
	}
	points, model, err := RunPoints(ctx, r, splits, columns)
	if err != nil {
		return nil, err
	}
	return q.sendPoints(ctx, server, model, columns, points)
}

// Gallery sends the vectors of an index or of a feature store, with columns of a manifest, if there is one.
func (q Upload) Gallery(ctx context.Context, dir string, manifestFile location.Source) (*Uploaded, error) {
	server, err := q.Dial(dir)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	g, err := search.OpenGallery(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("export: %s: neither a run folder, nor an index, nor a feature store: %w", dir,
			err), "winnow train makes a run, winnow index an index")
	}
	defer g.Close()
	var manifest *datasets.Dataset
	var columns []string
	if !manifestFile.IsZero() {
		if manifest, err = datasets.Read(manifestFile, datasets.ReadOptions{}); err != nil {
			return nil, err
		}
		if columns, err = q.choosePayload(manifest); err != nil {
			return nil, err
		}
	} else if q.Chosen {
		return nil, PayloadError{errors.New("--payload names columns of a manifest: name that with --manifest")}
	}
	return q.sendPoints(ctx, server, g.Model(), columns, GalleryPoints(g, manifest, columns))
}

// Uploaded describes an upload, as winnow export --json prints it.
type Uploaded struct {
	URL string `json:"url"`
	pgvector.Result
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

// String describes the upload for people.
func (u *Uploaded) String() string {
	text := fmt.Sprintf("%s at %s: %d points of %d values, %d sent, %d there already", u.Collection, u.URL, u.Rows,
		u.Dim,
		u.Sent, u.Kept)
	if n := len(u.LeftOut); n > 0 {
		text += fmt.Sprintf(", %d unreadable images left out", n)
	}
	return text + fmt.Sprintf("\n            the collection holds %d points", u.Points)
}

func (q Upload) noteText(text string) { q.noteDatabase("%s", text) }

// explainUpload adds what to do about an error of an upload.
func (q Upload) explainUpload(err error) error {
	again := "the same command goes on with what is there"
	if q.Recreate {
		again = "the same command without --recreate goes on with what is there"
	}
	return q.adviseOnDatabase(err, again, "name another --collection, or replace this one with --recreate")
}

// sendPoints sends points. Its errors say what to do.
func (q Upload) sendPoints(ctx context.Context, server *pgvector.Server, model string, columns []string,
	points Points) (*Uploaded, error) {
	observe, end := (func(done, total int))(nil), func() {}
	if q.Watch != nil {
		observe, end = q.Watch("points")
	}
	defer end()
	r, err := server.Upload(ctx, points, pgvector.Options{Model: model, Batch: q.Batch, Recreate: q.Recreate,
		Columns: columns, Note: q.noteText, Observe: observe})
	if err != nil {
		return nil, q.explainUpload(err)
	}
	left := append([]lookup.LeftOut{}, points.LeftOut()...)
	if len(left) > 0 {
		q.noteDatabase(
			"%d unreadable images are left out, the first is %s: %s",
			len(left),
			left[0].Path,
			left[0].Reason,
		)
	}
	return &Uploaded{URL: server.Address(), Result: r, LeftOut: left}, nil
}

// choosePayload checks --payload against a manifest.
func (q Upload) choosePayload(d *datasets.Dataset) (columns []string, err error) {
	if q.Payload == "" {
		return nil, nil
	}
	known := append([]string{"label", "split"}, d.Columns...)
	for name := range strings.SplitSeq(q.Payload, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			return nil, payloadError("--payload: found %q, expected columns of the manifest: %s", name,
				strings.Join(known, ", "))
		case name == pgvector.PathField || name == pgvector.ModelField || name == pgvector.DigestField:
			return nil, payloadError("--payload: %q is the name of a field that winnow writes itself", name)
		case slices.Contains(columns, name):
			return nil, payloadError("--payload: %q is named twice", name)
		}
		columns = append(columns, name)
	}
	return columns, nil
}

func payloadError(format string, args ...any) error { return PayloadError{fmt.Errorf(format, args...)} }
