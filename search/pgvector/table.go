package pgvector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// pgvector's limits on dimensions.
const (
	maxDim  = 16000
	maxHNSW = 2000
	maxHalf = 4000 // of a halfvec
)

// table describes the columns of an existing table.
type table struct {
	oid     uint32
	dim     int            // of the vectors; -1: any
	place   map[string]int // of the columns
	types   map[string]string
	columns []string // text columns other than winnow's own
}

// fillStatement fills in a statement: $table, $column (of the vectors), $vector and $halfvec (the types), <> (the
// metric's operator) and <=> (the cosine operator).
func (s *Server) fillStatement(statement string) string {
	name := pgx.Identifier{s.table}
	if s.address.Schema != "" {
		name = pgx.Identifier{s.address.Schema, s.table}
	}
	operator := func(o string) string { return "OPERATOR(" + s.ext.schema + "." + o + ")" }
	return strings.NewReplacer("$table", name.Sanitize(), "$column", pgx.Identifier{s.address.Column}.Sanitize(),
		"$vector", s.ext.schema+".vector", "$halfvec", s.ext.schema+".halfvec", "<=>", operator("<=>"), "<>",
		operator(s.address.Metric.operator)).Replace(statement)
}

// openTable makes the table, or checks that the existing one can hold the points. empty reports that it has no rows.
func (s *Server) openTable(ctx context.Context, dim int, o Options) (created, empty bool, err error) {
	s.options = o
	if dim > maxDim {
		return false, false, fmt.Errorf("%s: vectors of %d values, expected %d at most, which pgvector can store", s,
			dim, maxDim)
	}
	for _, name := range o.Columns {
		if len(name) > maxName || name == s.address.Column {
			return false, false, s.otherTable(
				"the field %.70q cannot be a column: expected at most %d bytes and a name "+
					"other than that of the vector column",
				name,
				maxName,
			)
		}
	}
	if err := s.describeTable(ctx); err != nil {
		return false, false, err
	}
	if s.there != nil {
		if err := s.checkOwned(); err != nil {
			return false, false, err
		}
		if !o.Recreate {
			empty, err := s.adoptTable(ctx, dim)
			return false, empty, err
		}
	}
	columns := ""
	for _, name := range o.Columns {
		columns += ", " + pgx.Identifier{name}.Sanitize() + " text"
	}
	err = s.tryRequest(ctx, "making table "+s.table, tableTime, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
			if o.Recreate {
				if _, err := tx.Exec(ctx, s.fillStatement("DROP TABLE IF EXISTS $table")); err != nil {
					return err
				}
			}
			// If the answer to an earlier try was lost, the table exists already.
			_, err := tx.Exec(
				ctx,
				s.fillStatement(fmt.Sprintf("CREATE TABLE IF NOT EXISTS $table (path text PRIMARY KEY, "+
					"model text NOT NULL, digest text NOT NULL, $column $vector(%d) NOT NULL", dim))+columns+")",
			)
			return err
		})
	})
	if err != nil {
		return false, false, err
	}
	return true, true, s.describeTable(ctx)
}

// describeTable reads the table's description.
func (s *Server) describeTable(ctx context.Context) error {
	return s.tryRequest(ctx, "looking for table "+s.table, pointsTime, func(ctx context.Context) error {
		s.there = nil
		t := &table{dim: -1, place: map[string]int{}, types: map[string]string{}}
		var oid *uint32
		if err := s.conn.QueryRow(ctx, "SELECT to_regclass($1)::oid",
			s.fillStatement("$table")).Scan(&oid); err != nil ||
			oid == nil {
			return err
		}
		t.oid = *oid
		rows, err := s.conn.Query(ctx, `SELECT a.attname, a.attnum::int4, t.typname, a.atttypmod
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
			WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, t.oid)
		if err != nil {
			return err
		}
		var name, kind string
		var place, modifier int
		_, err = pgx.ForEachRow(rows, []any{&name, &place, &kind, &modifier}, func() error {
			t.place[name], t.types[name] = place, kind
			switch {
			case name == s.address.Column:
				t.dim = modifier
			case name == PathField || name == ModelField || name == DigestField:
			case kind == "text" || kind == "varchar":
				t.columns = append(t.columns, name)
			}
			return nil
		})
		if err == nil {
			s.there = t
		}
		return err
	})
}

// checkOwned returns an error if winnow did not write the table. Such a table is neither written nor dropped.
func (s *Server) checkOwned() error {
	for _, name := range []string{PathField, ModelField, DigestField, s.address.Column} {
		want := "text"
		if name == s.address.Column {
			want = "vector"
		}
		if found := s.there.types[name]; found != want {
			return &OtherCollection{Store: s.String(),
				Why: fmt.Sprintf("found %s as column %s, expected %s: winnow did not write this table",
					cmp.Or(found, "nothing"), name, want)}
		}
	}
	return nil
}

func (s *Server) otherTable(why string, args ...any) error {
	return &OtherCollection{Store: s.String(), Why: fmt.Sprintf(why, args...)}
}

// adoptTable checks that a table can hold the points, and adds the columns that it lacks.
func (s *Server) adoptTable(ctx context.Context, dim int) (empty bool, err error) {
	if s.there.dim != dim && s.there.dim != -1 {
		return false, s.otherTable("found vectors of %d values, expected %d", s.there.dim, dim)
	}
	model, some, err := s.readTableModel(ctx)
	if err != nil {
		return false, err
	}
	if some && model != s.options.Model {
		return false, s.otherTable("found vectors made by %.12s, expected by %.12s", model, s.options.Model)
	}
	for _, name := range s.options.Columns {
		found, there := s.there.types[name]
		switch {
		case there && found != "text" && found != "varchar":
			return false, s.otherTable("found %s as column %s, expected text", found, name)
		case there:
			continue
		}
		if err := s.tryRequest(ctx, fmt.Sprintf("adding column %s to table %s", name, s.table), tableTime,
			func(ctx context.Context) error {
				_, err := s.conn.Exec(ctx,
					s.fillStatement("ALTER TABLE $table ADD COLUMN IF NOT EXISTS ")+
						pgx.Identifier{name}.Sanitize()+" text")
				return err
			}); err != nil {
			return false, err
		}
	}
	return !some, s.describeTable(ctx)
}

// readTableModel reads the model of one row: a table holds vectors of one model only.
func (s *Server) readTableModel(ctx context.Context) (model string, some bool, err error) {
	err = s.tryRequest(ctx, "looking into table "+s.table, pointsTime, func(ctx context.Context) error {
		err := s.conn.QueryRow(ctx, s.fillStatement("SELECT model FROM $table LIMIT 1")).Scan(&model)
		if some = err == nil; errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return err
	})
	return model, some, err
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
	if err := s.checkOwned(); err != nil {
		return a, err
	}
	a.Dim = s.there.dim
	if a.Model, _, err = s.readTableModel(ctx); err != nil {
		return a, err
	}
	a.Points, err = s.Count(ctx)
	return a, err
}

// usesHalf reports whether the index is on halfvec.
func (t *table) usesHalf() bool { return t.dim > maxHNSW }

// buildIndex builds the HNSW index if there is none.
func (s *Server) buildIndex(ctx context.Context) error {
	build := s.address.Build
	if build.Never {
		return nil
	}
	if s.there.dim > maxHalf || s.there.dim < 0 {
		s.tries.Note("table %s gets no index: pgvector indexes vectors of at most %d values, or %d as halfvec; "+
			"searches are exact and read every row", s.table, maxHNSW, maxHalf)
		return nil
	}
	what, class := "$column", s.ext.schema+".vector_"+s.address.Metric.class
	if s.there.usesHalf() {
		s.tries.Note("vectors of %d values: pgvector indexes at most %d, so the index uses halfvec (16 bits a "+
			"value); the column keeps float32", s.there.dim, maxHNSW)
		what, class = fmt.Sprintf("($column::$halfvec(%d))", s.there.dim),
			s.ext.schema+".halfvec_"+s.address.Metric.class
	}
	name := s.table
	const suffix = "_hnsw"
	for len(name) > maxName-len(suffix) { // whole characters
		r := []rune(name)
		name = string(r[:len(r)-1])
	}
	statement := s.fillStatement(
		fmt.Sprintf(
			"CREATE INDEX IF NOT EXISTS %s ON $table USING hnsw (%s %s) WITH (m = %d, "+
				"ef_construction = %d)",
			pgx.Identifier{
				name + suffix,
			}.Sanitize(),
			what,
			class,
			cmp.Or(build.Edges, 16),
			cmp.Or(build.Candidates, 64),
		),
	)
	return s.tryRequest(ctx, "building the index of table "+s.table, 0, func(ctx context.Context) error {
		if there, err := s.hasIndex(ctx); err != nil || there {
			return err
		}
		s.told = true // of too little memory, for one
		_, err := s.conn.Exec(ctx, statement)
		s.told = false
		if err != nil {
			return err
		}
		if there, err := s.hasIndex(ctx); err != nil || there {
			return err
		}
		return fmt.Errorf("another index is named %s", name+suffix)
	})
}

// hasIndex reports whether the vectors have an HNSW index of the metric.
func (s *Server) hasIndex(ctx context.Context) (there bool, err error) {
	class := "vector_" + s.address.Metric.class
	if s.there.usesHalf() {
		class = "halfvec_" + s.address.Metric.class
	}
	err = s.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
		JOIN pg_opclass o ON o.oid = i.indclass[0]
		WHERE i.indrelid = $1 AND m.amname = 'hnsw' AND o.opcname = $2 AND i.indisvalid
			AND (i.indkey[0] = $3::int4 OR i.indexprs IS NOT NULL))`,
		s.there.oid, class, s.there.place[s.address.Column]).Scan(&there)
	return there, err
}
