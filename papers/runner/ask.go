package runner

import (
	"fmt"
	"slices"
	"strings"

	"winnow/papers/studies"
)

// GlyphsData is the name under which [ParseData] knows the embedded dataset.
const GlyphsData = "glyphs"

// ParseData reads which files stand for a study's datasets: NAME=MANIFEST,FEATURES[,ROOT] each, or one without a name for
// all of them. NAME@NETWORK is for the rows of another network than the table's. FEATURES may be left away, which [Options.Model]
// then makes, of the table's network alone. It returns nil for [GlyphsData] alone, and where the study needs no data. Errors go on
// from the word --data.
func ParseData(given []string, study studies.Study) (list []Source, err error) {
	known := study.Sources()
	switch {
	case study.Drawn() && len(given) > 0:
		return nil, fmt.Errorf(": %s draws what it needs: expected no --data", study.Name)
	case study.Drawn():
		return nil, nil
	}
	if len(given) == 0 {
		return nil, fmt.Errorf(" is missing: NAME=MANIFEST,FEATURES for %s; MANIFEST,FEATURES for any data in their place; or glyphs", strings.Join(known, ", "))
	}
	if len(given) == 1 && given[0] == GlyphsData {
		return nil, nil
	}
	for _, text := range given {
		name, files, byName := strings.Cut(text, "=")
		if !byName {
			name, files = "", text
		}
		manifest, store, both := strings.Cut(files, ",")
		store, root, _ := strings.Cut(store, ",")
		switch {
		case !byName && len(given) > 1:
			return nil, fmt.Errorf(" %s stands in for every dataset: expected no other --data beside it", text)
		case byName && files == GlyphsData:
			return nil, fmt.Errorf(" %s: the drawn characters stand in for every dataset: --data glyphs", text)
		case slices.ContainsFunc(list, func(s Source) bool { return s.Name == name }):
			return nil, fmt.Errorf(": found %q twice", name)
		case byName && !slices.Contains(known, name):
			return nil, fmt.Errorf(": %s has no dataset %q, it has %s", study.Name, name, strings.Join(known, ", "))
		case manifest == "" || both && store == "" && root == "":
			return nil, fmt.Errorf(": found %q, expected MANIFEST,FEATURES or MANIFEST,FEATURES,ROOT; with --model MANIFEST or MANIFEST,,ROOT", files)
		case strings.Contains(name, "@") && store == "":
			return nil, fmt.Errorf(": found %q without features, expected them: --model makes those of the table's own network", text)
		}
		list = append(list, Source{Name: name, Manifest: manifest, Features: store, Root: root})
	}
	return list, nil
}
