package reproduce

import (
	"slices"
	"strings"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// parseData parses the values of --data, which assign files to a study's datasets: NAME=MANIFEST,FEATURES[,ROOT] for
// each dataset, or a single value without NAME= for all. NAME@NETWORK is for the rows that use this network.
func parseData(given []string, study studies.Study) (list []runner.Source, err error) {
	known := study.Sources()
	switch {
	case study.Drawn() && len(given) > 0:
		return nil, term.Misused("--data cannot be used: the study %s draws its own data", study.Name)
	case !study.Drawn() && len(given) == 0:
		return nil, term.Misused("--data is missing: give NAME=MANIFEST,FEATURES for each dataset (%s), or one "+
			"MANIFEST,FEATURES for all", strings.Join(known, ", "))
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
			return nil, term.Misused("--data: found %q, expected NAME=MANIFEST,FEATURES[,ROOT] at most once for each "+
				"dataset (%s), or one MANIFEST,FEATURES[,ROOT] for all", text, strings.Join(known, ", "))
		}
		list = append(list, runner.Source{
			Name: name, Manifest: location.At(parts[0]), Features: parts[1], Root: location.At(parts[2]),
		})
	}
	return list, nil
}
