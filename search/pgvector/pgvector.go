// Package pgvector uploads named vectors into a table of a PostgreSQL database with the pgvector extension and asks it
// for nearest neighbours.
//
// # What is stored
//
// One row per image; the primary key is the image's path:
//
//	path text PRIMARY KEY, model text, digest text, embedding vector(N), label text, split text, …
//
// embedding holds the unit vector, bit by bit. model is the sha256 of what made the vectors, digest identifies the
// content of the row, and the other columns hold what the manifest knows about the image. An existing table is
// accepted if it has the first four columns; missing text columns are added, other columns are left alone.
//
// # Resuming after a break
//
// The server is asked what it has; no local file is trusted. If the table already held rows, the digests of each batch
// are read first and only missing or different rows are sent. So the same call resumes an upload that died at any
// moment, on either side; repeated with the same points it sends nothing; with a longer list it sends the new points.
// At the end the rows are counted, and a sample is read back and compared, vectors included.
//
// # Indexing
//
// The HNSW index is built after all rows are in, which takes a fraction of the time of building it row by row. A
// table that already has an index keeps it. pgvector indexes vectors of at most 2,000 values, or 4,000 as halfvec;
// in that case the index is on a cast of the column, and the column keeps its full precision. Longer vectors, up to
// 16,000 values, are searched without an index.
//
// # What this was tested against
//
// PostgreSQL 18 with pgvector 0.8 as WebAssembly behind a socket (npm's @electric-sql/pglite-socket): uploads,
// killed connections, changes, deletion, search. Rows are sent by INSERT … SELECT FROM unnest(…), one statement and
// one transaction per batch.
package pgvector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a table on a server, and the connection to it.
type Server struct {
	address *Address
	table   string // as the user writes it
	config  *pgx.ConnConfig
	tries   Tries

	mu      sync.Mutex // of all fields below: one request at a time
	conn    *pgx.Conn  // nil: not connected
	ext     extension
	version string
	told    bool // pass the server's notices on

	options Options // of the upload
	there   *table  // nil: no table, or not looked for yet
}

// maxName is the longest name in bytes; PostgreSQL truncates longer ones.
const maxName = 63

// Dial prepares a connection to the table named by the address or, if it names none, by tableName. It sends nothing
// yet. If password is empty, it is taken from the address, PGPASSWORD or ~/.pgpass.
func Dial(a *Address, password, tableName string) (*Server, error) {
	s := &Server{address: a, table: cmp.Or(a.Table, tableName), config: a.config.Copy()}
	for _, name := range []string{s.table, a.Schema, a.Column} {
		if len(name) > maxName || strings.ContainsRune(name, 0) {
			return nil, fmt.Errorf("pgvector: %s: the name %.70q has %d bytes, expected %d at most", a, name,
				len(name), maxName)
		}
	}
	if password != "" {
		s.config.Password = password
	}
	// Statement descriptions are cached on this side and no statement is prepared on the server, so that poolers
	// can share connections.
	s.config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	s.config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if s.told {
			s.tries.Note("%s says: %s", s.address, n.Message)
		}
	}
	return s, nil
}

// Address returns the server's address, without secrets.
func (s *Server) Address() string { return s.address.String() }

// Collection returns the name of the table.
func (s *Server) Collection() string { return s.table }

// String names the server and the table.
func (s *Server) String() string { return fmt.Sprintf("pgvector: %s: table %s", s.address, s.table) }

// Tries returns what repeats the requests.
func (s *Server) Tries() *Tries { return &s.tries }

// closing is how long closing may take: an unfinished request is first cancelled on the server.
const closing = 3 * time.Second

// Close ends the connection.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	err := s.conn.Close(ctx)
	select {
	case <-s.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	return err
}

// Hello connects and returns the server's version.
func (s *Server) Hello(ctx context.Context) (string, error) {
	err := s.tryRequest(ctx, "connecting", pointsTime, func(context.Context) error { return nil })
	return s.version, err
}

// Time limits of requests.
const (
	pointsTime = time.Minute
	tableTime  = 30 * time.Minute // for requests over the whole table; building an index has no limit
)

// NoExtension means that a database cannot store vectors.
type NoExtension struct {
	Found     string // a version that is too old; "" if there is none
	Installed bool   // the server has the extension, the database does not
}

// oldest is the first version of pgvector with HNSW indexes.
const oldest = "0.5.0"

// Error implements error.
func (e *NoExtension) Error() string {
	if e.Found != "" {
		return fmt.Sprintf("found pgvector %s, expected %s or later", e.Found, oldest)
	}
	return "the database has no extension vector, expected pgvector " + oldest + " or later"
}

// Remedy says what to do.
func (e *NoExtension) Remedy() string {
	switch {
	case e.Found != "":
		return "install a later pgvector on the server, then run in the database: ALTER EXTENSION vector UPDATE"
	case e.Installed:
		return "run in the database, as its owner: CREATE EXTENSION vector"
	}
	return "install pgvector on the server, then run in the database: CREATE EXTENSION vector"
}

// connectServer connects to the server if there is no open connection.
func (s *Server) connectServer(ctx context.Context) error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	s.conn = conn
	if s.ext, err = registerVector(ctx, conn); err != nil {
		return err
	}
	s.version = fmt.Sprintf("PostgreSQL %s, pgvector %s", conn.PgConn().ParameterStatus("server_version"),
		s.ext.version)
	return nil
}

// tryRequest makes a request and repeats it if that may help. Each try may take limit (0: forever).
func (s *Server) tryRequest(
	ctx context.Context,
	what string,
	limit time.Duration,
	request func(context.Context) error,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries.Do(ctx, limit, func(ctx context.Context) error {
		if err := s.connectServer(ctx); err != nil {
			return err
		}
		return request(ctx)
	}, func(err error) *RequestError { return s.requestFailure(what, err) })
}

// requestFailure explains an error.
func (s *Server) requestFailure(what string, err error) *RequestError {
	e := &RequestError{Err: err}
	text := err.Error()
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		text = fmt.Sprintf("%s (%s)", answer.Message, answer.Code)
		e.Refused = strings.HasPrefix(answer.Code, "28")
		e.NoAnswer = isTransient(answer.Code)
	case errors.As(err, new(*NoExtension)):
	default:
		// A connection may break before the server answers, or after it has done the request.
		e.NoAnswer = s.conn == nil || s.conn.IsClosed() || errors.Is(err, context.DeadlineExceeded)
	}
	if cause := errors.Unwrap(err); answer == nil && errors.As(err, new(*pgconn.ConnectError)) && cause != nil {
		text = cause.Error()
	}
	e.Message = fmt.Sprintf("pgvector: %s: %s: %s", s.address, what, strings.Join(strings.Fields(text), " "))
	return e
}

// isTransient reports whether repeating the request may help: a broken connection (08), a server that is stopping or
// starting, too many connections, conflicting transactions.
func isTransient(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03", "53300", "40001", "40P01":
		return true
	}
	return strings.HasPrefix(code, "08")
}
