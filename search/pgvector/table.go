package pgvector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The columns that winnow writes itself, besides that of the vectors.
const (
	PathField   = "path"
	ModelField  = "model"
	DigestField = "digest"
	vectorField = "embedding"
)

// pgvector's limits on dimensions.
const (
	maxDim  = 16000
	maxHNSW = 2000
)

// table describes an existing table.
type table struct {
	dim     int               // of the vectors; -1: any
	types   map[string]string // of the columns
	columns []string          // text columns other than winnow's own
}

// OtherCollection says why a collection cannot hold the points.
type OtherCollection struct{ Store, Why string }

// Error implements error.
func (e *OtherCollection) Error() string { return e.Store + ": " + e.Why }

func (s *Server) otherTable(why string, args ...any) error {
	return &OtherCollection{Store: s.String(), Why: fmt.Sprintf(why, args...)}
}

// quoteTable returns the table's name in a statement.
func (s *Server) quoteTable() string { return pgx.Identifier{s.table}.Sanitize() }

// execute runs a statement.
func (s *Server) execute(ctx context.Context, what, statement string, args ...any) error {
	return s.tryRequest(ctx, what, tableTime, func(ctx context.Context) error {
		_, err := s.conn.Exec(ctx, statement, args...)
		return err
	})
}

// openTable makes the table, or checks that the existing one can hold the points. empty reports that it has no rows.
func (s *Server) openTable(ctx context.Context, dim int, o Options) (created, empty bool, err error) {
	s.options = o
	if dim > maxDim {
		return false, false, fmt.Errorf("%s: vectors of %d values, expected %d at most, which pgvector can store", s,
			dim, maxDim)
	}
	if err := s.describeTable(ctx); err != nil {
		return false, false, err
	}
	if s.there != nil && !o.Recreate {
		empty, err := s.adoptTable(ctx, dim)
		return false, empty, err
	}
	if s.there != nil {
		if err := s.execute(ctx, "deleting table "+s.table, "DROP TABLE IF EXISTS "+s.quoteTable()); err != nil {
			return false, false, err
		}
	}
	columns := ""
	for _, name := range o.Columns {
		columns += ", " + pgx.Identifier{name}.Sanitize() + " text"
	}
	if err := s.execute(ctx, "making table "+s.table, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (path text PRIMARY "+
		"KEY, model text NOT NULL, digest text NOT NULL, embedding vector(%d) NOT NULL%s)", s.quoteTable(), dim,
		columns)); err != nil {
		return false, false, err
	}
	return true, true, s.describeTable(ctx)
}

// describeTable reads the table's description. It returns an error if winnow did not write the table: such a table is
// neither written nor dropped.
func (s *Server) describeTable(ctx context.Context) error {
	err := s.tryRequest(ctx, "looking for table "+s.table, pointsTime, func(ctx context.Context) error {
		s.there = nil
		t := &table{dim: -1, types: map[string]string{}}
		rows, err := s.conn.Query(ctx, `SELECT a.attname, t.typname, a.atttypmod
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
			WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
			s.quoteTable())
		if err != nil {
			return err
		}
		var name, kind string
		var modifier int
		_, err = pgx.ForEachRow(rows, []any{&name, &kind, &modifier}, func() error {
			t.types[name] = kind
			switch {
			case name == vectorField:
				t.dim = modifier
			case name == PathField || name == ModelField || name == DigestField:
			case kind == "text" || kind == "varchar":
				t.columns = append(t.columns, name)
			}
			return nil
		})
		if err == nil && len(t.types) > 0 {
			s.there = t
		}
		return err
	})
	if err != nil || s.there == nil {
		return err
	}
	for name, want := range map[string]string{PathField: "text", ModelField: "text", DigestField: "text",
		vectorField: "vector"} {
		if found := s.there.types[name]; found != want {
			return s.otherTable("found %s as column %s, expected %s: winnow did not write this table",
				cmp.Or(found, "nothing"), name, want)
		}
	}
	return nil
}

// adoptTable checks that a table can hold the points, and adds the columns that it lacks.
func (s *Server) adoptTable(ctx context.Context, dim int) (empty bool, err error) {
	if s.there.dim != dim && s.there.dim != -1 {
		return false, s.otherTable("found vectors of %d values, expected %d", s.there.dim, dim)
	}
	model, err := s.readTableModel(ctx)
	if err == nil && model != "" && model != s.options.Model {
		err = s.otherTable("found vectors made by %.12s, expected by %.12s", model, s.options.Model)
	}
	if err != nil {
		return false, err
	}
	for _, name := range s.options.Columns {
		switch found, there := s.there.types[name]; {
		case there && found != "text" && found != "varchar":
			return false, s.otherTable("found %s as column %s, expected text", found, name)
		case !there:
			if err := s.execute(ctx, "adding a column to table "+s.table, "ALTER TABLE "+s.quoteTable()+
				" ADD COLUMN IF NOT EXISTS "+pgx.Identifier{name}.Sanitize()+" text"); err != nil {
				return false, err
			}
		}
	}
	return model == "", s.describeTable(ctx)
}

// readTableModel reads the model of one row, "" if there is none: a table holds vectors of one model only.
func (s *Server) readTableModel(ctx context.Context) (model string, err error) {
	err = s.tryRequest(ctx, "reading table "+s.table, pointsTime, func(ctx context.Context) error {
		err := s.conn.QueryRow(ctx, "SELECT model FROM "+s.quoteTable()+" LIMIT 1").Scan(&model)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return model, err
}

// About describes a collection.
type About struct {
	Server string // the server's version
	Model  string // the model that made the vectors
	Dim    int
	Points int
}

// Look describes an existing table.
func (s *Server) Look(ctx context.Context) (a About, err error) {
	if a.Server, err = s.Hello(ctx); err != nil {
		return a, err
	}
	if err := s.describeTable(ctx); err != nil {
		return a, err
	}
	if s.there == nil {
		return a, s.otherTable("found none of that name, expected one that winnow export --to wrote")
	}
	a.Dim = s.there.dim
	if a.Model, err = s.readTableModel(ctx); err != nil {
		return a, err
	}
	a.Points, err = s.countRows(ctx)
	return a, err
}

// countRows returns the number of rows.
func (s *Server) countRows(ctx context.Context) (n int, err error) {
	err = s.tryRequest(ctx, "counting the rows of table "+s.table, tableTime, func(ctx context.Context) error {
		return s.conn.QueryRow(ctx, "SELECT count(*) FROM "+s.quoteTable()).Scan(&n)
	})
	return n, err
}

// buildIndex builds the HNSW index if there is none.
func (s *Server) buildIndex(ctx context.Context) error {
	if s.there.dim > maxHNSW || s.there.dim < 0 {
		s.note(fmt.Sprintf("table %s gets no index: pgvector indexes vectors of at most %d values; searches read "+
			"every row", s.table, maxHNSW))
		return nil
	}
	const suffix = "_hnsw"
	name := strings.ToValidUTF8(s.table[:min(len(s.table), maxName-len(suffix))], "") + suffix
	return s.tryRequest(ctx, "building the index of table "+s.table, 0, func(ctx context.Context) error {
		_, err := s.conn.Exec(ctx, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s USING hnsw (embedding "+
			"vector_cosine_ops)", pgx.Identifier{name}.Sanitize(), s.quoteTable()))
		return err
	})
}

// formatVector writes a vector as pgvector reads it. Numbers keep all their bits.
func formatVector(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// quoteColumns lists columns, each preceded by a comma.
func quoteColumns(columns []string) string {
	list := ""
	for _, name := range columns {
		list += ", " + pgx.Identifier{name}.Sanitize()
	}
	return list
}

// scanTargets returns the scan targets of a row: those in first, then a text or nil for each column, and a function
// that collects those that are not nil.
func scanTargets(columns []string, first ...any) (into []any, payload func() map[string]string) {
	values := make([]*string, len(columns))
	for i := range values {
		first = append(first, &values[i])
	}
	return first, func() map[string]string {
		fields := map[string]string{}
		for i, name := range columns {
			if values[i] != nil {
				fields[name] = *values[i]
			}
		}
		return fields
	}
}

// Fetch returns the points that exist, by path.
func (s *Server) Fetch(ctx context.Context, paths []string) (found map[string]Point, err error) {
	columns := s.there.columns
	err = s.tryRequest(ctx, fmt.Sprintf("table %s: reading %d rows", s.table, len(paths)), pointsTime,
		func(ctx context.Context) error {
			found = map[string]Point{}
			rows, err := s.conn.Query(ctx, "SELECT path, embedding::text"+quoteColumns(columns)+" FROM "+s.quoteTable()+
				" WHERE path = ANY($1::text[])", paths)
			if err != nil {
				return err
			}
			var path, numbers string
			into, payload := scanTargets(columns, &path, &numbers)
			_, err = pgx.ForEachRow(rows, into, func() error {
				p := Point{Path: path, Payload: payload()}
				err := json.Unmarshal([]byte(numbers), &p.Vector)
				found[path] = p
				return err
			})
			return err
		})
	return found, err
}

// Hit is a point found and its cosine with the query.
type Hit struct {
	Path       string
	Payload    map[string]string
	Similarity float64
}

// maxSeen is the largest ef_search: an index returns at most this many rows.
const maxSeen = 1000

// Nearest finds the k points most similar to a unit vector, best first, by the index if there is one. If the index
// returns fewer than k rows, or k exceeds maxSeen, all rows are compared.
func (s *Server) Nearest(ctx context.Context, v []float32, k int) (hits []Hit, err error) {
	err = s.tryRequest(ctx, "searching table "+s.table, tableTime, func(ctx context.Context) (err error) {
		if k <= maxSeen {
			hits, err = s.nearestHits(ctx, v, k, "hnsw.ef_search", strconv.Itoa(max(k, 40)))
		}
		if err == nil && len(hits) < k {
			hits, err = s.nearestHits(ctx, v, k, "enable_indexscan", "off")
		}
		return err
	})
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return hits, err
}

// nearestHits searches under a setting of the server.
func (s *Server) nearestHits(ctx context.Context, v []float32, k int, setting, value string) (hits []Hit, err error) {
	err = pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config($1, $2, true)", setting, value); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "SELECT path, 1 - (embedding <=> $1::text::vector)"+quoteColumns(s.there.columns)+
			" FROM "+s.quoteTable()+" ORDER BY embedding <=> $1::text::vector LIMIT $2", formatVector(v), k)
		if err != nil {
			return err
		}
		var h Hit
		into, payload := scanTargets(s.there.columns, &h.Path, &h.Similarity)
		_, err = pgx.ForEachRow(rows, into, func() error {
			hits = append(hits, Hit{Path: h.Path, Payload: payload(), Similarity: h.Similarity})
			return nil
		})
		return err
	})
	return hits, err
}
