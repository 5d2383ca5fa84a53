package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/extraction"
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

// qdrantExport is what winnow export --json says of an upload.
type qdrantExport struct {
	URL string `json:"url"`
	qdrant.Result
	LeftOut []lookup.LeftOut `json:"left_out"` // unreadable images
}

func (q *qdrantExport) String() string {
	text := fmt.Sprintf("%s at %s: %d points of %d values, %d sent, %d there already", q.Collection, q.URL, q.Rows, q.Dim, q.Sent, q.Kept)
	if n := len(q.LeftOut); n > 0 {
		text += fmt.Sprintf(", %d unreadable images left out", n)
	}
	return text + fmt.Sprintf("\n            the collection holds %d points; %d read back and found equal", q.Points, q.Compared)
}

// dialQdrant prepares the connection that --qdrant asks for; nil where it asks for none.
func dialQdrant(c *cli.Context) (*qdrant.Server, error) {
	text := c.String("qdrant")
	if text == "" {
		for _, name := range []string{"collection", "payload", "batch", "recreate", "on-disk", "qdrant-key-file"} {
			if c.IsSet(name) {
				return nil, misused("--%s belongs to --qdrant URL, which is missing", name)
			}
		}
		return nil, nil
	}
	if c.Int("batch") < 1 {
		return nil, misused("--batch: found %d, expected 1 point or more", c.Int("batch"))
	}
	address, err := qdrant.ParseAddress(text)
	if err != nil {
		return nil, asMisuse(fmt.Errorf("--qdrant: %w", err))
	}
	key, err := readQdrantKey(c.String("qdrant-key-file"))
	if err != nil {
		return nil, err
	}
	if key != "" && !address.TLS && !address.Loopback() {
		note(c, "the key of the Qdrant server goes to %s unencrypted: use https:// where others can listen", address)
	}
	return qdrant.Dial(address, key)
}

// readQdrantKey reads the key from a file, or from the environment; "" where there is none.
func readQdrantKey(file string) (string, error) {
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

// isRun says whether a folder is a run's and not that of an index or a feature store.
func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, folder.ConfigFile))
	return err == nil
}

// exportToQdrant sends the embeddings of a run's images.
func exportToQdrant(c *cli.Context, server *qdrant.Server, r *openedRun) (*qdrantExport, error) {
	columns, err := payloadColumns(c, r.Manifest)
	if err != nil {
		return nil, err
	}
	at, err := chooseSplits(r.Manifest, c.String("split"))
	if err != nil {
		return nil, err
	}
	rows, ids, left, err := lookup.Rows(r.Manifest, r.Store, at, "")
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("export: none of the %d images of split %s could be read, the first is %q: %s", len(at), c.String("split"), left[0].Path, left[0].Reason)
	}
	model, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	if err != nil {
		return nil, err
	}
	source := &runPoints{ctx: c.Context, run: r, rows: rows, ids: ids, columns: columns, left: left}
	return upload(c, server, r.Dir, model, columns, source)
}

// exportIndex sends the vectors of an index or of a feature store.
func exportIndex(c *cli.Context, server *qdrant.Server, dir string, files []exportFile) error {
	if len(files) > 0 {
		return misused("--%s: %s is no run folder; of an index or a feature store only --qdrant is written", files[0].Flag, dir)
	}
	for _, name := range []string{"split", "model", "check", "last", "features", "view", "root"} {
		if c.IsSet(name) {
			return misused("--%s: %s is no run folder", name, dir)
		}
	}
	s, err := search.OpenGallery(dir)
	if err != nil {
		return withHint(fmt.Errorf("export: %s: neither a run folder, nor an index, nor a feature store: %w", dir, err), "winnow train makes a run, winnow index an index")
	}
	defer s.Close()
	source := &indexPoints{Gallery: s}
	var columns []string
	if file := c.String("manifest"); file != "" {
		if source.manifest, err = datasets.Read(file, datasets.ReadOptions{}); err != nil {
			return err
		}
		if columns, err = payloadColumns(c, source.manifest); err != nil {
			return err
		}
		source.named(columns)
	} else if c.IsSet("payload") {
		return misused("--payload names columns of a manifest: name that with --manifest")
	}
	q, err := upload(c, server, dir, s.Model(), columns, source)
	if err != nil {
		return err
	}
	return exportResult{Run: dir, Qdrant: q}.show(c)
}

// pointSource is a source that knows what it left out.
type pointSource interface {
	qdrant.Source
	leftOut() []lookup.LeftOut
}

// upload sends points and says in the user's words what is in the way.
func upload(c *cli.Context, server *qdrant.Server, dir, model string, columns []string, source pointSource) (*qdrantExport, error) {
	name := c.String("collection")
	if name == "" {
		name = filepath.Base(extraction.Absolute(dir))
	}
	o := qdrant.Options{Collection: name, Model: model, Batch: c.Int("batch"), Recreate: c.Bool("recreate"), OnDisk: c.Bool("on-disk"),
		Indexed: columns, Note: func(text string) { note(c, "%s", text) }}
	if !c.Bool("quiet") {
		line := newProgressLine(c.App.ErrWriter, "points", time.Now)
		defer line.End()
		o.Observe = func(done, total int) { line.At(done, total, 0, "") }
	}
	r, err := qdrant.Upload(c.Context, server, source, o)
	if err != nil {
		return nil, qdrantHint(c, err)
	}
	left := append([]lookup.LeftOut{}, source.leftOut()...)
	if len(left) > 0 {
		note(c, "%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
	}
	return &qdrantExport{URL: server.Address().String(), Result: r, LeftOut: left}, nil
}

// qdrantHint adds what to do.
func qdrantHint(c *cli.Context, err error) error {
	var request *qdrant.RequestError
	var other *qdrant.OtherCollection
	again := "the same command goes on with what is there"
	if c.Bool("recreate") {
		again = "the same command without --recreate goes on with what is there"
	}
	address, _ := qdrant.ParseAddress(c.String("qdrant"))
	switch {
	case errors.As(err, &other):
		return withHint(err, "name another --collection, or replace this one with --recreate")
	case errors.As(err, &request) && request.Refused():
		return withHint(err, "put the server's key into %s, or name a file with --qdrant-key-file", qdrantKey)
	case errors.As(err, &request) && request.NoAnswer() && address.Port == qdrant.RESTPort:
		return withHint(err, "port %d is Qdrant's REST interface; gRPC listens on 6334 unless it is set otherwise", qdrant.RESTPort)
	case errors.As(err, &request) && request.NoAnswer():
		return withHint(err, "is the server up, and is this its gRPC port? Then %s", again)
	case errors.As(err, &request):
		return withHint(err, "%s", again)
	}
	return err
}

// payloadColumns checks --payload against a manifest.
func payloadColumns(c *cli.Context, d *datasets.Dataset) (columns []string, err error) {
	if c.String("payload") == "" {
		return nil, nil
	}
	known := append([]string{"label", "split"}, d.Columns...)
	for name := range strings.SplitSeq(c.String("payload"), ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			return nil, misused("--payload: found %q, expected columns of the manifest: %s", name, strings.Join(known, ", "))
		case name == qdrant.PathField || name == qdrant.ModelField || name == qdrant.DigestField:
			return nil, misused("--payload: %q is the name of a field that winnow writes itself", name)
		case slices.Contains(columns, name):
			return nil, misused("--payload: %q stands there twice", name)
		}
		columns = append(columns, name)
	}
	return columns, nil
}
