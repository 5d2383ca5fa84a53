package inspect

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/testing/memory"
	"winnow/internal/testing/reference"
	"winnow/run/extraction"
)

// predicted holds a model's probabilities for four images; the third is labelled dog and looks like a cat.
var predicted = []float32{
	.8, .1, .1,
	.1, .8, .1,
	.7, .2, .1,
	.1, .2, .7,
}

const labelled = "path,label\na.png,cat\nb.png,dog\nc.png,dog\nd.png,eel\n"

func npy(t testing.TB, values []float32) string {
	var out bytes.Buffer
	if err := features.WriteNPY(&out, blas32.General{Rows: len(values) / 3, Cols: 3, Stride: 3,
		Data: values}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lines writes the probabilities as CSV, rows in the given order, each with its prefix.
func lines(head string, order []int, before ...string) string {
	text := head
	for _, i := range order {
		if before != nil {
			text += before[i] + ","
		}
		text += fmt.Sprintf("%v,%v,%v\n", predicted[3*i], predicted[3*i+1], predicted[3*i+2])
	}
	return text
}

func columns(t testing.TB) string {
	type row struct {
		Path string  `parquet:"path"`
		Cat  float64 `parquet:"cat"`
		Dog  float64 `parquet:"dog"`
		Eel  float64 `parquet:"eel"`
	}
	var rows []row
	for _, i := range []int{3, 1, 2, 0} {
		p := predicted[3*i:]
		rows = append(rows, row{string(rune('a'+i)) + ".png", float64(p[0]), float64(p[1]), float64(p[2])})
	}
	return written(t, rows)
}

func lists(t testing.TB) string {
	type row struct {
		P []float32 `parquet:"probabilities,list"`
	}
	var rows []row
	for p := range slices.Chunk(predicted, 3) {
		rows = append(rows, row{p})
	}
	return written(t, rows)
}

// judgedBy audits files with these contents.
func judgedBy(t *testing.T, labels, name, probs string) (*Report, string, error) {
	t.Helper()
	dir := t.TempDir()
	in := Input{Manifest: location.At(dir).Join("labels.csv"), Probs: filepath.Join(dir, name)}
	for path, text := range map[string]string{in.Manifest.Path(): labels, in.Probs: probs} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var notes strings.Builder
	a, err := Judge(t.Context(), in, Options{},
		noting(func(f string, args ...any) { fmt.Fprintf(&notes, f+"\n", args...) }))
	return a, strings.ReplaceAll(notes.String(), dir+"/", ""), err
}

// Every form of the same table finds the same suspect.
func TestProbabilitiesInEveryForm(t *testing.T) {
	numbers := "given_label,true_label\n0,0\n1,1\n1,0\n2,2\n"
	nothing := strings.Replace(numbers, "1,0", "1,none of these", 1)
	for _, form := range []struct{ labels, name, text, told string }{
		{labelled, "p.npy", npy(t, predicted), "p.npy: its columns are taken for the classes in alphabetical order: " +
			"cat, dog, eel\n"},
		{labelled, "p.csv", lines("", []int{0, 1, 2, 3}), "p.csv: its columns are taken for the classes in " +
			"alphabetical order: cat, dog, eel\n"},
		{labelled, "p.csv", lines("0,1,2\n", []int{0, 1, 2, 3}), "p.csv: its columns are taken for the classes in " +
			"alphabetical order: cat, dog, eel\n"},
		{labelled, "p.csv", lines("cat,dog,eel\n", []int{0, 1, 2, 3}), ""},
		{labelled, "p.csv", lines("Cat,DOG,eel\n", []int{0, 1, 2, 3}), "p.csv: its column \"Cat\" is taken for the " +
			"label " +
			"\"cat\", and the others likewise\n"},
		{labelled, "p.csv", lines("prob_cat,prob_dog,prob_eel\n", []int{0, 1, 2, 3}),
			"p.csv: its column \"prob_cat\" is " +
				"taken for the label \"cat\", and the others likewise\n"},
		{labelled, "p.csv", lines("cat score,dog score,eel score\n", []int{0, 1, 2, 3}),
			"p.csv: its column \"cat score\" " +
				"is taken for the label \"cat\", and the others likewise\n"},
		{labelled, "p.csv", lines("class_1,class_2,class_3\n", []int{0, 1, 2, 3}),
			"p.csv: its columns are taken for the " +
				"classes in alphabetical order: cat, dog, eel\n"},
		{strings.NewReplacer("cat", "9", "dog", "10", "eel", "11").Replace(labelled), "p.npy", npy(t, predicted),
			"p.npy: its " +
				"columns are taken for the classes in the order of their numbers: 9, 10, 11\n"},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{2, 0, 3, 1}, "a.png", "b.png", "c.png", "d.png"), ""},
		{labelled, "p.csv", lines(",split,cat,dog,eel\n", []int{0, 1, 2, 3}, "0,train", "1,train", "2,train",
			"3,train"), ""},
		{labelled, "p.parquet", columns(t), ""},
		{labelled, "p.parquet", lists(t), "p.parquet: its columns are taken for the classes in alphabetical order: " +
			"cat, dog, eel\n"},
		{numbers, "p.npy", npy(t, predicted), ""},
		{numbers, "p.csv", lines("", []int{0, 1, 2, 3}), ""},
		{nothing, "p.npy", npy(t, predicted), ""},
	} {
		a, told, err := judgedBy(t, form.labels, form.name, form.text)
		if err != nil {
			t.Errorf("%s: %v", form.name, err)
			continue
		}
		e, want := a.Images[0], []string{"c.png", "dog", "cat"}
		if strings.Contains(form.told, "numbers") {
			want = []string{"c.png", "10", "9"}
		}
		if form.labels == numbers || form.labels == nothing {
			want = []string{"2", "1", "0"}
			if a.Detection == nil || a.Detection.AUROC != 1 {
				t.Errorf("%s: detection %v", form.name, a.Detection)
			}
		}
		if diff := cmp.Diff(want, []string{e.Path, e.Given, e.Suggested}); diff != "" || !e.Dropped ||
			a.Images[1].Dropped || a.Scorer != "probabilities" {
			t.Errorf("%s: %s, flagged %v and %v (-want +got):\n%s", form.name, a.Scorer, e.Dropped,
				a.Images[1].Dropped, diff)
		}
		if rest := strings.TrimSuffix(told, "no class statistics: there are no features of the "+
			"images\n"); rest != form.told {
			t.Errorf("%s: told %q, expected %q", form.name, rest, form.told)
		}
	}
}

func TestProbabilitiesRefused(t *testing.T) {
	turned := make([]float32, 0, len(predicted)) // as if the columns were dog, eel, cat
	for p := range slices.Chunk(predicted, 3) {
		turned = append(turned, p[1], p[2], p[0])
	}
	changed := func(at int, v float32) []float32 {
		p := slices.Clone(predicted)
		p[at] = v
		return p
	}
	for _, c := range []struct{ labels, name, text, want string }{
		{labelled, "p.npy", npy(t, predicted[:9]), "3 rows, expected 4 as in the manifest"},
		{labelled, "p.npy", npy(t, changed(4, -2)), "row 1, from 0: column 1 is -2, expected a probability: apply " +
			"softmax to logits"},
		{labelled, "p.npy", npy(t, changed(4, .1)), "row 1, from 0: the row sums to 0.3"},
		{labelled + "e.png,fox\n", "p.npy", npy(t, predicted), "3 columns for 4 labels in the manifest"},
		{labelled, "p.csv", lines("cat,dog,cow\n", []int{0, 1, 2, 3}),
			`found no column for the label "eel", but cat, dog, cow`},
		{labelled, "p.csv", lines("a,b,c\n", []int{0, 1, 2, 3}), `found no column for the label "cat", but a, b, c`},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{0, 1, 2}, "a.png", "b.png", "c.png"),
			`found no row for "d.png"`},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{0, 1, 1}, "a.png", "b.png"),
			`line 3 and line 4 are both for "b.png"`},
		{labelled, "p.csv", ".5,.5\n.5,x\n", `line 2: found "x", expected a number`},
		{labelled, "p.csv", "", "0 rows of 0 probabilities"},
		{labelled, "p.parquet", "PAR1", "p.parquet"},
		{labelled, "p.pkl", "", `found the ending ".pkl", expected .npy, .csv or .parquet`},
		{"given_label\nx\n", "p.npy", npy(t, predicted[:3]), "3 columns for 1 labels"},
		{labelled, "p.npy", npy(t, turned), "the order may be another"},
		{strings.NewReplacer("cat", "0.0", "dog", "10", "eel", "9").Replace(labelled), "p.npy", npy(t, predicted),
			"the order may be another"}, // the order of their numbers is 0.0, 9, 10
		{"path\nx\n", "p.npy", npy(t, predicted), "expected the columns path and label"},
	} {
		if _, _, err := judgedBy(t, c.labels, c.name, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
}

// In every form, a table that does not fit is refused before it is held.
func TestProbabilitiesWithinMemory(t *testing.T) {
	for name, text := range map[string]string{"p.npy": npy(t, predicted), "p.csv": lines("", []int{0, 1, 2, 3}),
		"p.parquet": columns(t)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readTable(path, 5); err == nil || !strings.Contains(err.Error(), "memory limit") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A column of paths holds one text a row, however few bytes it takes in the file.
func TestPathsRefused(t *testing.T) {
	type many struct {
		Path []string `parquet:"path,list"`
		A, B float32
	}
	type number struct {
		Path int64 `parquet:"path"`
		A, B float32
	}
	type long struct {
		Path string `parquet:"path,dict,zstd"`
		A, B float32
	}
	bomb := slices.Repeat([]long{{strings.Repeat("x", 10000), .5, .5}}, 60000)
	for _, c := range []struct {
		text string
		most uint64
		want string
	}{
		{written(t, []many{{[]string{"a", "b"}, .5, .5}}), 32 << 20, "row 0, from 0: 2 paths, expected one"},
		{written(t, []number{{7, .5, .5}}), 32 << 20, `row 0, from 0: column "path" holds INT64, expected text`},
		{written(t, bomb), 128 << 20, "memory limit"},
	} {
		path := filepath.Join(t.TempDir(), "p.parquet")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		memory.Check(t, c.most, func() {
			if _, err := readTable(path, 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes: %v, expected %q", len(c.text), err, c.want)
			}
		})
	}
}

// With features beside it, a table may take all of the memory, not only what is left for similarities, and the note
// about the splits is given once.
func TestProbabilitiesWithFeatures(t *testing.T) {
	const classes = 1 << 20
	dir := t.TempDir()
	in := Input{Manifest: location.At(dir).Join("m.csv"), Probs: filepath.Join(dir, "p.npy"),
		Features: filepath.Join(dir, "f"), View: "center"}
	p := features.NewMatrix(4, classes)
	for i := range p.Rows {
		p.Data[i*classes+i/2] = 1
	}
	var table bytes.Buffer
	if err := features.WriteNPY(&table, p); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{in.Manifest.Path(): "path,label\na,0\nb,0\nc,1\nd,1\n",
		in.Probs: table.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	w, err := features.Create(in.Features, features.Plan{Key: key, Paths: []string{"a", "b", "c", "d"}, Dim: 2,
		Batch: 4, Device: "cpu", Winnow: "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 2, 2, 1, 3, 1, 1, 3}},
		nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := 0
	h := noting(func(f string, _ ...any) { told += strings.Count(f, "images of all splits") })
	o := Options{IncludeEval: true}
	o.MaxMem, o.JustRank = 140<<20, true
	if _, err := Judge(t.Context(), in, o, h); err != nil || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
}

// noting returns a host that takes notes.
func noting(note func(f string, args ...any)) Host { return Host{Host: extraction.Host{Note: note}} }

// written writes rows as Parquet.
func written[T any](t testing.TB, rows []T) string {
	var out bytes.Buffer
	if err := parquet.Write(&out, rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// FuzzTable reads damaged tables: it expects a table or an error, and no more values than allowed.
func FuzzTable(f *testing.F) {
	for _, text := range []string{npy(f, predicted), lines("path,cat,dog,eel\n", []int{0, 1}, "a", "b"), columns(f),
		lists(f)} {
		for form := range 3 {
			f.Add(form, text)
		}
	}
	f.Fuzz(func(t *testing.T, form int, text string) {
		path := filepath.Join(t.TempDir(), []string{"p.npy", "p.csv", "p.parquet"}[uint(form)%3])
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := readTable(path, 1<<16)
		if err == nil && (x.x.Rows*x.x.Cols != len(x.x.Data) || x.paths != nil && len(x.paths) != x.x.Rows ||
			x.names != nil && len(x.names) != x.x.Cols) {
			t.Errorf("%d rows of %d, %d values, %d paths, %d names", x.x.Rows, x.x.Cols, len(x.x.Data), len(x.paths),
				len(x.names))
		}
	})
}

// On predictions of networks for labels by people, the order is at least as good as the better of self-confidence and
// margin: AUROC and average precision within .001, precision at the true number of errors within .005.
func TestProbabilitiesOfPeople(t *testing.T) {
	for _, kind := range []string{"aggre", "worst"} {
		for _, net := range []string{"resnet18", "swin"} {
			labels := reference.Asset(t, "data/cifar10n-probs/"+kind+"-labels.csv")
			probs := reference.Asset(t, "data/cifar10n-probs/"+kind+"-"+net+".npy")
			a, err := Judge(t.Context(), Input{Manifest: location.At(labels), Probs: probs}, Options{}, Host{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := readTable(probs, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			given, wrong := truths(t, labels)
			self, margin, ours := make([]float64, len(given)), make([]float64, len(given)), make([]float64, len(given))
			for i, y := range given {
				row := features.Row(x.x, i)
				self[i] = float64(row[y])
				margin[i] = self[i] - float64(slices.Max(append(slices.Clone(row[:y]), row[y+1:]...)))
			}
			for i, s := range a.Images {
				ours[s.Row] = float64(i)
			}
			best, got := betterOf(measured(t, self, wrong), measured(t, margin, wrong)), measured(t, ours, wrong)
			t.Logf("%s %s: the better of self-confidence and margin %.4f, ours %.4f", kind, net, best, got)
			for _, norm := range []float64{1.5, 2, 3, math.Inf(1)} {
				order := make([]float64, len(given))
				for i, y := range given {
					order[i] = againstRivals(features.Row(x.x, i), y, norm)
				}
				t.Logf("   rivals in the norm %v: %.4f", norm, measured(t, order, wrong))
			}
			for k, slack := range []float64{.001, .001, .005} {
				if got[k] < best[k]-slack {
					t.Errorf("%s %s: AUROC, AP and precision at n are %.4f, expected %.4f", kind, net, got, best)
				}
			}
		}
	}
}

// againstRivals returns log p_y minus the logarithm of the norm of the rivals.
func againstRivals(p []float32, y int, norm float64) float64 {
	var sum, most float64
	for k, v := range p {
		if k != y {
			sum += math.Pow(float64(v), norm)
			most = max(most, float64(v))
		}
	}
	if !math.IsInf(norm, 1) {
		most = math.Pow(sum, 1/norm)
	}
	return math.Log(max(float64(p[y]), 1e-7)) - math.Log(max(most, 1e-7))
}

// truths reads the given labels and whether they are wrong.
func truths(t *testing.T, path string) (given []int, wrong []bool) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	for first := true; ; first = false {
		r, err := in.Read()
		if err == io.EOF {
			return given, wrong
		}
		if err != nil {
			t.Fatal(err)
		}
		if !first {
			given, wrong = append(given, int(r[0][0]-'0')), append(wrong, r[0] != r[1])
		}
	}
}

func betterOf(a, b [3]float64) [3]float64 {
	return [3]float64{max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])}
}

// measured returns AUROC, average precision and precision at the true number of errors.
func measured(t *testing.T, order []float64, wrong []bool) [3]float64 {
	t.Helper()
	n, rows := 0, make([]int, len(order))
	for i := range rows {
		if rows[i] = i; wrong[i] {
			n++
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		if order[a] < order[b] {
			return -1
		} else if order[a] > order[b] {
			return 1
		}
		return 0
	})
	kept := make([]bool, len(order))
	for rank, i := range rows {
		kept[i] = rank >= n
	}
	d, err := eval.Detect(order, wrong, kept)
	if err != nil {
		t.Fatal(err)
	}
	return [3]float64{d.AUROC, d.AP, d.Precision}
}

// A program without notes passes no function for them.
func TestNotesMayGoNowhere(t *testing.T) {
	dir := t.TempDir()
	in := Input{Manifest: location.At(dir).Join("labels.csv"), Probs: filepath.Join(dir, "p.npy")}
	for path, text := range map[string]string{in.Manifest.Path(): strings.Replace(labelled, "d.png,eel",
		"d.png,eel\ne.png,", 1), in.Probs: npy(t, append(predicted, .1, .2, .7))} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := Judge(t.Context(), in, Options{}, Host{}); err != nil || a.Images[0].Path != "c.png" {
		t.Errorf("%v, %v", a, err)
	}
}

// Labels and columns that are the same numbers in other forms belong together; a guessed order is marked.
func TestNumbersOfColumns(t *testing.T) {
	eleven := func(form string) (list []string) {
		for i := range 12 {
			list = append(list, fmt.Sprintf(form, i))
		}
		slices.Sort(list) // as text
		return list
	}
	for _, c := range []struct {
		names, labels string // forms; "": no header
		guessed       bool
	}{
		{"", "%d.0", false}, {"", "%03d", false}, {"", "class%d", false}, {"", "class_%02d", false},
		{"", "%de0", false},
		{"", "cat %c", true}, {"p%d", "%d.00", false}, {"class%d", "%d", false}, {"prob_%d.0", "%03d", false},
		{"class%d", "class%03d", false},
	} {
		table, labels := table{x: blas32.General{Rows: 1, Cols: 12}}, eleven(c.labels)
		if c.names != "" {
			table.names = eleven(c.names)
		}
		column, names, _, guessed, err := table.findLabelColumns(labels)
		if err != nil || guessed != c.guessed {
			t.Errorf("%q for %q: guessed %v: %v", c.names, c.labels, guessed, err)
			continue
		}
		for i, k := range column {
			var want, got int
			_, _ = fmt.Sscanf(strings.TrimLeft(labels[i], "clas_"), "%d", &want)
			if got = k; c.names != "" {
				_, _ = fmt.Sscanf(strings.TrimLeft(table.names[k], "clasprob_"), "%d", &got)
			}
			if names[k] != labels[i] || !c.guessed && got != want {
				t.Errorf("%q for %q: column %d, named %q, for %q", c.names, c.labels, k, names[k], labels[i])
			}
		}
	}
}
