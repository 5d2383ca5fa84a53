package datasets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// separateLabels finds labels that do not name a single class, given the number of rows with each label. It maps a JSON
// list with one class to that class, and other such labels to "". A bar always separates classes; a semicolon does so
// only if one of the parts is a label of other rows. A comma may belong to a class name.
func separateLabels(rows map[string]int) (as map[string]string) {
	as = map[string]string{}
	for name := range rows {
		if list, isJSON := listLabels(name); isJSON {
			if as[name] = ""; len(list) == 1 {
				as[name] = list[0]
			}
			continue
		}
		for _, by := range []string{"|", ";"} {
			parts := strings.Split(name, by)
			if len(parts) > 1 && (by == "|" || slices.ContainsFunc(parts, func(part string) bool {
				return rows[strings.TrimSpace(part)] > 0
			})) {
				as[name] = ""
			}
		}
	}
	return as
}

// listLabels returns the labels of a list in JSON or Python syntax, or nil if the JSON is another value.
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
		one, err := plainJSON(value)
		if err != nil || strings.HasPrefix(one, "{") || strings.HasPrefix(one, "[") {
			return nil, true
		}
		if one != "" && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list, true
}

// leaveOutSeveral leaves out the samples whose label names several classes, and replaces JSON lists of one label by the
// label. It returns what was left out.
func (d *Dataset) leaveOutSeveral() (left leftList) {
	if !slices.ContainsFunc(d.Classes, func(name string) bool { return strings.ContainsAny(name, "|;[{") }) {
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
				reason = "with JSON instead of one label"
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
