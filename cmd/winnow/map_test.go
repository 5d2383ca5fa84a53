package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"winnow/report"
	"winnow/run/measure"
)

func TestMap(t *testing.T) {
	drawnRun(t)
	var result report.Map
	draw := "winnow -q map run --iterations 600 --perplexity 10 --json --out "
	if err := json.Unmarshal([]byte(mustRun(t, draw+"m.html --out m.svg --out m.csv --projector vectors")),
		&result); err != nil {
		t.Fatal(err)
	}
	if result.Points != 160 || result.Of != 160 || result.Split != "test" || len(result.Files) != 5 ||
		result.TSNE.Iterations != 600 || !(result.TSNE.KL > 0) {
		t.Errorf("%+v, expected the 160 images of test", result)
	}
	lines := table(t, "m.csv")
	if share := nearestHaveLabel(t, lines[1:]); len(lines) != 161 || share < 0.6 {
		t.Errorf("%d lines; a share of %.2f have a nearest point of the same label, expected most", len(lines), share)
	}
	page := readFile(t, "m.html")
	if !strings.Contains(page, "160, at most ") || !strings.Contains(page, "data:image/jpeg") || strings.Contains(page,
		">U+") {
		t.Error("the page lacks its pictures or readable names")
	}
	tensors, metadata := strings.Split(readFile(t, "vectors", "tensors.tsv"), "\n"), strings.Split(readFile(t,
		"vectors", "metadata.tsv"), "\n")
	if len(tensors) != 161 || len(metadata) != 162 || !strings.HasPrefix(metadata[1], lines[1][0]+"\t") {
		t.Errorf("%d tensors, %d lines of metadata, the first %q", len(tensors), len(metadata), metadata[1])
	}
	mustRun(t, draw+"again.csv")
	if readFile(t, "again.csv") != readFile(t, "m.csv") {
		t.Error("the same seed gives another map")
	}
	mustRun(t, "winnow -q audit run --out suspects.csv")
	mustRun(t, draw+"scores.html --split train --color score --audit suspects.csv --no-pictures")
	if page := readFile(t, "scores.html"); !strings.Contains(page, "looks wrong") || strings.Contains(page,
		"data:image/jpeg") || strings.Contains(page, "data:image/png") {
		t.Error("the page has no scale, or pictures")
	}
	stored := mustRun(t, "winnow -q map --features features --manifest noisy.csv --root drawn --split train,test "+
		"--max 100 --color split --method pca --json --out all.svg --out all.tsv")
	if err := json.Unmarshal([]byte(stored), &result); err != nil || result.Points != 100 || result.Of != 400 ||
		result.Shares == nil || !(result.Shares[0] >= result.Shares[1]) {
		t.Errorf("%v: %s", err, stored)
	}
	if text := readFile(t, "all.svg"); !strings.Contains(text, ">train</text>") || !strings.Contains(text,
		">test</text>") {
		t.Error("the drawing does not name the splits")
	}
}

// nearestHaveLabel returns the share of points whose nearest point on the map has the same label.
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

func TestMapMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "no-scores.csv", "a,b\n1,2\n")
	write(t, "bad-scores.csv", "path,label,predicted_label,score\nx,a,a,1\ny,a,a,high\n")
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"map":         {2, "found neither --out nor --projector"},
		"map -o a.md": {2, `"a.md" ends in none of`},
		"map -o a.svg --color red": {2,
			`found "red", expected one of label, true, split, score, suspect, class=LABEL`},
		"map -o a.svg --color score":   {2, "found no --audit"},
		"map -o a.svg --color suspect": {2, "--color suspect: found no --audit"},
		"map -o a.svg --color class=":  {2, `found "class="`},
		"map -o a.svg --method umap":   {2, `found "umap", expected tsne or pca`},
		"map -o a.svg --max 3":         {2, "found 3 images"},
		"map -o a.svg --perplexity 0":  {2, "--perplexity: found 0"},
		"map -o a.svg --iterations 0":  {2, "--iterations: found 0"},
		"map -o a.svg": {2, "takes a run folder, or --features DIR with " +
			"--manifest FILE"},
		"map -o a.svg nowhere":                    {1, "nowhere: holds no config.yaml"},
		"map -o a.svg run --audit no-scores.csv":  {1, `found the columns a,b`},
		"map -o a.svg run --audit bad-scores.csv": {1, `bad-scores.csv:3: score: found "high"`},
		"retrieve":                                           {2, "--out missing"},
		"retrieve -o a.svg run":                              {2, `"a.svg" does not end in .html`},
		"retrieve -o a.html --k 0":                           {2, "--k 0: expected at least one"},
		"retrieve -o a.html --queries 1000 --k 1000":         {2, "at most 5000 pictures"},
		"retrieve -o a.html --choose best":                   {2, `found "best", expected random, worst or spread`},
		"retrieve -o a.html":                                 {2, "takes a run folder, or --features DIR"},
		"retrieve -o a.html --features nowhere --manifest x": {1, "x"},
	} {
		fails(t, want.code, want.text, strings.Fields(line)...)
	}
	if files, _ := os.ReadDir("."); len(files) != 2 {
		t.Errorf("something was written: %v", files)
	}
}

// The share of hits among nearest neighbours is P@1; the worst queries are in order; no query finds itself.
func TestRetrieve(t *testing.T) {
	drawnRun(t)
	read := func(line string) (r measure.Examples) {
		t.Helper()
		if err := json.Unmarshal([]byte(mustRun(t, "winnow -q retrieve run --json "+line)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := read("--out all.html --queries 160 --k 1")
	if p := precisionOf(t, []byte(mustRun(t, "winnow -q eval run --json"))); all.Precision != p ||
		len(all.Queries) != 160 || all.Gallery != 160 {
		t.Errorf("%d queries among %d, share of hits %v; expected 160 and P@1 %v", len(all.Queries), all.Gallery,
			all.Precision, p)
	}
	worst := read("--out worst.html --queries 20 --k 5 --choose worst")
	for i, q := range worst.Queries {
		hits := 0
		for j, n := range q.Nearest {
			if n.Hit != (n.Label == q.Label) || n.Path == q.Path || j > 0 && n.Similarity > q.Nearest[j-1].Similarity {
				t.Errorf("query %s: %+v", q.Path, q.Nearest)
			}
			if n.Hit {
				hits++
			}
		}
		if hits != q.Hits || len(q.Nearest) != 5 || i > 0 && q.Hits < worst.Queries[i-1].Hits {
			t.Errorf("query %d: %+v", i, q)
		}
	}
	page := readFile(t, "worst.html")
	hits := int(worst.Precision*100 + 0.5)
	if got := strings.Count(page, `aria-label="hit"`); got != hits ||
		strings.Count(page, `aria-label="miss"`) != 100-hits || strings.Count(page, "data:image/png") != 120 {
		t.Errorf("%d hits, %d misses, %d pictures on the page, expected %d, %d, 120", got,
			strings.Count(page, `aria-label="miss"`), strings.Count(page, "data:image/png"), hits, 100-hits)
	}
	if a, b := read("--out a.html --queries 4 --seed 1"),
		read("--out b.html --queries 4 --seed 2"); a.Queries[0].Path == b.Queries[0].Path &&
		a.Queries[1].Path == b.Queries[1].Path {
		t.Error("another seed asks the same")
	}
	code, _, stderr := call(context.Background(), "retrieve", "run", "--out", "c.html", "--root", t.TempDir())
	if code != 1 || !strings.Contains(stderr, "can be read") || !strings.Contains(stderr, "--root") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestMapHints checks that misuse comes with its hint.
func TestMapHints(t *testing.T) {
	fails(t, 2, "winnow: make it: winnow audit", "map", "nosuch", "--out", "map.html", "--color", "score")
}
