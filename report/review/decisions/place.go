package decisions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Gone is the error if the decisions file was moved, replaced or changed by another program while it was open.
// Decisions written to the open file would be lost.
type Gone struct{ Path, How string }

func (g *Gone) Error() string {
	return fmt.Sprintf("review: %s: %s while it was open: nothing more is saved", g.Path, g.How)
}

// place identifies the open files: the database and its write-ahead log.
type place struct {
	path      string
	file, log fs.FileInfo
	size      int64 // after the last write; SQLite's lock does not keep cp from writing
}

const logEnding = "-wal"

// lookAt returns the identities of the files at a path.
func lookAt(path string) (p place, err error) {
	p.path = path
	if p.file, err = os.Stat(path); err == nil {
		p.size = p.file.Size()
		p.log, err = os.Stat(path + logEnding)
	}
	return p, err
}

// describeChange describes how the files have changed since they were opened, or returns "" if they have not.
func (p place) describeChange() string {
	now, err := lookAt(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it was moved or removed"
	case err != nil:
		return err.Error()
	case !os.SameFile(now.file, p.file) || !os.SameFile(now.log, p.log):
		return "it was replaced by another file"
	case now.size != p.size:
		return "another program wrote to the file"
	}
	return ""
}

// Here returns a [*Gone] unless the file at the path is still the open file.
func (s *Store) Here() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.checkStillHere()
}

func (s *Store) checkStillHere() error {
	if how := s.place.describeChange(); how != "" {
		return &Gone{s.Path, how}
	}
	return nil
}

// recordSize stores the size of the file after a write.
func (s *Store) recordSize() {
	if now, err := lookAt(s.place.path); err == nil && os.SameFile(now.file, s.place.file) {
		s.place.size = now.size
	}
}

// Copy writes all decisions with their history to a new or empty file. It works as long as the store is open, even if
// the store's file was moved.
func (s *Store) Copy(to string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.copyStoreTo(to)
}

func (s *Store) copyStoreTo(to string) error {
	if _, err := s.db.Exec("VACUUM INTO ?", to); err != nil {
		return inWords(s.Path, err)
	}
	return nil
}

// rescueDecisions writes a copy of the decisions to the folder of the lost file or, if that fails, to the folder for
// temporary files. It returns gone with the path of the copy.
func (s *Store) rescueDecisions(gone error) error {
	name := strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path)) + ".rescued-*.db"
	for _, dir := range []string{filepath.Dir(s.place.path), os.TempDir()} {
		f, err := os.CreateTemp(dir, name)
		if err != nil {
			continue
		}
		_ = f.Close()
		if err := s.copyStoreTo(f.Name()); err != nil {
			_ = os.Remove(f.Name())
			return errors.Join(gone, err)
		}
		return fmt.Errorf("%w; the saved decisions are in %s: rename that file to continue", gone, f.Name())
	}
	return gone
}
