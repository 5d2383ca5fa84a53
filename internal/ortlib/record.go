package ortlib

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"path/filepath"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// recordName is the file next to the installed libraries that lists their sha256 sums.
const recordName = "installed.json"

// record lists the installed files. A file is intact while it has this sha256.
type record struct {
	Version string            `json:"version"` // the version that winnow pins, not the library's own
	Files   map[string]string `json:"files"`   // name: sha256
	Sources map[string]string `json:"sources"` // name: package or path it came from
}

// readRecord reads a folder's record, or returns an empty one if it is missing or unreadable.
func readRecord(folder string) record {
	var r record
	data, err := regular.ReadFile(filepath.Join(folder, recordName), regular.Most)
	if err == nil && json.Unmarshal(data, &r) != nil {
		r = record{}
	}
	if r.Files == nil {
		r.Files = map[string]string{}
	}
	if r.Sources == nil {
		r.Sources = map[string]string{}
	}
	r.Version = Version
	return r
}

func (r record) writeInstallRecord(folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(folder, recordName), append(data, '\n'))
}

// isFileIntact reports whether a file exists with the bytes that were installed.
func (r record) isFileIntact(folder, name string) bool {
	want, ok := r.Files[name]
	if !ok {
		return false
	}
	sum, err := sha256File(filepath.Join(folder, name))
	return err == nil && sum == want
}

func sha256File(path string) (string, error) {
	file, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
