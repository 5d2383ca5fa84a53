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

// Picture is the content of an image file. The zero value is unknown.
type Picture struct {
	Bytes    int64
	Modified int64  // time of the file, in nanoseconds
	Sum      string // sha256 of the bytes
}

// Look reads an image file. A file that cannot be read is unknown.
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

// hasChanged reports whether a file holds another picture now. It is read only if its size or time differ.
func (p Picture) hasChanged(fsys fs.FS, path string) bool {
	info, err := fs.Stat(fsys, path)
	if p.Sum == "" || err != nil || info.Size() == p.Bytes && readModifiedTime(info) == p.Modified && p.Modified != 0 {
		return false
	}
	now := Look(fsys, path)
	return now.Sum != "" && now.Sum != p.Sum
}

// pictured is a picture from a time on.
type pictured struct {
	Picture
	at int64 // milliseconds
}

// Pictures finds which images have another picture now than when they were decided. The zero value finds none.
type Pictures struct {
	fsys fs.FS
	by   map[string][]pictured // by path and time
	same map[string]bool       // whether the last picture is still there, as far as asked
}

// Changed reports whether the picture of an image that was decided at a time is another one now.
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

// Seen adds what an image was when it was decided at a time.
func (p *Pictures) Seen(path string, at time.Time, now Picture) {
	if p.fsys == nil {
		return
	}
	p.by[path] = append(p.by[path], pictured{now, at.UnixMilli()})
	p.same[path] = true
}

// Pictures returns what the decisions were about, to compare with the files of fsys. Decisions whose pictures are not
// known are taken to be about what the files hold now.
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

// keepPicture stores the picture that is decided about, if it is another one than the last.
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
