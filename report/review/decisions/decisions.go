// Package decisions stores what reviewers decide about images, durably and at once, with its history.
//
// The store is one SQLite file (write-ahead log, every commit synced: what was acknowledged survives a killed
// process and a power failure). Images are identified by their path in the manifest, so decisions outlive the
// audit in which they were made. Each reviewer has one decision and one note for each image. Each change raises
// the image's version; a decision names the version that the reviewer saw, and is refused if it is not the
// latest. Decisions made together are a batch of one tab and one reviewer; a tab undoes and redoes its own
// batches. Only one process can open the file; a second one is refused.
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

// Action is what happens to an image.
type Action string

// The actions. Undecided takes a decision back.
const (
	Undecided Action = "undecided"
	Keep      Action = "keep"    // the given label is right
	Drop      Action = "drop"    // the image is removed
	Relabel   Action = "relabel" // it gets another label
	Unsure    Action = "unsure"  // looked at and left as given
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

// Image is the last decision of a reviewer about an image.
type Image struct {
	Path     string
	Reviewer string // "": without a name
	Given    string // the given label at that time
	Action   Action
	Label    string // the new label for Relabel, else ""
	Note     string
	At       time.Time
	Version  int64 // number of changes; 0: never decided
	Change   int64 // the store's Version at the last change
}

// Store is an open file of decisions. Its methods are safe for concurrent use.
type Store struct {
	Path string

	mutex  sync.Mutex
	copied string // folder of a copy, which Close removes; "": the file itself is open
	db     *sql.DB
	place  place
	closed bool
	change int64
	now    func() time.Time
}

// applicationID marks winnow's files in SQLite's header: "winw".
const applicationID = 0x77696e77

// Open opens a file of decisions, or creates one.
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

// openAt opens the file at an absolute path; path is its name for people.
func openAt(whole, path string) (*Store, error) {
	// In exclusive mode the file is locked from the first transaction on; the lock ends with the process.
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

// OpenCopy opens a copy of a file of decisions, for reading: the file and its folder are not written.
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

// checkCreatable returns an error if path is not a file of its own and none can be created there: SQLite would follow
// links, and only says "unable to open database file".
func checkCreatable(path string) error {
	for _, ending := range []string{logEnding, "-shm", journalEnding} {
		if err := regular.CheckOwn(path + ending); err != nil {
			return fmt.Errorf("review: decisions: %w: move it away", err)
		}
	}
	// SQLite would undo what another program's journal says, and remove files that it names.
	head := make([]byte, 1)
	if f, err := regular.OpenOwn(path+journalEnding, os.O_RDONLY, 0); err == nil {
		n, _ := f.Read(head)
		f.Close()
		if n > 0 && head[0] != 0 {
			return fmt.Errorf("review: decisions: %s: found a journal, which winnow does not leave: move it away",
				path+journalEnding)
		}
	}
	f, err := regular.OpenOwn(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("review: decisions: %w: move it away, or name another file of decisions", err)
	}
	return f.Close()
}

// journalEnding is of SQLite's journal of changes that are not finished; winnow's are in the log.
const journalEnding = "-journal"

// prepareTables checks the file's tables, or creates them.
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
		return errors.New("is another program's database, expected decisions of winnow studio")
	case found < oldest || found > version:
		return fmt.Errorf("version %d, expected %d to %d: another version of winnow wrote it", found, oldest, version)
	}
	var acts string // a trigger would act whenever a decision is written
	err = tx.QueryRow("SELECT coalesce(min(name), '') FROM sqlite_schema WHERE type IN ('trigger', 'view')").Scan(&acts)
	if err != nil {
		return err
	}
	if acts != "" {
		return fmt.Errorf("holds a trigger or a view, %.40q, which winnow does not write: "+
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

// checkSound checks the whole file. SQLite's quick_check is not enough: it misses a last entry that was lost with
// the end of the file.
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

// troubles are the words for what SQLite could not do.
var troubles = map[int]string{
	sqlite3.SQLITE_READONLY: "it is read-only: copy it to where it can be written",
	sqlite3.SQLITE_FULL:     "the disk is full",
	sqlite3.SQLITE_IOERR:    "the disk failed to read or write it",
	sqlite3.SQLITE_CANTOPEN: "it cannot be opened: may this user read and write it and its folder?",
	sqlite3.SQLITE_ERROR:    "its tables are not those that winnow makes: use a complete copy",
}

// inWords turns an error of SQLite into one about the file.
func inWords(path string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("review: %s: another winnow studio has it open: "+
				"stop that one, or name another file of decisions", path)
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("review: %s: is not a file of decisions, or is damaged: use a complete copy, or name "+
				"another file of decisions", path)
		}
		if words := troubles[e.Code()&0xff]; words != "" {
			return fmt.Errorf("review: %s: %s", path, words)
		}
	}
	return fmt.Errorf("review: %s: %w", path, err)
}

// Close closes the file. If the file is [*Gone], Close writes a copy, and the error says where.
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

// Images calls yield for every image and each reviewer who decided about it, in the order of the last changes.
func (s *Store) Images(yield func(Image) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.db.Query(`SELECT path, reviewer, given, action, label, note, at, version, change
		FROM images ORDER BY change, path, reviewer`)
	if err != nil {
		return inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var i Image
		var at int64
		err := rows.Scan(&i.Path, checked{&i.Reviewer, CheckReviewer}, &i.Given, &i.Action, &i.Label,
			checked{&i.Note, CheckNote}, &at, &i.Version, &i.Change)
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
