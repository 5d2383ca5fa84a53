package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
)

//go:embed beside.svg.tmpl
var besideDrawing string

// besideName is the bar chart that compares winnow with cleanlab; measured is the output of beside_cleanlab.py.
const (
	besideName = "beside-cleanlab.svg"
	measured   = "experiments/audit/cleanlab.csv"
)

// judged holds the bars of a set: the number of wrong labels among the first 100 images that each tool ranks.
type judged struct {
	Name          string // name of the set in the chart
	Images, Wrong string
	Winnow        int
	Cleanlab      int // by cleanlab's best method on the set
	Alone         int // by cleanlab's method that uses only features
	Top           int // vertical position in pixels
}

// sets lists the sets of the chart in order, by their names in the measurements.
var sets = []struct{ name, shown string }{
	{"aggre", "CIFAR-10N aggre, people's labels"}, {"random1", "CIFAR-10N random1, people's labels"},
	{"worse", "CIFAR-10N worse, people's labels"}, {"cub-1", "birds, 20 % flipped"},
	{"mnist-1", "digits, 10 % flipped"},
}

// alone is the prefix of cleanlab's method that uses only features.
const alone = "10 nearest"

// bars reads the measurements. For cleanlab, it takes the method that finds most errors on a set.
func bars(table []byte) ([]judged, error) {
	in := csv.NewReader(bytes.NewReader(table))
	in.Comment = '#'
	rows, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	var all []judged
	for _, s := range sets {
		j := judged{Name: s.shown, Winnow: -1, Cleanlab: -1, Alone: -1, Top: 92 + 62*len(all)}
		for _, row := range rows {
			if len(row) != 7 || row[0] != s.name {
				continue
			}
			found, err := strconv.Atoi(row[4])
			if err != nil {
				return nil, err
			}
			if row[1] == "winnow audit" {
				j.Winnow, j.Images, j.Wrong = found, row[2], row[3]
			} else {
				j.Cleanlab = max(j.Cleanlab, found)
			}
			if strings.HasPrefix(row[1], alone) {
				j.Alone = max(j.Alone, found)
			}
		}
		if j.Winnow < 0 || j.Alone < 0 {
			return nil, fmt.Errorf("%s lacks a measurement of %s by winnow or cleanlab", measured, s.name)
		}
		all = append(all, j)
	}
	return all, nil
}

// draw returns the chart.
func draw(all []judged) ([]byte, error) {
	width := func(n int) int { return 4 * n }
	var b bytes.Buffer
	err := template.Must(template.New("beside").Funcs(template.FuncMap{"width": width,
		"plus": func(a, b int) int { return a + b }}).Parse(besideDrawing)).Execute(&b,
		map[string]any{"Sets": all, "Height": 92 + 62*len(all)})
	return []byte(strings.TrimSpace(b.String()) + "\n"), err
}

// beside draws the chart from the measurements in the repository, which must be the working folder.
func (m *maker) beside(context.Context) error {
	table, err := os.ReadFile(measured)
	if err != nil {
		return err
	}
	all, err := bars(table)
	if err != nil {
		return err
	}
	svg, err := draw(all)
	if err != nil {
		return err
	}
	fmt.Printf("%s  %d sets\n", besideName, len(all))
	return atomicfile.WriteBytes(filepath.Join(m.out, besideName), svg)
}
