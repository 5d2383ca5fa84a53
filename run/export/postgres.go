package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/internal/hint"
	"winnow/run/embedding"
)

// Table is a table of a PostgreSQL database with pgvector: one row per image, whose primary key is its path.
//
//	path text PRIMARY KEY, model text, digest text, embedding vector(N), label text, split text
//
// embedding holds the exact unit vector, model the SHA-256 of the model that made it, and digest a checksum of the row.
// An upload sends only rows that the server lacks or holds with another digest. So it continues an interrupted upload,
// and a repeated upload sends nothing. It does not change other columns.
type Table struct {
	Name   string
	config *pgx.ConnConfig
}

// connectTime is the timeout for connecting if the address contains none.
const connectTime = 30 * time.Second

// ParseTable parses postgres://USER@HOST:PORT/DATABASE?table=NAME; name is the table if the address contains none.
// Other options, the PG… environment variables and passwords in ~/.pgpass are used as by libpq. The error does not
// quote the address, which may contain a password.
func ParseTable(address, name string) (*Table, error) {
	unread := hint.Misused("--to: the address cannot be read, expected postgres://USER@HOST/DATABASE (pgvector)")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, unread
	}
	q := u.Query()
	t := &Table{Name: cmp.Or(q.Get("table"), name)}
	q.Del("table")
	u.RawQuery = q.Encode()
	if t.config, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, unread
	}
	t.config.ConnectTimeout = cmp.Or(t.config.ConnectTimeout, connectTime)
	// do not prepare statements on the server, so that poolers can share connections
	t.config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return t, nil
}

// String returns the address and name of the table without user and password.
func (t *Table) String() string {
	host := net.JoinHostPort(t.config.Host, strconv.Itoa(int(t.config.Port)))
	return fmt.Sprintf("postgres://%s/%s: table %s", host, t.config.Database, t.Name)
}

func (t *Table) quoteName() string { return pgx.Identifier{t.Name}.Sanitize() }

// Uploaded describes an upload, as printed by winnow export --json.
type Uploaded struct {
	Table  string `json:"table"`
	Rows   int    `json:"rows"`
	Dim    int    `json:"dim"`
	Sent   int    `json:"sent"`
	Kept   int    `json:"there_already"`
	Points int    `json:"rows_in_table"`
}

// String returns the description as text.
func (u *Uploaded) String() string {
	return fmt.Sprintf("%s: %d rows of %d values, %d sent, %d there already; the table has %d", u.Table, u.Rows, u.Dim,
		u.Sent, u.Kept, u.Points)
}

const (
	batchRows  = 256
	batchBytes = 8 << 20 // size of a request with long vectors
	longest    = 2000    // longest vector that pgvector can index
)

// Upload writes rows by a model into the table and indexes them (HNSW, cosine). It creates the table if necessary.
// observe may be nil.
func (t *Table) Upload(ctx context.Context, model string, rows []embedding.Row,
	observe func(done, total int)) (*Uploaded, error) {
	conn, err := pgx.ConnectConfig(ctx, t.config)
	if err != nil {
		return nil, fmt.Errorf("export: %s: %w", t, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	u := &Uploaded{Table: t.String(), Rows: len(rows), Dim: len(rows[0].Embedding)}
	if err = t.prepareTable(ctx, conn, model, u.Dim); err != nil {
		return nil, fmt.Errorf("export: %s: %w", t, err)
	}
	done := 0
	for batch := range slices.Chunk(rows, min(batchRows, max(batchBytes/(4*u.Dim), 1))) {
		sent, err := t.sendBatch(ctx, conn, model, batch)
		if err != nil {
			return nil, hint.With(fmt.Errorf("export: %s: rows from %s: %w", t, batch[0].Path, err),
				"run the same command again: it sends only the missing rows")
		}
		u.Sent, u.Kept, done = u.Sent+sent, u.Kept+len(batch)-sent, done+len(batch)
		if observe != nil {
			observe(done, len(rows))
		}
	}
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+t.quoteName()).Scan(&u.Points)
	if err == nil && u.Points < u.Rows {
		err = fmt.Errorf("found %d rows at the end, expected %d", u.Points, u.Rows)
	}
	if err == nil && u.Dim <= longest {
		_, err = conn.Exec(ctx, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s USING hnsw (embedding "+
			"vector_cosine_ops)", pgx.Identifier{fmt.Sprintf("%.58s_hnsw", t.Name)}.Sanitize(), t.quoteName()))
	}
	if err != nil {
		return nil, fmt.Errorf("export: %s: %w", t, err)
	}
	return u, nil
}

// prepareTable makes the table unless it exists. It returns an error for a table of another program or another model.
func (t *Table) prepareTable(ctx context.Context, conn *pgx.Conn, model string, dim int) error {
	var version string
	err := conn.QueryRow(ctx, "SELECT extversion FROM pg_extension WHERE extname = 'vector'").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return hint.With(errors.New("the database has no pgvector"),
			"install it on the server, then run in the database, as its owner: CREATE EXTENSION vector")
	}
	if err != nil {
		return err
	}
	vector := fmt.Sprintf("vector(%d)", dim)
	_, err = conn.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (path text PRIMARY KEY, model text NOT NULL, "+
		"digest text NOT NULL, embedding %s NOT NULL, label text, split text)", t.quoteName(), vector))
	if err != nil {
		return err
	}
	found, name, kind := map[string]string{}, "", ""
	columns, err := conn.Query(ctx, "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE "+
		"attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped", t.quoteName())
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(columns, []any{&name, &kind}, func() error { found[name] = kind; return nil })
	if err != nil {
		return err
	}
	for _, column := range []string{"path", "model", "digest", "label", "split", "embedding"} {
		want := "text"
		if column == "embedding" {
			want = vector
		}
		if found[column] != want {
			return hint.With(fmt.Errorf("found %q as column %s, expected %s", found[column], column, want),
				"name another table: --to postgres://…?table=NAME")
		}
	}
	var other string
	err = conn.QueryRow(ctx, "SELECT model FROM "+t.quoteName()+" WHERE model <> $1 LIMIT 1", model).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = hint.With(fmt.Errorf("found vectors made by model %.12s, expected model %.12s", other, model),
			"name another table (--to postgres://…?table=NAME), or drop this table")
	}
	return err
}

// sendBatch sends the rows that the server lacks or holds with other content, in a single statement and transaction,
// and returns the number of these rows.
func (t *Table) sendBatch(ctx context.Context, conn *pgx.Conn, model string, batch []embedding.Row) (int, error) {
	all := make([]string, len(batch))
	for i, r := range batch {
		all[i] = r.Path
	}
	there, path, digest := map[string]string{}, "", ""
	found, err := conn.Query(ctx, "SELECT path, digest FROM "+t.quoteName()+" WHERE path = ANY($1::text[])", all)
	if err != nil {
		return 0, err
	}
	_, err = pgx.ForEachRow(found, []any{&path, &digest}, func() error { there[path] = digest; return nil })
	if err != nil {
		return 0, err
	}
	var paths, digests, vectors []string
	var labels, splits []*string
	for _, r := range batch {
		if sum := digestRow(r, model); there[r.Path] != sum {
			paths, digests, vectors = append(
				paths,
				r.Path,
			), append(
				digests,
				sum,
			), append(vectors, formatVector(r.Embedding))
			labels, splits = append(labels, nullIfEmpty(r.Label)), append(splits, nullIfEmpty(r.Split))
		}
	}
	if len(paths) == 0 {
		return 0, nil
	}
	_, err = conn.Exec(ctx, "INSERT INTO "+t.quoteName()+" (model, path, digest, embedding, label, split) "+
		"SELECT $1::text, p, d, v::vector, l, s FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], "+
		"$6::text[]) AS given(p, d, v, l, s) ON CONFLICT (path) DO UPDATE SET model = excluded.model, "+
		"digest = excluded.digest, embedding = excluded.embedding, label = excluded.label, split = excluded.split",
		model, paths, digests, vectors, labels, splits)
	return len(paths), err
}

func nullIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// formatVector formats a vector for pgvector without loss of precision.
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

// digestRow returns a digest of all values stored for a row: the first half of a SHA-256 in hexadecimal.
func digestRow(r embedding.Row, model string) string {
	all := strings.Join([]string{model, r.Path, formatVector(r.Embedding), r.Label, r.Split}, "\x00")
	sum := sha256.Sum256([]byte(all))
	return hex.EncodeToString(sum[:16])
}
