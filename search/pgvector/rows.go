package pgvector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// quoteColumns lists columns, each preceded by a comma.
func quoteColumns(columns []string) string {
	list := ""
	for _, name := range columns {
		list += ", " + pgx.Identifier{name}.Sanitize()
	}
	return list
}

// collectPayload collects the values of columns, without those that are nil.
func collectPayload(columns []string, values []*string) map[string]string {
	fields := map[string]string{}
	for i, name := range columns {
		if values[i] != nil {
			fields[name] = *values[i]
		}
	}
	return fields
}

// putPoints writes points and replaces those of the same paths, in one statement and one transaction.
func (s *Server) putPoints(ctx context.Context, points []Stored) error {
	columns := s.options.Columns
	paths, digests, vectors := make([]string, len(points)), make([]string, len(points)), make([]vector, len(points))
	texts := make([][]*string, len(columns))
	for j := range columns {
		texts[j] = make([]*string, len(points))
	}
	for i, p := range points {
		paths[i], digests[i], vectors[i] = p.Path, p.Digest, p.Vector
		for j, name := range columns {
			if text, has := p.Payload[name]; has {
				texts[j][i] = &text
			}
		}
	}
	args := []any{points[0].Model, paths, digests, vectors}
	var arrays, names, sets strings.Builder
	for j, name := range columns {
		fmt.Fprintf(&arrays, ", $%d::text[]", len(args)+1)
		fmt.Fprintf(&names, ", x%d", j)
		fmt.Fprintf(&sets, ", %[1]s = excluded.%[1]s", pgx.Identifier{name}.Sanitize())
		args = append(args, texts[j])
	}
	statement := s.fillStatement("INSERT INTO $table (model, path, digest, $column") + quoteColumns(columns) +
		") SELECT $1::text, p, d, v" + names.String() +
		s.fillStatement(" FROM unnest($2::text[], $3::text[], $4::$vector[]") + arrays.String() +
		") AS given(p, d, v" + names.String() +
		s.fillStatement(") ON CONFLICT (path) DO UPDATE SET model = excluded.model, digest = excluded.digest, "+
			"$column = excluded.$column") + sets.String()
	return s.tryRequest(ctx, fmt.Sprintf("table %s: %d rows from %s", s.table, len(points), points[0].Path),
		pointsTime, func(ctx context.Context) error {
			_, err := s.conn.Exec(ctx, statement, args...)
			return err
		})
}

// readDigests returns the digests of the rows that exist, by path.
func (s *Server) readDigests(ctx context.Context, paths []string) (found map[string]string, err error) {
	err = s.tryRequest(
		ctx,
		fmt.Sprintf("table %s: looking for %d rows from %s", s.table, len(paths), paths[0]),
		pointsTime,
		func(ctx context.Context) error {
			found = map[string]string{}
			rows, err := s.conn.Query(
				ctx,
				s.fillStatement("SELECT path, digest FROM $table WHERE path = ANY($1::text[])"),
				paths,
			)
			if err != nil {
				return err
			}
			var path, digest string
			_, err = pgx.ForEachRow(rows, []any{&path, &digest}, func() error {
				found[path] = digest
				return nil
			})
			return err
		},
	)
	return found, err
}

// Fetch returns the points that exist, by path.
func (s *Server) Fetch(ctx context.Context, paths []string) (found map[string]Stored, err error) {
	columns := s.there.columns
	err = s.tryRequest(ctx, fmt.Sprintf("table %s: reading %d rows back", s.table, len(paths)), pointsTime,
		func(ctx context.Context) error {
			found = map[string]Stored{}
			rows, err := s.conn.Query(ctx, s.fillStatement("SELECT path, model, digest, $column")+quoteColumns(columns)+
				s.fillStatement(" FROM $table WHERE path = ANY($1::text[])"), paths)
			if err != nil {
				return err
			}
			var p Stored
			var v vector
			into, values := scanTargets(columns, &p.Path, &p.Model, &p.Digest, &v)
			_, err = pgx.ForEachRow(rows, into, func() error {
				p.Vector, p.Payload = v, collectPayload(columns, values)
				found[p.Path] = p
				return nil
			})
			return err
		})
	return found, err
}

// scanTargets returns the scan targets of a row: those in first, then a text or nil for each column.
func scanTargets(columns []string, first ...any) (into []any, values []*string) {
	values = make([]*string, len(columns))
	for i := range values {
		first = append(first, &values[i])
	}
	return first, values
}

// pathsAtOnce is how many paths one request lists.
const pathsAtOnce = 10000

// listPaths lists the table in portions. It starts at "" and continues at next, until next is "".
func (s *Server) listPaths(ctx context.Context, from string) (paths []string, next string, err error) {
	err = s.tryRequest(ctx, "listing table "+s.table, tableTime, func(ctx context.Context) error {
		rows, err := s.conn.Query(
			ctx,
			s.fillStatement("SELECT path FROM $table WHERE path > $1 ORDER BY path LIMIT $2"),
			from,
			pathsAtOnce,
		)
		if err != nil {
			return err
		}
		paths, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if len(paths) == pathsAtOnce {
		next = paths[len(paths)-1]
	}
	return paths, next, err
}

// deleteRows deletes the rows of paths.
func (s *Server) deleteRows(ctx context.Context, paths []string) error {
	return s.tryRequest(ctx, fmt.Sprintf("deleting %d rows of table %s", len(paths), s.table), pointsTime,
		func(ctx context.Context) error {
			_, err := s.conn.Exec(ctx, s.fillStatement("DELETE FROM $table WHERE path = ANY($1::text[])"), paths)
			return err
		})
}

// Count returns the number of rows.
func (s *Server) Count(ctx context.Context) (n int, err error) {
	err = s.tryRequest(ctx, "counting the rows of table "+s.table, tableTime, func(ctx context.Context) error {
		return s.conn.QueryRow(ctx, s.fillStatement("SELECT count(*) FROM $table")).Scan(&n)
	})
	return n, err
}

// maxSeen is the largest ef_search: an index returns at most this many rows.
const maxSeen = 1000

// Nearest finds the k points most similar to a unit vector, best first, by the index if there is one. If the index
// returns fewer than k rows, or k exceeds maxSeen, all rows are compared.
func (s *Server) Nearest(ctx context.Context, v []float32, k int) (hits []Hit, err error) {
	candidates := k
	if s.there.usesHalf() {
		candidates = 2 * k // 16-bit numbers may swap near neighbours
	}
	err = s.tryRequest(ctx, "searching table "+s.table, tableTime, func(ctx context.Context) error {
		exact := candidates > maxSeen
		hits, err = s.nearestHits(ctx, v, candidates, exact)
		if err == nil && len(hits) < k && !exact {
			hits, err = s.nearestHits(ctx, v, candidates, true)
		}
		return err
	})
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return hits[:min(k, len(hits))], err
}

func (s *Server) nearestHits(ctx context.Context, v vector, n int, exact bool) (hits []Hit, err error) {
	columns, by := s.there.columns, "$column <> $1::$vector"
	if s.there.usesHalf() {
		by = fmt.Sprintf("($column::$halfvec(%[1]d)) <> $1::$vector::$halfvec(%[1]d)", s.there.dim)
	}
	statement := s.fillStatement("SELECT path, 1 - ($column <=> $1::$vector)") + quoteColumns(columns) +
		s.fillStatement(" FROM $table ORDER BY "+by+" LIMIT $2")
	err = pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		set, value := `SELECT set_config('hnsw.ef_search', $1, true)`, fmt.Sprint(max(s.address.Seen, n))
		switch {
		case exact:
			set, value = `SELECT set_config('enable_indexscan', $1, true)`, "off"
		case s.address.Seen == 0:
			set = `SELECT set_config('hnsw.ef_search', greatest(
				coalesce(nullif(current_setting('hnsw.ef_search', true), ''), '40')::int4, $1::text::int4)::text, true)`
		}
		if _, err := tx.Exec(ctx, set, value); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, statement, v, n)
		if err != nil {
			return err
		}
		var path string
		var similarity float64
		into, values := scanTargets(columns, &path, &similarity)
		_, err = pgx.ForEachRow(rows, into, func() error {
			hits = append(hits, Hit{Path: path, Payload: collectPayload(columns, values), Similarity: similarity})
			return nil
		})
		return err
	})
	return hits, err
}
