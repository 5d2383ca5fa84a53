package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/run/extraction"
	"winnow/search/pgvector"
	"winnow/search/qdrant"
	"winnow/search/vectordb"
)

// Database is a collection of a vector database.
type Database struct {
	URL        string // "": none
	Collection string // or table; "": the URL's, else the folder's name
	Qdrant     qdrant.Address
	Postgres   *pgvector.Address // nil: Qdrant
	Key        string            // of the API, or the password

	Note func(format string, args ...any) // takes a fact for the user; may be nil
}

// KeyVariable holds the key of a Qdrant server: an argument would show in the list of processes.
const KeyVariable = "WINNOW_QDRANT_API_KEY"

// NewDatabase reads an address, and its key from a file or from the environment. Addresses may hold passwords: no error
// quotes them.
func NewDatabase(address, collection, keyFile string) (d Database, err error) {
	d = Database{URL: address, Collection: collection}
	key := ""
	switch scheme, _, _ := strings.Cut(address, "://"); scheme {
	case "http", "https":
		d.Qdrant, err = qdrant.ParseAddress(address)
		key = os.Getenv(KeyVariable)
	case "postgres", "postgresql":
		d.Postgres, err = pgvector.ParseAddress(address)
	default:
		err = errors.New("found an address of an unknown kind, expected http(s)://HOST:6334 (Qdrant) or " +
			"postgres://USER@HOST/DATABASE (pgvector)")
	}
	if err != nil {
		return d, hint.AsMisuse(fmt.Errorf("--to: %w", err))
	}
	if keyFile != "" {
		data, err := regular.ReadFile(keyFile, 1<<20)
		if err != nil {
			return d, fmt.Errorf("--key-file: %w", err)
		}
		key = string(data)
	}
	d.Key = strings.TrimSpace(key)
	if d.Postgres == nil && strings.ContainsFunc(d.Key, func(r rune) bool { return r < '!' || r > '~' }) {
		return d, errors.New("the key of the Qdrant server is not one word of printable ASCII")
	}
	if d.Postgres != nil && collection != "" && d.Postgres.Table != "" && collection != d.Postgres.Table {
		return d, hint.Misused("--collection %s: the table of --to is %s, expected one of the two", collection,
			d.Postgres.Table)
	}
	return d, nil
}

// Dial prepares the connection to the collection, which is named after the folder dir unless it has a name. It returns
// nil for a database without a URL.
func (d Database) Dial(dir string) (vectordb.Store, error) {
	name := d.Collection
	if dir != "" {
		name = cmp.Or(name, filepath.Base(extraction.Absolute(dir)))
	}
	switch {
	case d.URL == "":
		return nil, nil
	case d.Postgres != nil:
		return pgvector.Dial(d.Postgres, d.Key, name)
	}
	if d.Key != "" && !d.Qdrant.TLS && !d.Qdrant.Loopback() {
		d.note("the key of the Qdrant server goes to %s unencrypted: use https:// where others can listen", d.Qdrant)
	}
	return qdrant.Dial(d.Qdrant, d.Key, name)
}

func (d Database) note(format string, args ...any) {
	if d.Note != nil {
		d.Note(format, args...)
	}
}

// advised adds what to do about an error. again says how to continue once the server answers, elsewhere what to do if
// the collection is another's.
func (d Database) advised(err error, again, elsewhere string) error {
	var request *vectordb.RequestError
	var other *vectordb.OtherCollection
	var extension *pgvector.NoExtension
	isRequest := errors.As(err, &request)
	switch {
	case errors.As(err, &extension):
		return hint.With(err, "%s", extension.Remedy())
	case errors.As(err, &other):
		return hint.With(err, "%s", elsewhere)
	case isRequest && request.Refused && d.Postgres != nil:
		return hint.With(err, "put the password into PGPASSWORD or ~/.pgpass, or name a file with --key-file")
	case isRequest && request.Refused:
		return hint.With(err, "put the server's key into %s, or name a file with --key-file", KeyVariable)
	case isRequest && request.NoAnswer && d.Postgres == nil && d.Qdrant.Port == qdrant.RESTPort:
		return hint.With(err, "port %d is Qdrant's REST interface; gRPC listens on 6334 by default", qdrant.RESTPort)
	case isRequest && request.NoAnswer && d.Postgres == nil:
		return hint.With(err, "is the server up, and is this its gRPC port? Then %s", again)
	case isRequest && request.NoAnswer:
		return hint.With(err, "is the server up? Then %s", again)
	case isRequest:
		return hint.With(err, "%s", again)
	}
	return err
}
