package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"winnow/report"
)

func TestMap(t *testing.T) {
	drawnRun(t)
	var result report.Map
	draw := "winnow -q map run --iterations 600 --perplexity 10 --json --out "
	if err := json.Unmarshal([]byte(mustRun(t, draw+"m.svg --out m.csv")),
		&result); err != nil {
		t.Fatal(err)
	}
	if result.Points != 160 || result.Of != 160 || result.Split != "test" || len(result.Files) != 2 ||
		result.TSNE.Iterations != 600 || !(result.TSNE.KL > 0) {
		t.Errorf("%+v, expected the 160 images of test", result)
	}
	lines := table(t, "m.csv")
	if share := nearestHaveLabel(t, lines[1:]); len(lines) != 161 || share < 0.6 {
		t.Errorf("%d lines; a share of %.2f have their nearest point's label, expected most", len(lines), share)
	}
	mustRun(t, draw+"again.csv")
	if readFile(t, "again.csv") != readFile(t, "m.csv") {
		t.Error("the same seed gives another map")
	}
	mustRun(t, "winnow -q audit run --out suspects.csv")
	mustRun(t, draw+"flagged.svg --split train --color suspect --audit suspects.csv")
	if drawing := readFile(t, "flagged.svg"); !strings.Contains(drawing, ">not flagged</text>") {
		t.Error("the drawing does not name the groups")
	}
	stored := mustRun(t, "winnow -q map --features features --manifest noisy.csv --root drawn --split train,test "+
		"--max 100 --color split --iterations 50 --perplexity 5 --json --out all.svg")
	if err := json.Unmarshal([]byte(stored), &result); err != nil || result.Points != 100 || result.Of != 400 {
		t.Errorf("%v: %s", err, stored)
	}
	if text := readFile(t, "all.svg"); !strings.Contains(text, ">train</text>") || !strings.Contains(text,
		">test</text>") {
		t.Error("the drawing does not name the splits")
	}
}

// nearestHaveLabel returns the share of points that have the same label as the nearest point on the map.
func nearestHaveLabel(t *testing.T, lines [][]string) float64 {
	t.Helper()
	at := func(i int) (x, y float64) {
		x, errX := strconv.ParseFloat(lines[i][1], 64)
		y, errY := strconv.ParseFloat(lines[i][2], 64)
		if errX != nil || errY != nil {
			t.Fatalf("%q", lines[i])
		}
		return x, y
	}
	same := 0.0
	for i := range lines {
		x, y := at(i)
		best, least := -1, 0.0
		for j := range lines {
			if u, v := at(j); j != i && (best < 0 || (u-x)*(u-x)+(v-y)*(v-y) < least) {
				best, least = j, (u-x)*(u-x)+(v-y)*(v-y)
			}
		}
		if lines[best][3] == lines[i][3] {
			same++
		}
	}
	return same / float64(len(lines))
}
