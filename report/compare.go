package report

import (
	"cmp"
	"fmt"
	"strings"

	"winnow/run/config"
)

// listDiffering returns a row for each setting that is not the same in all runs: its key and its values.
func listDiffering(runs []config.Run) (rows [][]string) {
	flat := flattenSettings(runs)
	for _, key := range settingKeys(runs...) {
		row, same := []string{key}, true
		for _, f := range flat {
			row, same = append(row, cmp.Or(f[key], "–")), same && f[key] == flat[0][key]
		}
		if !same {
			rows = append(rows, row)
		}
	}
	return rows
}

// mostDiffering is how many differing settings are said in words.
const mostDiffering = 6

// InWords compares finished runs by what their trainings measured on the validation split, in a few sentences.
func InWords(dirs []string) ([]string, error) {
	var list []*Course
	var configs []config.Run
	for _, dir := range dirs {
		c, err := OpenCourse(dir)
		if err != nil {
			return nil, err
		}
		list, configs = append(list, c), append(configs, c.Settings)
	}
	words := []string{measuredInWords(list)}
	rows := listDiffering(configs)
	if len(rows) == 0 {
		return append(words, "Their settings are the same."), nil
	}
	var parts []string
	for _, row := range rows[:min(len(rows), mostDiffering)] {
		parts = append(parts, row[0]+" ("+strings.Join(row[1:], ", ")+")")
	}
	said := "They differ in " + strings.Join(parts, "; ")
	if more := len(rows) - len(parts); more > 0 {
		said += fmt.Sprintf("; and %d more settings", more)
	}
	return append(words, said+"."), nil
}

// measuredInWords says which of some runs is best by P@1 on validation, as far as that can be compared.
func measuredInWords(list []*Course) string {
	var said []string
	best, equal := list[0], 0
	for _, c := range list {
		if c.Result == nil || c.Result.Validation == nil {
			return "Not all of them measured a validation split: compare them in full."
		}
		if c.Facts.ImagesSHA256 != list[0].Facts.ImagesSHA256 || c.Result.Validation.Trained.N !=
			list[0].Result.Validation.Trained.N {
			return "They have different images or labels, so that their validation cannot be compared."
		}
		if c.p1() > best.p1() {
			best = c
		}
		said = append(said, fmt.Sprintf("%s %.4f", c.dir, c.p1()))
	}
	for _, c := range list {
		if c.p1() == best.p1() {
			equal++
		}
	}
	n := best.Result.Validation.Trained.N
	if equal > 1 {
		return fmt.Sprintf("No single one is best by P@1 on the %d validation images, by given labels: %s.", n,
			strings.Join(said, ", "))
	}
	return fmt.Sprintf("%s is best by P@1 on the %d validation images, by given labels: %s. These images chose the "+
		"state of each: a test split says more.", best.dir, n, strings.Join(said, ", "))
}

// p1 returns P@1 of the state that the training kept, on its validation split.
func (c *Course) p1() float64 { return c.Result.Validation.Trained.PrecisionAt1 }
