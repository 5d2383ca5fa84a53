package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/papers/studies"
)

// GlyphsData is the name under which [ParseData] knows the embedded dataset.
const GlyphsData = "glyphs"

// ParseSeeds reads a number of repetitions or a list, 1,3,7-9; none of "".
func ParseSeeds(given string) (seeds []uint64, err error) {
	if given == "" {
		return nil, nil
	}
	text := given
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 1000 {
		text = fmt.Sprintf("1-%d", n)
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), "-")
		if !span {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || a < 1 || b < a || b-a >= 1000 {
			return nil, fmt.Errorf("found %q, expected a number of repetitions, or a list as 1,3,7-9", given)
		}
		for s := a; s <= b; s++ {
			seeds = append(seeds, s)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(seeds))), nil
}

// ParseData reads which files stand for a study's datasets: NAME=MANIFEST,FEATURES[,ROOT] each, or one without a name for
// all of them. It returns nil for [GlyphsData] alone. Errors go on from the word --data.
func ParseData(given []string, study studies.Study) (list []Source, err error) {
	known := study.Datasets()
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
		case !both || manifest == "" || store == "":
			return nil, fmt.Errorf(": found %q, expected MANIFEST,FEATURES or MANIFEST,FEATURES,ROOT", files)
		}
		list = append(list, Source{Name: name, Manifest: manifest, Features: store, Root: root})
	}
	return list, nil
}
