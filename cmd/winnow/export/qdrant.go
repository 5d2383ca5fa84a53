package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/embedding"
	"winnow/extraction"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/search"
	"winnow/search/qdrant"
)

// qdrantKey is the variable that holds the key of a Qdrant server: an argument would stand in the list of processes.
const qdrantKey = "WINNOW_QDRANT_API_KEY"

var qdrantFlags = []cli.Flag{
	&cli.StringFlag{Name: "qdrant", Usage: "embeddings to the Qdrant server at `URL`, http(s)://HOST:6334 (its gRPC port)"},
	&cli.StringFlag{Name: "collection", DefaultText: "the folder's name", Usage: "with --qdrant, into collection `NAME`, which is made where it is not there"},
	&cli.StringFlag{Name: "payload", Value: "label,split", Usage: "with --qdrant, keep `COLUMN,...` of the manifest beside each vector, and index them; path, model and digest are always there"},
	&cli.IntFlag{Name: "batch", Value: 256, Usage: "with --qdrant, `N` points a request"},
	&cli.BoolFlag{Name: "recreate", Usage: "with --qdrant, delete the collection first (to go on after a break, leave this out)"},
	&cli.BoolFlag{Name: "on-disk", Usage: "with --qdrant, a new collection keeps its vectors on the server's disk, not in its memory"},
	&cli.StringFlag{Name: "qdrant-key-file", DefaultText: "the variable " + qdrantKey, Usage: "with --qdrant, read the server's API key from `FILE`"},
}

// Qdrant says where points go, and how.
type Qdrant struct {
	URL        string // "": nowhere
	Address    qdrant.Address
	Key        string
	Collection string // "": the folder's name
	Payload    string // columns of the manifest
	Chosen     bool   // Payload was asked for
	Batch      int
	Recreate   bool
	OnDisk     bool
}

// readQdrant reads what --qdrant asks for.
func readQdrant(c *cli.Context) (q Qdrant, err error) {
	q = Qdrant{URL: c.String("qdrant"), Collection: c.String("collection"), Payload: c.String("payload"), Chosen: c.IsSet("payload"), Batch: c.Int("batch"),
		Recreate: c.Bool("recreate"), OnDisk: c.Bool("on-disk")}
	if q.URL == "" {
		for _, name := range []string{"collection", "payload", "batch", "recreate", "on-disk", "qdrant-key-file"} {
			if c.IsSet(name) {
				return q, term.Misused("--%s belongs to --qdrant URL, which is missing", name)
			}
		}
		return q, nil
	}
	if q.Batch < 1 {
		return q, term.Misused("--batch: found %d, expected 1 point or more", q.Batch)
	}
	if q.Address, err = qdrant.ParseAddress(q.URL); err != nil {
		return q, term.AsMisuse(fmt.Errorf("--qdrant: %w", err))
	}
	q.Key, err = findKey(c.String("qdrant-key-file"))
	return q, err
}

// findKey reads the key from a file, or from the environment; "" where there is none.
func findKey(file string) (string, error) {
	key := os.Getenv(qdrantKey)
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

// dial prepares the connection; nil where none is asked for.
func (q Qdrant) dial(p *term.Program) (*qdrant.Server, error) {
	if q.URL == "" {
		return nil, nil
	}
	if q.Key != "" && !q.Address.TLS && !q.Address.Loopback() {
		p.Note("the key of the Qdrant server goes to %s unencrypted: use https:// where others can listen", q.Address)
	}
	return qdrant.Dial(q.Address, q.Key)
}

// sendRun sends the embeddings of a run's images.
func (q Qdrant) sendRun(ctx context.Context, p *term.Program, server *qdrant.Server, r *folder.Run, splits string) (*uploaded, error) {
	columns, err := q.columns(r.Manifest)
	if err != nil {
		return nil, err
	}
	points, model, err := embedding.RunPoints(ctx, r, splits, columns)
	if err != nil {
		return nil, err
	}
	return q.send(ctx, p, server, r.Dir, model, columns, points)
}

// sendGallery sends the vectors of an index or of a feature store.
func (o Options) sendGallery(ctx context.Context, p *term.Program) error {
	dir, q := o.Dir, o.Qdrant
	if files := o.targets(); len(files) > 0 {
		return term.Misused("--%s: %s is no run folder; of an index or a feature store only --qdrant is written", files[0].Flag, dir)
	}
	if len(o.given) > 0 {
		return term.Misused("--%s: %s is no run folder", o.given[0], dir)
	}
	server, err := q.dial(p)
	if err != nil {
		return err
	}
	defer server.Close()
	g, err := search.OpenGallery(dir)
	if err != nil {
		return hint.With(fmt.Errorf("export: %s: neither a run folder, nor an index, nor a feature store: %w", dir, err), "winnow train makes a run, winnow index an index")
	}
	defer g.Close()
	var manifest *datasets.Dataset
	var columns []string
	if o.Run.Manifest != "" {
		if manifest, err = datasets.Read(o.Run.Manifest, datasets.ReadOptions{}); err != nil {
			return err
		}
		if columns, err = q.columns(manifest); err != nil {
			return err
		}
	} else if q.Chosen {
		return term.Misused("--payload names columns of a manifest: name that with --manifest")
	}
	sent, err := q.send(ctx, p, server, dir, g.Model(), columns, embedding.GalleryPoints(g, manifest, columns))
	if err != nil {
		return err
	}
	return result{Run: dir, Qdrant: sent}.print(p, o.JSON)
}

// uploaded is what winnow export --json says of an upload.
type uploaded struct {
	URL string `json:"url"`
	qdrant.Result
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

func (u *uploaded) String() string {
	text := fmt.Sprintf("%s at %s: %d points of %d values, %d sent, %d there already", u.Collection, u.URL, u.Rows, u.Dim, u.Sent, u.Kept)
	if n := len(u.LeftOut); n > 0 {
		text += fmt.Sprintf(", %d unreadable images left out", n)
	}
	return text + fmt.Sprintf("\n            the collection holds %d points; %d read back and found equal", u.Points, u.Compared)
}

// send sends points and says in the user's words what is in the way.
func (q Qdrant) send(ctx context.Context, p *term.Program, server *qdrant.Server, dir, model string, columns []string, points embedding.Points) (*uploaded, error) {
	if q.Collection == "" {
		q.Collection = filepath.Base(extraction.Absolute(dir))
	}
	observe, end := p.Watch("points")
	defer end()
	r, err := qdrant.Upload(ctx, server, points, qdrant.Options{Collection: q.Collection, Model: model, Batch: q.Batch, Recreate: q.Recreate, OnDisk: q.OnDisk,
		Indexed: columns, Note: func(text string) { p.Note("%s", text) }, Observe: observe})
	if err != nil {
		return nil, q.advised(err)
	}
	left := append([]lookup.LeftOut{}, points.LeftOut()...)
	if len(left) > 0 {
		p.Note("%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
	}
	return &uploaded{URL: server.Address().String(), Result: r, LeftOut: left}, nil
}

// advised adds what to do about an error.
func (q Qdrant) advised(err error) error {
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
		return hint.With(err, "put the server's key into %s, or name a file with --qdrant-key-file", qdrantKey)
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
func (q Qdrant) columns(d *datasets.Dataset) (columns []string, err error) {
	if q.Payload == "" {
		return nil, nil
	}
	known := append([]string{"label", "split"}, d.Columns...)
	for name := range strings.SplitSeq(q.Payload, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			return nil, term.Misused("--payload: found %q, expected columns of the manifest: %s", name, strings.Join(known, ", "))
		case name == qdrant.PathField || name == qdrant.ModelField || name == qdrant.DigestField:
			return nil, term.Misused("--payload: %q is the name of a field that winnow writes itself", name)
		case slices.Contains(columns, name):
			return nil, term.Misused("--payload: %q stands there twice", name)
		}
		columns = append(columns, name)
	}
	return columns, nil
}
