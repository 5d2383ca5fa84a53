package published

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// shown is how many names of a folder a message lists.
const shown = 8

// hasPresetFiles reports whether a folder has any of the preset's files.
func (p Preset) hasPresetFiles(fsys fs.FS) bool {
	return slices.ContainsFunc(p.Files, func(name string) bool { return hasFile(fsys, name) })
}

// explainElsewhere completes the error about a missing file: it adds what the preset's folder looks like, what the
// folder holds instead and, if the right folder is one level down, its name.
func (p Preset) explainElsewhere(fsys fs.FS, err error) error {
	entries, rerr := fs.ReadDir(fsys, ".")
	if rerr != nil {
		return rerr
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		for _, file := range p.Files { // whatever type e has: dataset folders are often links
			if hasFile(fsys, path.Join(name, file)) {
				return fmt.Errorf("%w, expected the folder of %s; %s lies in %s/: give that folder as the root", err,
					p.Title, file, name)
			}
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	there := "nothing"
	if n := len(names); n > shown {
		there = fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), n-shown)
	} else if n > 0 {
		there = strings.Join(names, ", ")
	}
	return fmt.Errorf("%w, expected the folder of %s, which has %s; there is %s", err, p.Title,
		strings.Join(p.Files, ", "), there)
}

// refuseMissingFiles returns the error for a file that does not exist.
func refuseMissingFiles(names ...string) error { return notThere(strings.Join(names, " or ")) }

type notThere string

func (n notThere) Error() string { return "found no " + string(n) }

// Is makes the error an fs.ErrNotExist.
func (n notThere) Is(target error) bool { return target == fs.ErrNotExist }

func hasFile(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}
