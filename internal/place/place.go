// Package place notes in a folder where something else lies that the folder was made of, so that it is found again from
// anywhere, also where the two were moved.
package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where something lay. Seen from the folder it is found again where both were moved together; by its absolute path
// where the folder alone was, or where a command runs elsewhere.
type Place struct {
	Given      string `json:"given"` // seen from where the command ran
	FromFolder string `json:"from_folder,omitempty"`
	Absolute   string `json:"absolute"`
}

// New returns the place of path for the folder dir. It has no absolute path where the working folder is gone.
func New(dir, path string) Place {
	p := Place{Given: path}
	if strings.Contains(path, "://") { // an address, the same from everywhere
		p.Absolute = path
		return p
	}
	var err error
	if p.Absolute, err = filepath.Abs(path); err != nil {
		return Place{Given: path}
	}
	within, err := filepath.EvalSymlinks(filepath.Dir(p.Absolute)) // the last name may be a link that is meant to lead elsewhere later
	if err != nil {
		return p
	}
	from, err := filepath.Abs(resolved(dir))
	if err != nil {
		return p
	}
	if rel, err := filepath.Rel(from, filepath.Join(within, filepath.Base(p.Absolute))); err == nil {
		p.FromFolder = filepath.ToSlash(rel)
	}
	return p
}

// resolved returns a folder without links, as .. leads elsewhere behind one.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Candidates lists where it may be now for the folder, which is dir today, the likeliest path first.
func (p Place) Candidates(dir string) (list []string) {
	if p.FromFolder != "" {
		list = append(list, filepath.Join(resolved(dir), filepath.FromSlash(p.FromFolder)))
	}
	return append(list, p.Absolute, p.Given)
}

// Find returns where it is now. Of several things that are there it returns the first that is the same as it was, if same
// is given, or else the first; of none where it was.
func (p Place) Find(dir string, same func(path string) bool) string {
	var there []string
	var infos []os.FileInfo
	for _, path := range p.Candidates(dir) {
		info, err := os.Stat(path)
		if err == nil && !slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			there, infos = append(there, path), append(infos, info)
		}
	}
	if len(there) == 0 {
		return p.Absolute
	}
	if len(there) > 1 && same != nil {
		if i := slices.IndexFunc(there, same); i >= 0 {
			return there[i]
		}
	}
	return there[0]
}
