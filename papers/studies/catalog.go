package studies

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"winnow/internal/catalog"
)

//go:embed studies/*.yaml
var files embed.FS

// List reads every study, sorted by name.
func List() ([]Study, error) {
	names, err := fs.Glob(files, "studies/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Study
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := parseStudy(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Study) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the study with the given name, which is also the name of its file.
func Find(name string) (Study, error) {
	if path := "studies/" + name + ".yaml"; fs.ValidPath(path) {
		if text, err := files.ReadFile(path); err == nil {
			return parseStudy(path, text)
		}
	}
	all, err := List()
	if err != nil {
		return Study{}, err
	}
	return catalog.Find("reproduce: study", name, all, func(s Study) []string { return []string{s.Name} })
}
