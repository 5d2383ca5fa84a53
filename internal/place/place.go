// Package place records in a folder where something that the folder was made from is, so that it is found again
// from anywhere, even if both were moved.
package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where something was. The path relative to the folder finds it again if both were moved together; the
// absolute path if only the folder was moved or a command runs elsewhere.
type Place struct {
	Given      string `json:"given"` // relative to the command's working folder
	FromFolder string `json:"from_folder,omitempty"`
	Absolute   string `json:"absolute"`
}

// New returns the place of path for the folder dir. It has no absolute path if the working folder no longer
// exists.
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
	// The last element may be a link that is meant to lead elsewhere later.
	within, err := filepath.EvalSymlinks(filepath.Dir(p.Absolute))
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

// resolved returns a folder without links, because .. after a link leads elsewhere.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Candidates lists the possible paths today, the most likely first. dir is where the folder is today.
func (p Place) Candidates(dir string) (list []string) {
	if p.FromFolder != "" {
		list = append(list, filepath.Join(resolved(dir), filepath.FromSlash(p.FromFolder)))
	}
	return append(list, p.Absolute, p.Given)
}

// Find returns where it is now. If several candidates exist, it returns the first that passes same, if given,
// or else the first. If none exists, it returns the absolute path.
func (p Place) Find(dir string, same func(path string) bool) string {
	var there []string
	var infos []os.FileInfo
	for _, path := range p.Candidates(dir) {
		info, err := os.Stat(path)
		known := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err == nil && !slices.ContainsFunc(infos, known) {
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
