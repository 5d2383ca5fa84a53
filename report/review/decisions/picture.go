package decisions

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"sort"
	"time"

	"winnow/internal/regular"
)

// Picture identifies the content of an image file. The zero value means that the content is not known.
type Picture struct {
	Bytes    int64
	Modified int64  // modification time in nanoseconds since 1970; 0: not known
	Sum      string // sha256 of the bytes
}

// Look hashes an image file. It returns the zero value if the file cannot be read.
func Look(fsys fs.FS, path string) (p Picture) {
	f, info, err := regular.From(fsys, path)
	if err != nil {
		return p
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return p
	}
	return Picture{info.Size(), readModifiedTime(info), hex.EncodeToString(h.Sum(nil))}
}

func readModifiedTime(info fs.FileInfo) int64 {
	if t := info.ModTime(); !t.IsZero() {
		return t.UnixNano()
	}
	return 0
}

// hasChanged reports whether the file's content has changed. It reads the file only if the size or the time differs.
func (p Picture) hasChanged(fsys fs.FS, path string) bool {
	info, err := fs.Stat(fsys, path)
	if p.Sum == "" || err != nil || info.Size() == p.Bytes && readModifiedTime(info) == p.Modified && p.Modified != 0 {
		return false
	}
	now := Look(fsys, path)
	return now.Sum != "" && now.Sum != p.Sum
}

// pictured is the content of a file from a time on.
type pictured struct {
	Picture
	at int64 // milliseconds since 1970
}

// Pictures reports which image files have changed since a decision. The zero value reports no changes.
type Pictures struct {
	fsys fs.FS
	by   map[string][]pictured // path → contents by time
	same map[string]bool       // path → whether the file still has its last content; a cache
}

// Changed reports whether the image file at path has changed since the decision that was made at the given time.
func (p *Pictures) Changed(path string, at time.Time) bool {
	if p.fsys == nil {
		return false
	}
	list := p.by[path]
	n := sort.Search(len(list), func(i int) bool { return list[i].at > at.UnixMilli() })
	if n == 0 || list[n-1].Sum == "" {
		return false
	}
	last := list[len(list)-1]
	if n < len(list) && last.Sum != "" && last.Sum != list[n-1].Sum {
		return true
	}
	if is, asked := p.same[path]; asked {
		return !is
	}
	p.same[path] = !list[n-1].hasChanged(p.fsys, path)
	return !p.same[path]
}

// Seen records the content of an image file at the time of a decision.
func (p *Pictures) Seen(path string, at time.Time, now Picture) {
	if p.fsys == nil {
		return
	}
	p.by[path] = append(p.by[path], pictured{now, at.UnixMilli()})
	p.same[path] = true
}

// Pictures returns the contents of the image files at the times of the decisions, for comparison with the files in
// fsys. A file whose content was not recorded is assumed to be unchanged.
func (s *Store) Pictures(fsys fs.FS) (*Pictures, error) {
	p := &Pictures{fsys: fsys, by: map[string][]pictured{}, same: map[string]bool{}}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows, err := s.db.Query("SELECT path, at, bytes, modified, content FROM pictures ORDER BY path, at, n")
	if err != nil {
		return nil, inWords(s.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var path string
		var i pictured
		if err := rows.Scan(&path, &i.at, &i.Bytes, &i.Modified, &i.Sum); err != nil {
			return nil, inWords(s.Path, err)
		}
		p.by[path] = append(p.by[path], i)
	}
	return p, rows.Err()
}

// keepPicture stores the content of an image file, if it differs from the last stored content.
func keepPicture(tx *sql.Tx, path string, at int64, now Picture) error {
	var last string
	err := tx.QueryRow("SELECT content FROM pictures WHERE path = ? ORDER BY at DESC, n DESC LIMIT 1", path).Scan(&last)
	switch {
	case errors.Is(err, sql.ErrNoRows) && now.Sum == "":
		return nil // unknown
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case err == nil && last == now.Sum:
		return nil
	}
	return insertRow(tx, "INTO pictures", pictureColumns, path, at, now.Bytes, now.Modified, now.Sum)
}
