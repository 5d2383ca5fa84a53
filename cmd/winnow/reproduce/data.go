package reproduce

import (
	"slices"
	"strings"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// parseData reads which files stand for a study's datasets: NAME=MANIFEST,FEATURES[,ROOT] each, or one without a name
// for all of them. NAME@NETWORK is for the rows of another network than the table's.
func parseData(given []string, study studies.Study) (list []runner.Source, err error) {
	known := study.Sources()
	switch {
	case study.Drawn() && len(given) > 0:
		return nil, term.Misused("--data: %s draws what it needs: expected no --data", study.Name)
	case !study.Drawn() && len(given) == 0:
		return nil, term.Misused("--data is missing: NAME=MANIFEST,FEATURES for %s; or MANIFEST,FEATURES for any data "+
			"in their place", strings.Join(known, ", "))
	}
	for _, text := range given {
		name, files, byName := strings.Cut(text, "=")
		if !byName {
			name, files = "", text
		}
		parts := append(strings.SplitN(files, ",", 3), "", "")
		switch {
		case !byName && len(given) > 1, byName && !slices.Contains(known, name),
			slices.ContainsFunc(list, func(s runner.Source) bool { return s.Name == name }),
			parts[0] == "" || parts[1] == "":
			return nil, term.Misused("--data: found %q, expected NAME=MANIFEST,FEATURES[,ROOT] with a NAME of %s, "+
				"each once; or MANIFEST,FEATURES[,ROOT] alone", text, strings.Join(known, ", "))
		}
		list = append(list, runner.Source{
			Name: name, Manifest: location.At(parts[0]), Features: parts[1], Root: location.At(parts[2]),
		})
	}
	return list, nil
}
