package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The kinds of labels and the scorers of the study audit-judges that EXPERIMENTS.md shows.
var (
	shownLabels = []string{
		"cub, symmetric 20 %", "cub, symmetric 50 %", "cub, pair 20 %", "cub, pair 40 %", "cub, human-like 40 %",
		"cifar10, symmetric 50 %", "cifar10, people, aggre", "cifar10, people, random1", "cifar10, people, worse",
	}
	shownJudges = []string{"combined", "fitted", "crossfit", "aum", "self-confidence", "knn"}
)

// judges returns a table of average precisions from the stored page of audit-judges. It has a line for each of the
// shown kinds of labels, and a line with the mean over all kinds.
func judges(root string) (string, error) {
	path := filepath.Join(root, "experiments", "audit", "tables.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	_, table, found := strings.Cut(string(page), "\n| ap % | ")
	head, table, _ := strings.Cut(table, " |\n")
	labels := strings.Split(head, " | ")
	means := map[string][]float64{} // by scorer
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) < 2 {
			if strings.HasPrefix(line, "|---") {
				continue
			}
			break
		}
		for _, cell := range cells[1:] {
			mean, _, _ := strings.Cut(cell, " ")
			v, err := strconv.ParseFloat(mean, 64)
			if err != nil {
				return "", fmt.Errorf("%s: average precision of %s: %w", path, cells[0], err)
			}
			means[cells[0]] = append(means[cells[0]], v)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| labels | %s |\n|---%s|\n", strings.Join(shownJudges, " | "),
		strings.Repeat("|---:", len(shownJudges)))
	line := func(name string, of func([]float64) float64) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, judge := range shownJudges {
			fmt.Fprintf(&b, " %.1f |", of(means[judge]))
		}
		b.WriteString("\n")
	}
	for _, judge := range shownJudges {
		if !found || len(means[judge]) != len(labels) {
			return "", fmt.Errorf("%s: found %d average precisions of %s, expected %d", path, len(means[judge]), judge,
				len(labels))
		}
	}
	for _, name := range shownLabels {
		at := slices.Index(labels, name)
		if at < 0 {
			return "", fmt.Errorf("%s: no column %q, expected one", path, name)
		}
		line(name, func(list []float64) float64 { return list[at] })
	}
	line(fmt.Sprintf("all %d kinds", len(labels)), func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		return sum / float64(len(list))
	})
	return b.String(), nil
}
