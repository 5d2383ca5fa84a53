// Package pgvector uploads named vectors into a table of a PostgreSQL database with the pgvector extension and asks it
// for nearest neighbours.
//
// One row per image; the primary key is the image's path:
//
//	path text PRIMARY KEY, model text, digest text, embedding vector(N), label text, split text, …
//
// embedding holds the unit vector, bit by bit. model is the sha256 of what made the vectors, digest identifies the
// content of the row, and the other columns hold what the manifest knows about the image. An existing table is
// accepted if it has the first four columns; missing text columns are added, other columns are left alone.
//
// The server is asked what it has; no local file is trusted. If the table already held rows, the digests of each batch
// are read first and only missing or different rows are sent. So the same call resumes an upload that died at any
// moment, on either side; repeated with the same points it sends nothing. At the end the rows are counted.
//
// The HNSW index, by cosine, is built after all rows are in. pgvector indexes vectors of at most 2,000 values; longer
// ones, up to 16,000 values, are searched without an index.
//
// This was tested against PostgreSQL 18 with pgvector 0.8 as WebAssembly behind a socket (npm's
// @electric-sql/pglite-socket): uploads, killed connections, changes, search.
package pgvector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Address is the address of a database.
type Address struct {
	Table  string // "" if the address does not name one
	config *pgx.ConnConfig
}

// connectTime is how long to wait for a connection if the address does not say.
const connectTime = 30 * time.Second

// ParseAddress parses postgres://user:password@host:port/database?table=NAME. All other options (sslmode,
// connect_timeout, search_path, …) and the PG… environment variables are read as libpq does. Errors do not quote the
// text, which may hold a password.
func ParseAddress(text string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("pgvector: the address cannot be read, expected " +
			"postgres://USER@HOST:5432/DATABASE?table=NAME")
	}
	q := u.Query()
	a := &Address{Table: q.Get("table")}
	q.Del("table")
	u.RawQuery = q.Encode()
	if a.config, err = pgx.ParseConfig(u.String()); err != nil {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner // the outer ones quote the address
		}
		reason := err.Error()
		for _, secret := range []string{q.Get("password"), passwordOf(u)} {
			if secret != "" {
				reason = strings.ReplaceAll(reason, secret, "…")
			}
		}
		return nil, fmt.Errorf("pgvector: the address cannot be read: %s", reason)
	}
	a.config.ConnectTimeout = cmp.Or(a.config.ConnectTimeout, connectTime)
	return a, nil
}

func passwordOf(u *url.URL) string {
	word, _ := u.User.Password()
	return word
}

// String returns the address without user and password.
func (a *Address) String() string {
	host := net.JoinHostPort(a.config.Host, strconv.Itoa(int(a.config.Port)))
	if strings.HasPrefix(a.config.Host, "/") {
		host = a.config.Host
	}
	return "postgres://" + host + "/" + url.PathEscape(a.config.Database)
}

// Server is a table on a server, and the connection to it.
type Server struct {
	address *Address
	table   string // as the user writes it
	config  *pgx.ConnConfig

	mu       sync.Mutex // of all fields below: one request at a time
	conn     *pgx.Conn  // nil: not connected
	version  string
	answered bool // the server has answered at least once
	note     func(text string)

	options Options // of the upload
	there   *table  // nil: no table, or not looked for yet
}

// maxName is the longest name in bytes; PostgreSQL truncates longer ones.
const maxName = 63

// Dial prepares a connection to the table named by the address or, if it names none, by tableName. It sends nothing
// yet. If password is empty, it is taken from the address, PGPASSWORD or ~/.pgpass.
func Dial(a *Address, password, tableName string) (*Server, error) {
	s := &Server{address: a, table: cmp.Or(a.Table, tableName), config: a.config.Copy(), note: func(string) {}}
	if len(s.table) > maxName || strings.ContainsRune(s.table, 0) {
		return nil, fmt.Errorf("pgvector: %s: the name %.70q has %d bytes, expected %d at most", a, s.table,
			len(s.table), maxName)
	}
	s.config.Password = cmp.Or(password, s.config.Password)
	// Statement descriptions are cached on this side and no statement is prepared on the server, so that poolers
	// can share connections.
	s.config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return s, nil
}

// Address returns the server's address, without secrets.
func (s *Server) Address() string { return s.address.String() }

// Collection returns the name of the table.
func (s *Server) Collection() string { return s.table }

// String names the server and the table.
func (s *Server) String() string { return fmt.Sprintf("pgvector: %s: table %s", s.address, s.table) }

// Notify sets the function that receives notes for the user.
func (s *Server) Notify(note func(text string)) { s.note = note }

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

// NoExtension means that a database cannot store vectors.
type NoExtension struct{ Found string } // the version of pgvector; "": none

// Error implements error.
func (e *NoExtension) Error() string {
	return fmt.Sprintf("found pgvector %q in the database, expected 0.5 or later", e.Found)
}

// Remedy says what to do.
func (e *NoExtension) Remedy() string {
	return "install pgvector on the server, then run in the database, as its owner: CREATE EXTENSION vector; or " +
		"ALTER EXTENSION vector UPDATE"
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
	version := ""
	err = conn.QueryRow(ctx, "SELECT extversion FROM pg_extension WHERE extname = 'vector'").Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && isBeforeHNSW(version) {
		return &NoExtension{version}
	}
	s.version = fmt.Sprintf("PostgreSQL %s, pgvector %s", conn.PgConn().ParameterStatus("server_version"), version)
	return err
}

// isBeforeHNSW reports whether a version of pgvector is older than 0.5, the first with HNSW indexes.
func isBeforeHNSW(version string) bool {
	for _, old := range []string{"0.1.", "0.2.", "0.3.", "0.4."} {
		if strings.HasPrefix(version, old) {
			return true
		}
	}
	return false
}

// RequestError describes a request that a server refused, or did not answer after all tries.
type RequestError struct {
	Message  string // the server, the request and the answer
	Refused  bool   // the key or password was rejected
	NoAnswer bool   // the server could not be reached
	Err      error
}

// Error implements error.
func (e *RequestError) Error() string { return e.Message }

// Unwrap returns the client's error.
func (e *RequestError) Unwrap() error { return e.Err }

// Time limits of requests.
const (
	pointsTime = time.Minute
	tableTime  = 30 * time.Minute // for requests over the whole table; building an index has no limit
)

// The pause between tries doubles from the first to the longest; 15 tries span two minutes, enough for a server to
// restart. Before its first answer a server is tried four times: a wrong address should not cost minutes.
const (
	firstPause, longestPause = 200 * time.Millisecond, 15 * time.Second
	mostTries, firstTries    = 15, 4
)

// tryRequest makes a request and repeats it if that may help. Each try may take limit (0: forever). Every request is
// safe to repeat: it says what the state should be, not what to add.
func (s *Server) tryRequest(ctx context.Context, what string, limit time.Duration,
	request func(context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := firstPause
	for tries := 1; ; tries++ {
		within, cancel := ctx, context.CancelFunc(func() {})
		if limit > 0 {
			within, cancel = context.WithTimeout(ctx, limit)
		}
		err := s.connectServer(within)
		if err == nil {
			err = request(within)
		}
		cancel()
		if err == nil {
			s.answered = true
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure := s.requestFailure(what, err)
		if !failure.NoAnswer || tries >= mostTries || !s.answered && tries >= firstTries {
			return failure
		}
		if tries == firstTries {
			s.note(failure.Message + "; retrying")
		}
		select { // half of the pause is random, so that several uploads do not all return at once
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause/2 + rand.N(pause/2+1)):
		}
		pause = min(2*pause, longestPause)
	}
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
