package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imagelist"
	"winnow/embedding"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/search"
)

func searchCommand() *cli.Command {
	return &cli.Command{
		Name:      "search",
		Usage:     "find the images of an index, or of a feature store, that are most like others",
		ArgsUsage: "QUERY...",
		Description: "QUERY is the path of an image that the index holds (which then does not find itself), a .npy file of vectors, or\n" +
			"images as winnow embed takes them: these are embedded by the model that made the index. Similarity is the cosine;\n" +
			"the search is exact, ties go to the image that came first.\n\n" +
			"Every call reads the whole index: with 512 values an image it takes 0.1 s of a core among 100,000 images, 0.7 s among a\n" +
			"million and 4 s among four million (8 GB), and for a hundred queries at once 0.2, 2 and 10 s. Beyond some ten million\n" +
			"images, or for many calls a second among millions, an approximate index is the better tool: winnow export --qdrant.\n\n" +
			"   winnow search --index birds.index unknown.jpg\n" +
			"   winnow search --index birds.features --manifest birds.csv 07.jpg --k 5",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "index", Aliases: []string{"i"}, Required: true, Usage: "look in `DIR`, which winnow index or winnow extract wrote"},
			&cli.IntFlag{Name: "k", Value: 10, Usage: "the `K` most similar of each"},
			&cli.StringFlag{Name: "manifest", Usage: "show the labels that manifest `FILE` gives"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the index", Usage: "embed queries by a run folder or an ONNX `FILE`, where it moved"},
		}, embedFlags...),
		Action: searchRun,
	}
}

// searchResult is what winnow search --json prints.
type searchResult struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Queries []searchQuery    `json:"queries"`
	LeftOut []lookup.LeftOut `json:"left_out"` // queries that could not be read
}

type searchQuery struct {
	Query   string      `json:"query"`
	Label   string      `json:"label,omitempty"`
	Nearest []searchHit `json:"nearest"`

	vector []float32
	own    int // its row, -1 where it is none
}

type searchHit struct {
	Rank       int     `json:"rank"` // from 1
	Row        int     `json:"row"`  // from 0
	Path       string  `json:"path"`
	Label      string  `json:"label,omitempty"`
	Similarity float64 `json:"similarity"`
}

func searchRun(c *cli.Context) error {
	if err := checkEmbedFlags(c); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return misused("winnow search: found no query: name images, paths of the index, or a .npy file")
	}
	if c.Int("k") < 1 {
		return misused("--k: found %d, expected at least 1", c.Int("k"))
	}
	labels, err := labelsOf(c.String("manifest"))
	if err != nil {
		return err
	}
	s, err := openSearched(c.String("index"))
	if err != nil {
		return err
	}
	defer s.close()
	r := searchResult{Index: c.String("index"), Rows: s.Len(), Dim: s.Width(), LeftOut: []lookup.LeftOut{}}
	if r.Queries, r.LeftOut, err = s.queries(c); err != nil {
		return err
	}
	x, own := features.NewMatrix(len(r.Queries), s.Width()), make([]int, len(r.Queries))
	for i, q := range r.Queries {
		copy(features.Row(x, i), q.vector)
		own[i] = q.own
	}
	if len(r.Queries) >= manyQueries {
		if rt, err := openRuntime(c); err == nil { // without, the same is found more slowly
			defer rt.Close()
		}
	}
	found, err := search.Nearest(c.Context, s, x, c.Int("k"), own)
	if err != nil {
		return err
	}
	for i, list := range found {
		q := &r.Queries[i]
		q.Label, q.Nearest = labels[q.Query], []searchHit{}
		for j, hit := range list {
			path := s.paths[hit.Row]
			q.Nearest = append(q.Nearest, searchHit{j + 1, hit.Row, path, labels[path], hit.Similarity})
		}
	}
	for _, l := range r.LeftOut {
		note(c, "%s: %s", l.Path, l.Reason)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	return r.print(c.App.Writer)
}

// manyQueries are worth loading ONNX Runtime for, whose products are several times as fast.
const manyQueries = 8

// labelsOf are the labels of a manifest by path; "" has none.
func labelsOf(manifest string) (map[string]string, error) {
	labels := map[string]string{}
	if manifest == "" {
		return labels, nil
	}
	d, err := datasets.Read(manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	for _, s := range d.Samples {
		if s.Label != datasets.Unlabelled {
			labels[s.Path] = d.Classes[s.Label]
		}
	}
	return labels, nil
}

// searched is what is looked in.
type searched struct {
	search.Vectors
	paths  []string
	lookup func(path string) (int, bool)
	index  *search.Index   // nil: a store
	store  *features.Store // nil: an index
}

// openSearched opens an index or a feature store.
func openSearched(dir string) (*searched, error) {
	if search.Here(dir) {
		ix, err := search.Open(dir)
		if err != nil {
			return nil, err
		}
		if ix.Rows == 0 {
			return nil, withHint(fmt.Errorf("search: %s: the index holds no image", dir), "add some: winnow index IMAGES --out %s --add", dir)
		}
		return &searched{Vectors: ix, paths: ix.Paths, lookup: ix.Lookup, index: ix}, nil
	}
	store, err := features.Open(dir)
	if err != nil {
		return nil, withHint(err, "expected a folder that winnow index or winnow extract wrote")
	}
	return searchedStore(store, search.Stored{Store: store}), nil
}

// searchedStore looks among vectors of the rows of a store.
func searchedStore(store *features.Store, v search.Vectors) *searched {
	bad := store.BadRows()
	lookup := func(path string) (int, bool) {
		rows, _ := store.Lookup([]string{path})
		_, unreadable := bad[rows[0]]
		return rows[0], rows[0] >= 0 && !unreadable
	}
	return &searched{Vectors: v, paths: store.Paths, lookup: lookup, store: store}
}

func (s *searched) close() {
	if s.index != nil {
		s.index.Close()
	}
}

// queries reads what is asked for, in the order of the arguments.
func (s *searched) queries(c *cli.Context) (list []searchQuery, left []lookup.LeftOut, err error) {
	left = []lookup.LeftOut{}
	for i := 0; i < c.NArg(); {
		arg := c.Args().Get(i)
		if row, ok := s.lookup(arg); ok {
			x, absent, err := s.Block(row, 1)
			if err != nil {
				return nil, nil, err
			}
			if absent != nil {
				return nil, nil, fmt.Errorf("search: %s: its vector is all zeros: it is near nothing", arg)
			}
			list = append(list, searchQuery{Query: arg, own: row, vector: append([]float32(nil), features.Row(x, 0)...)})
			i++
			continue
		}
		if strings.EqualFold(filepath.Ext(arg), ".npy") {
			more, err := vectorQueries(arg, s.Width())
			if err != nil {
				return nil, nil, err
			}
			list = append(list, more...)
			i++
			continue
		}
		var args []string // images that stand together are embedded together
		for ; i < c.NArg(); i++ {
			next := c.Args().Get(i)
			if _, ok := s.lookup(next); ok || strings.EqualFold(filepath.Ext(next), ".npy") {
				break
			}
			args = append(args, next)
		}
		more, bad, err := s.embedQueries(c, args)
		if err != nil {
			return nil, nil, err
		}
		list, left = append(list, more...), append(left, bad...)
	}
	return list, left, nil
}

// vectorQueries reads the rows of a .npy file: one vector, or one a row.
func vectorQueries(file string, dim int) ([]searchQuery, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	a, err := features.ReadNPY(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("search: %s: %w", file, err)
	}
	if len(a.Shape) == 1 {
		a.Shape = []int{1, a.Shape[0]}
	}
	x, err := a.Matrix()
	if err != nil {
		return nil, fmt.Errorf("search: %s: %w", file, err)
	}
	if x.Cols != dim {
		return nil, fmt.Errorf("search: %s: vectors of %d values, expected %d", file, x.Cols, dim)
	}
	for i, v := range x.Data {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("search: %s: row %d: value %d is %v, expected a finite number", file, i/x.Cols, i%x.Cols, v)
		}
	}
	absent := search.UnitRows(x)
	list := make([]searchQuery, x.Rows)
	for i := range list {
		if absent != nil && absent[i] {
			return nil, fmt.Errorf("search: %s: row %d is all zeros: it is near nothing", file, i)
		}
		list[i] = searchQuery{Query: fmt.Sprintf("%s[%d]", file, i), own: -1, vector: features.Row(x, i)}
	}
	return list, nil
}

// embedQueries embeds images as those that are looked in were.
func (s *searched) embedQueries(c *cli.Context, args []string) (list []searchQuery, left []lookup.LeftOut, err error) {
	e, err := s.embedder(c)
	if err != nil {
		return nil, nil, err
	}
	images, err := imagelist.Open(args, c.String("root"), c.App.Reader)
	if err != nil {
		return nil, nil, err
	}
	net, err := openNetwork(c, e, false, true)
	if err != nil {
		return nil, nil, err
	}
	defer net.Close()
	if net.Dim() != s.Width() {
		return nil, nil, fmt.Errorf("search: %s embeds into %d values, expected %d", e.Source, net.Dim(), s.Width())
	}
	sink := &querySink{images: images.Images}
	if err := embedImages(c, e, net, images, images.Paths(), sink); err != nil {
		return nil, nil, err
	}
	for _, b := range sink.bad {
		left = append(left, lookup.LeftOut{Path: b.Path, Reason: b.Reason})
	}
	return sink.list, left, nil
}

// embedder is who made the vectors: as --model says, or found again. A picture that another version of the decoder reads
// is nearly the same one: that is told, not refused.
func (s *searched) embedder(c *cli.Context) (*embedding.Embedder, error) {
	if s.index != nil {
		source, was := s.index.Embedder.Source, s.index.Info
		if c.IsSet("model") {
			source = c.String("model")
		}
		was.Embedder.Decoder = decodes(c, s.index.Dir, was.Embedder)
		return embedderOf(c, s.index.Dir, source, &was)
	}
	b, err := backboneOf(s.store, c.String("model"))
	if err != nil {
		return nil, err
	}
	decodes(c, s.store.Dir, search.Embedder{Preprocessing: s.store.Key.Preprocessing, Decoder: s.store.Key.Decoder})
	return embedding.NewFromStore(b, s.store)
}

// decodes is what reads pictures today with the settings of an embedder.
func decodes(c *cli.Context, dir string, was search.Embedder) string {
	p, err := backbone.ParsePreprocessing(was.Preprocessing)
	if err != nil {
		return was.Decoder // which is told where the embedders are compared
	}
	now := p.DecoderVersion()
	if now != was.Decoder {
		note(c, "%s: another version of the decoder read its images (%q, today %q): similarities are a little off", dir, was.Decoder, now)
	}
	return now
}

// querySink collects the vectors of queries.
type querySink struct {
	images []imagelist.Image
	list   []searchQuery
	rows   int
	bad    []features.Bad
}

// Rows implements backbone.RowWriter.
func (s *querySink) Rows() int { return s.rows }

// Bad implements backbone.RowWriter.
func (s *querySink) Bad() []features.Bad { return s.bad }

// Flush implements backbone.RowWriter.
func (s *querySink) Flush() error { return nil }

// Append implements backbone.RowWriter.
func (s *querySink) Append(x blas32.General, bad []features.Bad) error {
	why := map[int]bool{}
	for _, b := range bad {
		why[b.Row] = true
	}
	for i := range x.Rows {
		if !why[s.rows] {
			list := append([]float32(nil), features.Row(x, i)...)
			if search.UnitRows(blas32.General{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: list}) != nil {
				s.bad = append(s.bad, features.Bad{Row: s.rows, Path: s.images[s.rows].Path, Reason: "its vector is all zeros: it is near nothing"})
			} else {
				s.list = append(s.list, searchQuery{Query: s.images[s.rows].Path, own: -1, vector: list})
			}
		}
		s.rows++
	}
	s.bad = append(s.bad, bad...)
	return nil
}

// print writes the result for people.
func (r searchResult) print(w io.Writer) error {
	for i, q := range r.Queries {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, strings.TrimSpace(q.Query+"  "+q.Label))
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, h := range q.Nearest {
			fmt.Fprintln(table, strings.TrimRight(fmt.Sprintf("%4d\t%.4f\t%s\t%s", h.Rank, h.Similarity, h.Path, h.Label), "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
