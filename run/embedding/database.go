package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/run/extraction"
	"winnow/search/pgvector"
)

// Database is a table of a vector database.
type Database struct {
	URL        string // "": none
	Collection string // the table; "": the URL's, else the folder's name
	Postgres   *pgvector.Address
	Password   string // of the file; "": the URL's, PGPASSWORD or ~/.pgpass

	Note func(format string, args ...any) // takes a fact for the user; may be nil
}

// NewDatabase reads an address, and its password from a file. Addresses may hold passwords: no error quotes them.
func NewDatabase(address, collection, keyFile string) (d Database, err error) {
	d = Database{URL: address, Collection: collection}
	switch scheme, _, _ := strings.Cut(address, "://"); scheme {
	case "postgres", "postgresql":
		d.Postgres, err = pgvector.ParseAddress(address)
	case "http", "https":
		err = hint.With(errors.New("found an address of http, as Qdrant has, expected postgres://USER@HOST/DATABASE"),
			"for another database write a file (--parquet, --npy) and load it with that database's client")
	default:
		err = errors.New("found an address of an unknown kind, expected postgres://USER@HOST/DATABASE (pgvector)")
	}
	if err != nil {
		return d, hint.AsMisuse(fmt.Errorf("--to: %w", err))
	}
	if keyFile != "" {
		data, err := regular.ReadFile(keyFile, 1<<20)
		if err != nil {
			return d, fmt.Errorf("--key-file: %w", err)
		}
		d.Password = strings.TrimSpace(string(data))
	}
	if collection != "" && d.Postgres.Table != "" && collection != d.Postgres.Table {
		return d, hint.Misused("--collection %s: the table of --to is %s, expected one of the two", collection,
			d.Postgres.Table)
	}
	return d, nil
}

// Dial prepares the connection to the table, which is named after the folder dir unless it has a name. It returns nil
// for a database without a URL.
func (d Database) Dial(dir string) (*pgvector.Server, error) {
	if d.URL == "" {
		return nil, nil
	}
	name := d.Collection
	if dir != "" {
		name = cmp.Or(name, filepath.Base(extraction.Absolute(dir)))
	}
	return pgvector.Dial(d.Postgres, d.Password, name)
}

func (d Database) noteDatabase(format string, args ...any) {
	if d.Note != nil {
		d.Note(format, args...)
	}
}

// adviseOnDatabase adds what to do about an error. again says how to continue once the server answers, elsewhere what
// to do if the collection is another's.
func (d Database) adviseOnDatabase(err error, again, elsewhere string) error {
	var request *pgvector.RequestError
	var other *pgvector.OtherCollection
	var extension *pgvector.NoExtension
	isRequest := errors.As(err, &request)
	switch {
	case errors.As(err, &extension):
		return hint.With(err, "%s", extension.Remedy())
	case errors.As(err, &other):
		return hint.With(err, "%s", elsewhere)
	case isRequest && request.Refused:
		return hint.With(err, "put the password into PGPASSWORD or ~/.pgpass, or name a file with --key-file")
	case isRequest && request.NoAnswer:
		return hint.With(err, "is the server up? Then %s", again)
	case isRequest:
		return hint.With(err, "%s", again)
	}
	return err
}
