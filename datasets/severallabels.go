package datasets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// separateLabels decides by the whole column, given as the number of rows of each label, which labels are not the
// name of one class: it returns the class of those that are a JSON list of one, and "" for those that are left out.
// Names of classes may hold commas, semicolons and bars ("crane, bird"): a column joins labels if at least half of the
// names with a separator have a part that is a label of other rows, or a part in common or, with a bar, are in one
// row only.
func separateLabels(rows map[string]int) (as map[string]string) {
	as = map[string]string{}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(rows)), func(name string) bool {
		list, isJSON := listLabels(name)
		if isJSON {
			as[name] = ""
		}
		if len(list) == 1 {
			as[name] = list[0]
		}
		return isJSON
	})
	for _, by := range []string{"|", ";", ", ", ","} {
		var joined []string
		parts, shared := map[string]int{}, 0 // how many of the joined labels have a part
		for _, name := range names {
			list := splitLabel(name, by)
			if list != nil {
				joined = append(joined, name)
			}
			for _, part := range list {
				parts[part]++
			}
		}
		for _, name := range joined {
			if by == "|" && rows[name] == 1 || slices.ContainsFunc(splitLabel(name, by), func(part string) bool {
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

// splitLabel returns the different labels that a separator joins, nil if there are fewer than two or one is empty.
func splitLabel(label, by string) []string {
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

// listLabels returns the labels of a list as JSON or Python writes it, nil if the JSON is another value.
func listLabels(label string) (list []string, isJSON bool) {
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
func (d *Dataset) leaveOutSeveral() (left leftList) {
	if !slices.ContainsFunc(d.Classes, func(name string) bool { return strings.ContainsAny(name, "|;,[{") }) {
		return nil
	}
	rows := map[string]int{}
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label != Unlabelled {
			rows[d.Classes[s.Label]]++
		}
	}
	separated := separateLabels(rows)
	if len(separated) == 0 {
		return nil
	}
	labelOf := func(id int) string {
		if label, given := separated[d.className(id)]; given {
			return label
		}
		return d.className(id)
	}
	b, first := builder{samples: make([]Sample, 0, len(d.Samples))}, map[string]string{}
	for _, s := range d.Samples {
		label := labelOf(s.Label)
		if label == "" && s.Label != Unlabelled {
			reason, name := "with several labels", d.className(s.Label)
			if list, isJSON := listLabels(name); isJSON && len(list) < 2 {
				reason = "with JSON in place of one label"
			}
			if first[reason] == "" {
				first[reason] = fmt.Sprintf("%s, such as %.60q", reason, name)
			}
			left.addOne(first[reason], "rows")
			continue
		}
		b.addSample(row{path: s.Path, label: label, truth: labelOf(s.True), split: s.Split, extra: s.Extra,
			number: s.Row + 1})
	}
	kept := b.buildSorted(d.Columns)
	d.Samples, d.Classes = kept.Samples, kept.Classes
	return left
}
