package datasets

import (
	"fmt"
	"slices"
)

// Carried returns the decisions that make of d, read from a source, what a list says that was made of it: another label
// for a sample, or none for one that is not listed. The list's paths must be those of d. Of its columns only path and
// label count.
func Carried(d, list *Dataset) (map[int]Decision, error) {
	at := make(map[string][]int, len(d.Samples))
	for i := range d.Samples {
		at[d.Samples[i].Path] = append(at[d.Samples[i].Path], i)
	}
	label := make([]string, len(d.Samples))
	listed := make([]bool, len(d.Samples))
	taken := map[string]int{} // of paths that stand several times
	foreign, example := 0, ""
	for i := range list.Samples {
		s := &list.Samples[i]
		places := at[s.Path]
		n := taken[s.Path]
		if len(places) > 1 {
			taken[s.Path]++
		}
		if n >= len(places) || len(places) == 1 && listed[places[0]] {
			if foreign++; foreign == 1 {
				example = s.Path
			}
			continue
		}
		listed[places[n]], label[places[n]] = true, list.LabelName(*s)
	}
	if foreign > 0 {
		return nil, fmt.Errorf("%d of its %d paths are not those of the source, the first %.200q; there the first is "+
			"%.200q: expected a list that was made of this source, read in the same way", foreign, len(list.Samples),
			example, d.Samples[0].Path)
	}
	for _, s := range slices.Backward(d.Samples) {
		if n := taken[s.Path]; n > 0 && n < len(at[s.Path]) {
			return nil, fmt.Errorf("lists %.200q %d times, the source %d times: which of them stay cannot be told",
				s.Path, n, len(at[s.Path]))
		}
	}
	made := map[int]Decision{}
	for i, s := range d.Samples {
		if !listed[i] {
			made[i] = Decision{Drop: true}
		} else if label[i] != d.LabelName(s) {
			made[i] = Decision{Label: label[i]}
		}
	}
	return made, nil
}
