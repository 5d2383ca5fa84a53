// Package decisions stores reviewers' decisions about images, with their history, in an SQLite file.
//
// The file has a write-ahead log, and every commit is synced: committed decisions survive a killed process and a power
// failure. Images are identified by their path in the manifest, so decisions remain valid for later audits. Each
// reviewer has one decision and one note for each image. Each change increases the version of the decision. A new
// decision contains the version that the reviewer saw, and is refused if that version is not the latest. Decisions made
// together form a batch of one tab and one reviewer; a tab can undo and redo its own batches. Only one process at a
// time can open the file.
package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"winnow/internal/regular"
)

// Action is a reviewer's decision about an image.
type Action string

// The actions. Undecided revokes a decision.
const (
	Undecided Action = "undecided"
	Keep      Action = "keep"    // the given label is right
	Drop      Action = "drop"    // the image is removed
	Relabel   Action = "relabel" // the image gets another label
	Unsure    Action = "unsure"  // reviewed; the given label stays
)

// Known reports whether a is one of the actions.
func (a Action) Known() bool {
	return a == Undecided || a == Keep || a == Drop || a == Relabel || a == Unsure
}

// Scan implements [sql.Scanner]. It accepts only the known actions, because other programs can write the file.
func (a *Action) Scan(v any) error {
	text, _ := v.(string)
	if *a = Action(text); !a.Known() {
		return fmt.Errorf("%.40q is not keep, drop, relabel, unsure or undecided", fmt.Sprint(v))
	}
	return nil
}

// Image is the latest decision of a reviewer about an image.
type Image struct {
	Path     string
	Reviewer string // "": no name
	Given    string // the given label at the time of the decision
	Action   Action
	Label    string // the new label for Relabel, else ""
	Note     string
	At       time.Time
	Version  int64 // number of changes of this decision; 0: never decided
	Change   int64 // number of the store's transaction that changed it last
	Moved    bool  // winnow moved the image from or to this path ([Store.FollowMoves])
}

// Store is an open decisions file. Its methods are safe for concurrent use.
type Store struct {
	Path string

	mutex  sync.Mutex
	copied string // folder of the copy made by OpenCopy, which Close removes; else ""
	db     *sql.DB
	place  place
	closed bool
	change int64
	now    func() time.Time
}

// applicationID is "winw", which identifies winnow's files in SQLite's header.
const applicationID = 0x77696e77

// Open opens a decisions file, or creates it.
func Open(path string) (*Store, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	if err := checkCreatable(whole); err != nil {
		return nil, err
	}
	return openAt(whole, path)
}

// openAt opens the file at the absolute path whole; messages show path.
func openAt(whole, path string) (*Store, error) {
	// In exclusive mode, SQLite locks the file from the first transaction until the process ends.
	settings := url.Values{"_pragma": {
		"busy_timeout(1500)", "locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	}, "_txlock": {"immediate"}}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(whole), RawQuery: settings.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("review: %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	db.SetConnMaxIdleTime(0)
	s := &Store{Path: path, db: db, now: time.Now}
	if err = s.prepareTables(); err == nil {
		s.place, err = lookAt(whole)
	}
	if err != nil {
		return nil, errors.Join(inWords(path, err), db.Close())
	}
	return s, nil
}

// OpenCopy opens a temporary copy of a decisions file, so that the file and its folder are only read.
func OpenCopy(path string) (_ *Store, err error) {
	dir, err := os.MkdirTemp("", "winnow-decisions-*")
	if err != nil {
		return nil, fmt.Errorf("review: a copy of %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	to := filepath.Join(dir, "copy.db")
	for _, ending := range []string{"", logEnding} {
		err := copyFile(path+ending, to+ending)
		if err != nil && !(ending == logEnding && errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("review: a copy of %s: %w", path, err)
		}
	}
	s, err := openAt(to, path)
	if err != nil {
		return nil, err
	}
	s.copied = dir
	return s, nil
}

func copyFile(from, to string) error {
	in, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := regular.OpenOwn(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// checkCreatable returns an error if path is a link or cannot be opened or created. SQLite would follow links, and its
// message would only be "unable to open database file".
func checkCreatable(path string) error {
	for _, ending := range []string{logEnding, "-shm", journalEnding} {
		if err := regular.CheckOwn(path + ending); err != nil {
			return fmt.Errorf("review: decisions: %w: move it away", err)
		}
	}
	// SQLite would apply a rollback journal of another program, and delete files that the journal names.
	head := make([]byte, 1)
	if f, err := regular.OpenOwn(path+journalEnding, os.O_RDONLY, 0); err == nil {
		n, _ := f.Read(head)
		f.Close()
		if n > 0 && head[0] != 0 {
			return fmt.Errorf("review: decisions: %s: found a journal that winnow did not write: move it away",
				path+journalEnding)
		}
	}
	f, err := regular.OpenOwn(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("review: decisions: %w: move it away, or use another decisions file", err)
	}
	return f.Close()
}

// journalEnding is the extension of SQLite's rollback journal. winnow uses a write-ahead log instead.
const journalEnding = "-journal"

// prepareTables checks the tables of an existing file, or creates the tables of a new file.
func (s *Store) prepareTables() error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var id, found, tables int64
	for query, to := range map[string]*int64{
		"PRAGMA application_id": &id, "PRAGMA user_version": &found, "SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := tx.QueryRow(query).Scan(to); err != nil {
			return err
		}
	}
	switch {
	case tables == 0:
	case id != applicationID:
		return errors.New("is another program's database, expected a decisions file of winnow studio")
	case found < oldest || found > version:
		return fmt.Errorf("version %d, expected %d to %d: another version of winnow wrote it", found, oldest, version)
	}
	var acts string // a trigger would run whenever a decision is written
	err = tx.QueryRow("SELECT coalesce(min(name), '') FROM sqlite_schema WHERE type IN ('trigger', 'view')").Scan(&acts)
	if err != nil {
		return err
	}
	if acts != "" {
		return fmt.Errorf("contains a trigger or a view, %.40q, which winnow does not write: "+
			"another program has changed it", acts)
	}
	if err := checkSound(tx); err != nil {
		return err
	}
	if tables == 0 {
		if err := createTables(tx); err != nil {
			return err
		}
	}
	if err := compareSums(tx); err != nil {
		return err
	}
	if err := tx.QueryRow("SELECT coalesce(max(change), 0) FROM images").Scan(&s.change); err != nil {
		return err
	}
	return tx.Commit()
}

// checkSound checks the integrity of the whole file. SQLite's quick_check is not sufficient: it does not detect that
// the end of the file, and with it the last row, is missing.
func checkSound(tx *sql.Tx) error {
	var first string
	if err := tx.QueryRow("PRAGMA integrity_check(1)").Scan(&first); err != nil {
		return err
	}
	if first != "ok" {
		return fmt.Errorf("is damaged, perhaps by an incomplete copy: %s: use a complete copy",
			strings.Join(strings.Fields(first), " "))
	}
	return nil
}

// troubles maps SQLite error codes to messages.
var troubles = map[int]string{
	sqlite3.SQLITE_READONLY: "it is read-only: copy it to a folder where it can be written",
	sqlite3.SQLITE_FULL:     "the disk is full",
	sqlite3.SQLITE_IOERR:    "the disk failed to read or write it",
	sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check that this user can read and write the file and its folder",
	sqlite3.SQLITE_ERROR:    "its tables are not the tables that winnow creates: use a complete copy",
}

// inWords returns an error with the file's path and, for known SQLite errors, an explanation.
func inWords(path string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("review: %s: it is open in another winnow studio: "+
				"stop the other process, or use another decisions file", path)
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("review: %s: is not a decisions file, or is damaged: use a complete copy, or "+
				"another decisions file", path)
		}
		if words := troubles[e.Code()&0xff]; words != "" {
			return fmt.Errorf("review: %s: %s", path, words)
		}
	}
	return fmt.Errorf("review: %s: %w", path, err)
}

// Close closes the file. If the file was moved or replaced, Close writes a copy, and the error, which wraps [*Gone],
// contains the path of the copy.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.checkStillHere()
	if err != nil {
		err = s.rescueDecisions(err)
	}
	err = errors.Join(err, s.db.Close())
	if s.copied != "" {
		err = errors.Join(err, os.RemoveAll(s.copied))
	}
	return err
}

// Images calls yield for the latest decision of every reviewer about every image, oldest change first.
func (s *Store) Images(yield func(Image) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.db.Query(`SELECT path, reviewer, given, action, label, note, at, version, change, batch < 0
		FROM images ORDER BY change, path, reviewer`)
	if err != nil {
		return inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var i Image
		var at int64
		err := rows.Scan(&i.Path, checked{&i.Reviewer, CheckReviewer}, &i.Given, &i.Action, &i.Label,
			checked{&i.Note, CheckNote}, &at, &i.Version, &i.Change, &i.Moved)
		if err != nil {
			return inWords(s.Path, fmt.Errorf("image %q: %w", i.Path, err))
		}
		i.At = time.UnixMilli(at)
		if err := yield(i); err != nil {
			return err
		}
	}
	return rows.Err()
}
