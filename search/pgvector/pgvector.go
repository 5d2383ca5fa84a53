// Package pgvector puts vectors with names into a table of a PostgreSQL database with the extension pgvector, and finds them
// there: a [vectordb.Store].
//
// # What is stored
//
// One row an image, its primary key the image's path:
//
//	path text PRIMARY KEY, model text, digest text, embedding vector(N), label text, split text, …
//
// embedding has the bits of the vector, which has length 1. model is the sha256 of what made the vectors, digest says what a row
// holds, and the rest is what the manifest knows of the image. A table that exists is taken if it has the first four columns;
// text columns that it lacks are added, others are left alone.
//
// # Indexing
//
// The HNSW index is built when all rows are in, which takes a fraction of the time that it takes row by row; a table that has one
// keeps it. pgvector indexes vectors of 2,000 values at most, and of 4,000 as halfvec: then the index is one of the column's
// casts, and the column itself keeps its bits. Longer vectors, up to 16,000 values, are searched without an index.
//
// # What this was tested against
//
// PostgreSQL 18 with pgvector 0.8 as WebAssembly behind a socket (npm's @electric-sql/pglite-socket): uploads, connections that are
// killed, changes, deletion, search. Rows go there by INSERT … SELECT FROM unnest(…), one statement and one transaction a batch.
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

	"winnow/search/vectordb"
)

// Server is a connection, and a table of the server.
type Server struct {
	address *Address
	table   string // as the user writes it
	config  *pgx.ConnConfig
	tries   vectordb.Tries

	mu      sync.Mutex // of all that follows: one request at a time
	conn    *pgx.Conn  // nil: none
	ext     extension
	version string
	told    bool // notices of the server are passed on

	options vectordb.Options // of the upload
	there   *table           // nil: none, or not looked for yet
}

var _ vectordb.Store = (*Server)(nil)

// maxName is the length of names, in bytes; PostgreSQL cuts what is longer.
const maxName = 63

// Dial prepares the connection to a table, that of the address if it names one; nothing is sent yet. password may be empty: then it
// is that of the address, of PGPASSWORD or of ~/.pgpass.
func Dial(a *Address, password, tableName string) (*Server, error) {
	s := &Server{address: a, table: cmp.Or(a.Table, tableName), config: a.config.Copy()}
	for _, name := range []string{s.table, a.Schema, a.Column} {
		if len(name) > maxName || strings.ContainsRune(name, 0) {
			return nil, fmt.Errorf("pgvector: %s: the name %.70q has %d bytes, expected %d at most", a, name, len(name), maxName)
		}
	}
	if password != "" {
		s.config.Password = password
	}
	// Descriptions of statements are kept here and no statement on the server: poolers that share connections allow it.
	s.config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	s.config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if s.told {
			s.tries.Note("%s says: %s", s.address, n.Message)
		}
	}
	return s, nil
}

// Address implements vectordb.Store.
func (s *Server) Address() string { return s.address.String() }

// Collection implements vectordb.Store.
func (s *Server) Collection() string { return s.table }

// String implements vectordb.Store.
func (s *Server) String() string { return fmt.Sprintf("pgvector: %s: table %s", s.address, s.table) }

// Streams implements vectordb.Store.
func (s *Server) Streams() int { return 1 }

// Tries implements vectordb.Store.
func (s *Server) Tries() *vectordb.Tries { return &s.tries }

// closing is how long an end may take: a request that was broken off is cancelled on the server first.
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

// Hello implements vectordb.Store.
func (s *Server) Hello(ctx context.Context) (string, error) {
	err := s.try(ctx, "connecting", pointsTime, func(context.Context) error { return nil })
	return s.version, err
}

// Times of requests.
const (
	pointsTime = time.Minute
	tableTime  = 30 * time.Minute // of a table; the building of an index takes as long as it takes
)

// NoExtension says that a database cannot hold vectors.
type NoExtension struct {
	Found     string // the version that is too old; "": none
	Installed bool   // the server has the extension, the database does not
}

// oldest is the version of pgvector that has HNSW indexes.
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

// connect makes the connection anew where there is none any more.
func (s *Server) connect(ctx context.Context) error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	s.conn = conn
	if s.ext, err = register(ctx, conn); err != nil {
		return err
	}
	s.version = fmt.Sprintf("PostgreSQL %s, pgvector %s", conn.PgConn().ParameterStatus("server_version"), s.ext.version)
	return nil
}

// try makes a request, repeatedly if that may help, each time within limit (0: none).
func (s *Server) try(ctx context.Context, what string, limit time.Duration, request func(context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries.Do(ctx, limit, func(ctx context.Context) error {
		if err := s.connect(ctx); err != nil {
			return err
		}
		return request(ctx)
	}, func(err error) *vectordb.RequestError { return s.failure(what, err) })
}

// failure says what an error means.
func (s *Server) failure(what string, err error) *vectordb.RequestError {
	e := &vectordb.RequestError{Err: err}
	text := err.Error()
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		text = fmt.Sprintf("%s (%s)", answer.Message, answer.Code)
		e.Refused = strings.HasPrefix(answer.Code, "28")
		e.NoAnswer = transient(answer.Code)
	case errors.As(err, new(*NoExtension)):
	default:
		// A connection that is gone may have ended before the server answered, or after it had done what was asked.
		e.NoAnswer = s.conn == nil || s.conn.IsClosed() || errors.Is(err, context.DeadlineExceeded)
	}
	if cause := errors.Unwrap(err); answer == nil && errors.As(err, new(*pgconn.ConnectError)) && cause != nil {
		text = cause.Error()
	}
	e.Message = fmt.Sprintf("pgvector: %s: %s: %s", s.address, what, strings.Join(strings.Fields(text), " "))
	return e
}

// transient reports whether an answer may be another one when the request is repeated: connections that broke (08), a server
// that stops or starts, too many connections, transactions that were in each other's way.
func transient(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03", "53300", "40001", "40P01":
		return true
	}
	return strings.HasPrefix(code, "08")
}
