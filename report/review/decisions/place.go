package decisions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Gone is the error when a file of decisions is no longer the one that was opened. Whatever is written to that
// one would be lost with it.
type Gone struct{ Path, How string }

func (g *Gone) Error() string {
	return fmt.Sprintf("review: %s: %s while it was open: nothing more is saved", g.Path, g.How)
}

// place is the open files: the decisions, and SQLite's log of the last ones.
type place struct {
	path      string
	file, log fs.FileInfo
	size      int64 // after our last write; the lock keeps other winnows from the file, but not cp
}

const logEnding = "-wal"

// lookAt returns the files at a path.
func lookAt(path string) (p place, err error) {
	p.path = path
	if p.file, err = os.Stat(path); err == nil {
		p.size = p.file.Size()
		p.log, err = os.Stat(path + logEnding)
	}
	return p, err
}

// describeChange says what happened to the files since they were opened, or "" if nothing did.
func (p place) describeChange() string {
	now, err := lookAt(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it was moved or removed"
	case err != nil:
		return err.Error()
	case !os.SameFile(now.file, p.file) || !os.SameFile(now.log, p.log):
		return "another file was put in its place"
	case now.size != p.size:
		return "another program wrote into it"
	}
	return ""
}

// Here returns a [*Gone] unless the open file is still the one at the path.
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

// recordSize records the size of the file after a write.
func (s *Store) recordSize() {
	if now, err := lookAt(s.place.path); err == nil && os.SameFile(now.file, s.place.file) {
		s.place.size = now.size
	}
}

// Copy writes all decisions with their history to a new or empty file of decisions. It works as long as the
// store is open, even if its own file was moved.
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

// rescueDecisions copies the decisions of a lost file to the folder where it was, or to the folder of temporary files.
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
		return fmt.Errorf("%w; what was saved before is in %s: rename it to continue", gone, f.Name())
	}
	return gone
}
