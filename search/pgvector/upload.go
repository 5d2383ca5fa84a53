package pgvector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Point is an image's vector and what is known about the image. Payload holds none of winnow's own fields.
type Point struct {
	Path    string
	Vector  []float32
	Payload map[string]string
}

// Source yields points in order, some per call, and io.EOF after the last.
type Source interface {
	Len() int // an upper bound on the points that Next will give
	Width() int
	Next() ([]Point, error)
}

// Options are the settings of an upload.
type Options struct {
	Model    string   // sha256 of what made the vectors: a collection does not mix models
	Batch    int      // most points per request
	Recreate bool     // delete the collection first
	Columns  []string // the fields of the payloads
	Observe  func(done, total int)
	Note     func(text string) // receives notes for the user
}

// Result describes a finished upload.
type Result struct {
	Collection string `json:"collection"`
	Server     string `json:"server_version"`
	Rows       int    `json:"rows"`
	Dim        int    `json:"dim"`
	Sent       int    `json:"sent"`
	Kept       int    `json:"there_already"`
	Points     int    `json:"points_in_collection"`
	Created    bool   `json:"created"`
}

// requestBytes bounds the size of a request with long vectors.
const requestBytes = 8 << 20

// Upload writes the points of src into the table, and counts what has arrived.
func (s *Server) Upload(ctx context.Context, src Source, o Options) (r Result, err error) {
	switch {
	case s.table == "":
		return r, errors.New("pgvector: the collection has no name, expected one")
	case o.Batch < 1 || src.Len() < 1 || src.Width() < 1:
		return r, fmt.Errorf("pgvector: %d points of %d values, %d a request: expected at least one of each", src.Len(),
			src.Width(), o.Batch)
	}
	if o.Note != nil {
		s.note = o.Note
	}
	o.Batch = min(o.Batch, max(requestBytes/(4*src.Width()), 1))
	r = Result{Collection: s.table, Dim: src.Width()}
	if r.Server, err = s.Hello(ctx); err != nil {
		return r, err
	}
	empty := false
	if r.Created, empty, err = s.openTable(ctx, src.Width(), o); err != nil {
		return r, err
	}
	if err := s.sendAll(ctx, src, o, empty, &r); err != nil {
		return r, err
	}
	if r.Points, err = s.countRows(ctx); err != nil {
		return r, err
	}
	if r.Points < r.Rows {
		return r, fmt.Errorf("%s: found %d points at the end, expected %d", s, r.Points, r.Rows)
	}
	if more := r.Points - r.Rows; more > 0 {
		s.note(fmt.Sprintf("collection %s holds %d points that are not in this export: removed images, or another "+
			"export; --recreate begins anew", s.table, more))
	}
	return r, s.buildIndex(ctx)
}

// sendAll reads the source and sends its points in batches.
func (s *Server) sendAll(ctx context.Context, src Source, o Options, empty bool, r *Result) error {
	seen := map[string]bool{}
	for {
		points, end := src.Next()
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		for _, p := range points {
			if err := p.checkPoint(src.Width()); err != nil {
				return err
			}
			if seen[p.Path] {
				return fmt.Errorf("pgvector: %s: appears twice, expected once: the path identifies a point", p.Path)
			}
			seen[p.Path] = true
		}
		for b := range slices.Chunk(points, o.Batch) {
			missing, err := s.findMissing(ctx, b, o.Model, empty)
			if err == nil && len(missing) > 0 {
				err = s.putPoints(ctx, missing)
			}
			if err != nil {
				return err
			}
			r.Rows, r.Sent, r.Kept = r.Rows+len(b), r.Sent+len(missing), r.Kept+len(b)-len(missing)
			if o.Observe != nil {
				o.Observe(r.Rows, src.Len())
			}
		}
		if end != nil {
			break
		}
	}
	if r.Rows < 1 || r.Rows > src.Len() {
		return fmt.Errorf("pgvector: the source gave %d points, expected 1 to %d", r.Rows, src.Len())
	}
	return nil
}

// findMissing returns the points of a batch that the server lacks or holds with other content.
func (s *Server) findMissing(ctx context.Context, b []Point, model string, empty bool) (list []Point, err error) {
	if empty {
		return b, nil
	}
	paths, found := make([]string, len(b)), map[string]string{}
	for i, p := range b {
		paths[i] = p.Path
	}
	err = s.tryRequest(ctx, fmt.Sprintf("table %s: reading %d digests", s.table, len(b)), pointsTime,
		func(ctx context.Context) error {
			rows, err := s.conn.Query(ctx, "SELECT path, digest FROM "+s.quoteTable()+
				" WHERE path = ANY($1::text[])", paths)
			if err != nil {
				return err
			}
			var path, digest string
			_, err = pgx.ForEachRow(rows, []any{&path, &digest}, func() error {
				found[path] = digest
				return nil
			})
			return err
		})
	for _, p := range b {
		if found[p.Path] != digestPoint(p, model) {
			list = append(list, p)
		}
	}
	return list, err
}

// putPoints writes points and replaces those of the same paths, in one statement and one transaction.
func (s *Server) putPoints(ctx context.Context, points []Point) error {
	columns := s.options.Columns
	paths, digests, vectors := make([]string, len(points)), make([]string, len(points)), make([]string, len(points))
	texts := make([][]*string, len(columns))
	for j := range columns {
		texts[j] = make([]*string, len(points))
	}
	for i, p := range points {
		paths[i], digests[i], vectors[i] = p.Path, digestPoint(p, s.options.Model), formatVector(p.Vector)
		for j, name := range columns {
			if text, has := p.Payload[name]; has {
				texts[j][i] = &text
			}
		}
	}
	args := []any{s.options.Model, paths, digests, vectors}
	var arrays, names, sets strings.Builder
	for j, name := range columns {
		fmt.Fprintf(&arrays, ", $%d::text[]", len(args)+1)
		fmt.Fprintf(&names, ", x%d", j)
		fmt.Fprintf(&sets, ", %[1]s = excluded.%[1]s", pgx.Identifier{name}.Sanitize())
		args = append(args, texts[j])
	}
	return s.execute(ctx, fmt.Sprintf("table %s: %d rows from %s", s.table, len(points), paths[0]),
		"INSERT INTO "+s.quoteTable()+" (model, path, digest, embedding"+quoteColumns(columns)+
			") SELECT $1::text, p, d, v::vector"+names.String()+" FROM unnest($2::text[], $3::text[], $4::text[]"+
			arrays.String()+") AS given(p, d, v"+names.String()+") ON CONFLICT (path) DO UPDATE SET "+
			"model = excluded.model, digest = excluded.digest, embedding = excluded.embedding"+sets.String(), args...)
}

// digestPoint returns a digest of everything stored for a point: the first half of a sha256, in hex.
func digestPoint(p Point, model string) string {
	h := sha256.New()
	for _, text := range []string{model, p.Path, formatVector(p.Vector)} {
		fmt.Fprintf(h, "%d %s", len(text), text)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Payload)) {
		fmt.Fprintf(h, "%d %s%d %s", len(name), name, len(p.Payload[name]), p.Payload[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// checkPoint rejects points that a server would reject, or would store but never find.
func (p Point) checkPoint(dim int) error {
	if p.Path == "" || !isText(p.Path) {
		return fmt.Errorf("pgvector: %q: expected a path of UTF-8 text: it identifies the point", p.Path)
	}
	for name, value := range p.Payload {
		if !isText(name) || !isText(value) || len(name) > maxName ||
			slices.Contains([]string{PathField, ModelField, DigestField, vectorField}, name) {
			return fmt.Errorf("pgvector: %s: the field %.70q of its payload, %.80q, cannot be stored: expected UTF-8 "+
				"text under a name of at most %d bytes, other than winnow's own", p.Path, name, value, maxName)
		}
	}
	if len(p.Vector) != dim {
		return fmt.Errorf("pgvector: %s: %d values, expected %d", p.Path, len(p.Vector), dim)
	}
	zero := true
	for i, v := range p.Vector {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("pgvector: %s: value %d is %v, expected a finite number", p.Path, i, v)
		}
		zero = zero && v == 0
	}
	if zero {
		return fmt.Errorf("pgvector: %s: the vector is all zeros: it has no direction and would be near nothing",
			p.Path)
	}
	return nil
}

// isText reports whether databases accept a string as text. PostgreSQL rejects NUL.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
