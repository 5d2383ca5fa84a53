package reproduce

import (
	"slices"
	"strings"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// glyphsData is the value of --data that stands for the embedded dataset.
const glyphsData = "glyphs"

// parseData reads which files stand for a study's datasets: NAME=MANIFEST,FEATURES[,ROOT] each, or one without a name
// for all of them. NAME@NETWORK is for the rows of another network than the table's. Without FEATURES, the model of
// the table's network makes them. It returns nil for glyphs alone, and for a study that needs no data.
func parseData(given []string, study studies.Study) (list []runner.Source, err error) {
	known := study.Sources()
	switch {
	case study.Drawn() && len(given) > 0:
		return nil, term.Misused("--data: %s draws what it needs: expected no --data", study.Name)
	case study.Drawn():
		return nil, nil
	case len(given) == 0:
		return nil, term.Misused("--data is missing: NAME=MANIFEST,FEATURES for %s; MANIFEST,FEATURES for any data in "+
			"their place; or glyphs", strings.Join(known, ", "))
	case len(given) == 1 && given[0] == glyphsData:
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
		case !byName && len(given) > 1, byName && (files == glyphsData || !slices.Contains(known, name)),
			slices.ContainsFunc(list, func(s runner.Source) bool { return s.Name == name }),
			manifest == "" || both && store == "" && root == "":
			return nil, term.Misused("--data: found %q, expected NAME=MANIFEST,FEATURES[,ROOT] with a NAME of %s, "+
				"each once; or MANIFEST,FEATURES[,ROOT] or glyphs alone", text, strings.Join(known, ", "))
		case strings.Contains(name, "@") && store == "":
			return nil, term.Misused("--data: found %q without features, expected them: --model makes those of the "+
				"table's own network", text)
		}
		list = append(list, runner.Source{
			Name: name, Manifest: location.At(manifest), Features: store, Root: location.At(root),
		})
	}
	return list, nil
}

// checkDataOptions refuses data, --finetune, --model and --root that do not fit each other or the study.
func checkDataOptions(o runner.Options) error {
	own := runner.Finetunes(&o.Study)
	switch named := o.Model != "" || !o.Root.IsZero(); {
	case o.Study.Drawn() && (o.Finetune != "" || named):
		return term.Misused("--finetune, --model, --root: %s draws what it needs: expected none of them", o.Study.Name)
	case o.Finetune != "" && own:
		return term.Misused("--finetune: %s says itself what each of its rows trains: expected no --finetune",
			o.Study.Name)
	case o.Glyphs != nil && !o.Root.IsZero(), o.Glyphs != nil && o.Model != "" && o.Finetune == "" && !own:
		return term.Misused("--model, --root: --data glyphs has its own network and pictures: expected neither")
	}
	for _, s := range o.Data {
		if s.Features == "" && o.Model == "" {
			return term.Misused("--data %s: found no features, expected MANIFEST,FEATURES, or --model to make them",
				s.Manifest)
		}
	}
	return nil
}
