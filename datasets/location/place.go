package location

import (
	"os"
	"path/filepath"
	"slices"
)

// Place records in a folder where something is that the folder was made from, so that it is found again from
// anywhere. The path relative to the folder finds it if both were moved together; the absolute path if only the
// folder was moved or a command runs elsewhere.
type Place struct {
	Given      Source `json:"given"` // relative to the command's working folder
	FromFolder string `json:"from_folder,omitempty"`
	Absolute   Source `json:"absolute"`
}

// PlaceOf returns the place of a source for the folder dir. It has no absolute path if the working folder no longer
// exists.
func PlaceOf(dir string, s Source) Place {
	p := Place{Given: s}
	absolute, err := s.Absolute()
	if err != nil {
		return p
	}
	p.Absolute = absolute
	if s.IsRemote() { // the same from everywhere
		return p
	}
	// The last element may be a link that is meant to lead elsewhere later.
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

// resolveLinks returns a folder without links, because .. after a link leads elsewhere.
func resolveLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Candidates lists where it may be today, the most likely first. dir is where the folder is today.
func (p Place) Candidates(dir string) (list []Source) {
	if p.FromFolder != "" {
		list = append(list, Source{path: resolveLinks(dir)}.Join(p.FromFolder))
	}
	return append(list, p.Absolute, p.Given)
}

// Find returns where it is now. If several candidates exist, it returns the first that passes same, if given,
// or else the first. If none exists, it returns the absolute path.
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
