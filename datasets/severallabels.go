package datasets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// Why rows are left out for their labels.
const (
	joinedLabels = "with several labels"
	jsonLabels   = "with JSON in place of a label"
)

// mayBeSeveral reports whether a label may name several classes, or be JSON.
func mayBeSeveral(label string) bool {
	return strings.ContainsAny(label, "|;,") || strings.HasPrefix(label, "[") || strings.HasPrefix(label, "{")
}

// separateLabels decides by the whole column, given as the number of rows of each label, which labels are not the
// name of one class: it returns the class of those that are a JSON list of one, and "" for those that are left out.
// Names of classes may hold commas, semicolons and bars ("crane, bird"): a column joins labels if at least half of the
// names with a separator have a part that is a label of other rows, or a part in common or, with a bar, stand in one
// row alone.
func separateLabels(rows map[string]int) (as map[string]string) {
	as = map[string]string{}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(rows)), func(name string) bool {
		list, isJSON := listOfLabels(name)
		switch {
		case !isJSON:
			return false
		case len(list) == 1:
			as[name] = list[0]
		default:
			as[name] = ""
		}
		return true
	})
	for _, by := range []string{"|", ";", ", ", ","} {
		var joined []string
		parts := map[string]int{} // how many of the joined labels have a part
		for _, name := range names {
			list := partsOf(name, by)
			if list != nil {
				joined = append(joined, name)
			}
			for _, part := range list {
				parts[part]++
			}
		}
		shared := 0
		for _, name := range joined {
			alone := by == "|" && rows[name] == 1
			if alone || slices.ContainsFunc(partsOf(name, by), func(part string) bool {
				return rows[part] > 0 || by != ", " && parts[part] > 1
			}) {
				shared++
			}
		}
		if 2*shared >= len(joined) {
			for _, name := range joined {
				as[name] = ""
			}
		}
	}
	return as
}

// partsOf returns the different labels that a separator joins, nil if there are fewer than two or one is empty.
func partsOf(label, by string) []string {
	list := strings.Split(label, by)
	for i, part := range list {
		if list[i] = strings.TrimSpace(part); list[i] == "" || by == "," && strings.HasPrefix(part, " ") {
			return nil
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) < 2 {
		return nil
	}
	return list
}

// listOfLabels returns the labels of a list as JSON or Python writes it, nil if the JSON is another value.
func listOfLabels(label string) (list []string, isJSON bool) {
	if !strings.HasPrefix(label, "[") && !strings.HasPrefix(label, "{") {
		return nil, false
	}
	text := []byte(label)
	if !json.Valid(text) {
		text = []byte(strings.ReplaceAll(label, "'", `"`))
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, json.Valid(text)
	}
	list = []string{}
	for _, value := range raw {
		one, err := jsontext.Plain(value)
		if err != nil || strings.HasPrefix(one, "{") || strings.HasPrefix(one, "[") {
			return nil, true
		}
		if one != "" && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list, true
}

// leaveOutSeveral leaves out the samples whose labels name several classes, and reads JSON lists of one label. It
// returns what was left out.
func (d *Dataset) leaveOutSeveral() []Left {
	if !slices.ContainsFunc(d.Classes, mayBeSeveral) {
		return nil
	}
	rows := map[string]int{}
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label != Unlabelled {
			rows[d.Classes[s.Label]]++
		}
	}
	if d.Separated = separateLabels(rows); len(d.Separated) == 0 {
		d.Separated = nil
		return nil
	}
	left, first := map[string]int{}, map[string]string{}
	b := builder{samples: make([]Sample, 0, len(d.Samples))}
	for _, s := range d.Samples {
		label, given := d.Separated[d.className(s.Label)]
		if !given {
			label = d.className(s.Label)
		} else if label == "" {
			reason := joinedLabels
			if list, isJSON := listOfLabels(d.className(s.Label)); isJSON && len(list) < 2 {
				reason = jsonLabels
			}
			left[reason]++
			first[reason] = cmp.Or(first[reason], d.className(s.Label))
			continue
		}
		truth, known := d.Separated[d.className(s.True)]
		if !known {
			truth = d.className(s.True)
		}
		b.addSample(row{path: s.Path, label: label, truth: truth, split: s.Split, extra: s.Extra})
	}
	kept := b.buildSorted(d.Columns)
	d.Samples, d.Classes = kept.Samples, kept.Classes
	var list []Left
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		list = append(list, Left{fmt.Sprintf("%s, such as %.60q", reason, first[reason]), "rows", left[reason]})
	}
	return list
}
