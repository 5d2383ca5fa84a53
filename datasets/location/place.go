package location

import (
	"os"
	"path/filepath"
	"slices"
)

// Place records, in a folder that a command creates, the location of something it was made from, so that it can be
// found again. The path relative to the folder is right if both were moved together. The absolute path is right if only
// the folder was moved, or if a command runs in another working folder.
type Place struct {
	Given      Source `json:"given"` // as given, relative to the working folder
	FromFolder string `json:"from_folder,omitempty"`
	Absolute   Source `json:"absolute"`
}

// PlaceOf returns the place of a source for the folder dir. It has no absolute path if the working folder was deleted.
func PlaceOf(dir string, s Source) Place {
	p := Place{Given: s}
	absolute, err := s.Absolute()
	if err != nil {
		return p
	}
	p.Absolute = absolute
	if s.IsRemote() { // an address is the same from everywhere
		return p
	}
	// The last element is not resolved: it may be a link that will have another target later.
	within, err := filepath.EvalSymlinks(absolute.Parent().Path())
	if err != nil {
		return p
	}
	from, err := filepath.Abs(resolveLinks(dir))
	if err != nil {
		return p
	}
	if rel, err := filepath.Rel(from, filepath.Join(within, absolute.Base())); err == nil {
		p.FromFolder = filepath.ToSlash(rel)
	}
	return p
}

// resolveLinks resolves the links in a folder's path, because ".." after a link leads elsewhere.
func resolveLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Candidates lists the possible current locations, the most likely first. dir is the folder's current location.
func (p Place) Candidates(dir string) (list []Source) {
	if p.FromFolder != "" {
		list = append(list, Source{path: resolveLinks(dir)}.Join(p.FromFolder))
	}
	return append(list, p.Absolute, p.Given)
}

// Find returns the current location. If several candidates exist, it returns the first that passes same or, if same is
// nil or none passes, the first. If no candidate exists, it returns the absolute path.
func (p Place) Find(dir string, same func(Source) bool) Source {
	var there []Source
	var infos []os.FileInfo
	for _, s := range p.Candidates(dir) {
		info, err := os.Stat(s.path)
		known := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err == nil && !slices.ContainsFunc(infos, known) {
			there, infos = append(there, s), append(infos, info)
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
