package inspect

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/testing/reference"
	"winnow/run/extraction"
)

// predicted holds a model's probabilities for four images. The third image has the label dog, but is predicted as cat.
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

// lines formats the probabilities as CSV: a header, then the rows in the given order, each after its string of before.
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

// judgedBy audits files with these contents, and returns the report and the notes.
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

// An audit finds the same suspect whatever the file format of the probabilities and the kind of labels.
func TestProbabilitiesInEveryForm(t *testing.T) {
	numbers := "given_label,true_label\n0,0\n1,1\n1,0\n2,2\n"
	nothing := strings.Replace(numbers, "1,0", "1,none of these", 1)
	const guessed = "its columns are assumed to be the classes in alphabetical order: cat, dog, eel\n"
	all := []int{0, 1, 2, 3}
	for _, form := range []struct{ labels, name, text, told string }{
		{labelled, "p.npy", npy(t, predicted), "p.npy: " + guessed},
		{labelled, "p.csv", lines("", all), "p.csv: " + guessed},
		{labelled, "p.csv", lines("0,1,2\n", all), "p.csv: " + guessed},
		{labelled, "p.csv", lines("cat,dog,eel\n", all), ""},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{2, 0, 3, 1}, "a.png", "b.png", "c.png", "d.png"), ""},
		{labelled, "p.csv", lines(",split,cat,dog,eel\n", all, "0,train", "1,train", "2,train", "3,train"), ""},
		{numbers, "p.npy", npy(t, predicted), ""},
		{"given_label\n0.0\n1.0\n1.0\n2.0\n", "p.npy", npy(t, predicted), ""},
		{nothing, "p.npy", npy(t, predicted), ""},
	} {
		a, told, err := judgedBy(t, form.labels, form.name, form.text)
		if err != nil {
			t.Errorf("%s: %v", form.name, err)
			continue
		}
		e, want := a.Images[0], []string{"c.png", "dog", "cat"}
		if form.labels == numbers || form.labels == nothing {
			want = []string{"2", "1", "0"}
			if a.Detection == nil || a.Detection.AUROC != 1 {
				t.Errorf("%s: detection %v", form.name, a.Detection)
			}
		} else if form.labels != labelled {
			want = []string{"2", "1.0", "0.0"}
		}
		if diff := cmp.Diff(want, []string{e.Path, e.Given, e.Suggested}); diff != "" || !e.Flagged ||
			a.Images[1].Flagged || a.Scorer != "probabilities" {
			t.Errorf("%s: %s, flagged %v and %v (-want +got):\n%s", form.name, a.Scorer, e.Flagged,
				a.Images[1].Flagged, diff)
		}
		if rest := strings.TrimSuffix(told, "no class statistics: there are no features of the "+
			"images\n"); rest != form.told {
			t.Errorf("%s: notes %q, expected %q", form.name, rest, form.told)
		}
	}
}

func TestProbabilitiesRefused(t *testing.T) {
	turned := make([]float32, 0, len(predicted)) // the columns in the order dog, eel, cat
	for p := range slices.Chunk(predicted, 3) {
		turned = append(turned, p[1], p[2], p[0])
	}
	changed := func(at int, v float32) []float32 {
		p := slices.Clone(predicted)
		p[at] = v
		return p
	}
	for _, c := range []struct{ labels, name, text, want string }{
		{labelled, "p.npy", npy(t, predicted[:9]), "3 rows, expected the 4 of the manifest"},
		{labelled, "p.npy", npy(t, changed(4, -2)), `"b.png": column 1 is -2, expected a probability: apply softmax`},
		{labelled, "p.npy", npy(t, changed(4, .1)), `"b.png": the row sums to 0.3`},
		{labelled + "e.png,fox\n", "p.npy", npy(t, predicted), "3 columns for 4 labels"},
		{labelled, "p.csv", lines("cat,dog,cow\n", []int{0, 1, 2, 3}),
			`no column for the label "eel" among cat, dog, cow`},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{0, 1, 2}, "a.png", "b.png", "c.png"),
			`no row for "d.png"`},
		{labelled, "p.csv", lines("path,cat,dog,eel\n", []int{0, 1, 1}, "a.png", "b.png"),
			`two rows for "b.png"`},
		{labelled, "p.csv", ".5,.5\n.5,x\n", `line 2: strconv.ParseFloat: parsing "x"`},
		{labelled, "p.csv", "", "0 rows of 0 probabilities"},
		{labelled, "p.pkl", "", `found the ending ".pkl", expected .npy or .csv`},
		{labelled, "p.npy", npy(t, turned), "labels differ from the most probable class: name the columns"},
		{"path\nx\n", "p.npy", npy(t, predicted), "expected the columns path and label"},
	} {
		if _, _, err := judgedBy(t, c.labels, c.name, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
}

// noting returns a host that passes its notes to a function.
func noting(note func(f string, args ...any)) Host { return Host{Host: extraction.Host{Note: note}} }

// On human labels and the predictions of networks, winnow ranks at least as well as the better of self-confidence and
// margin. Tolerances: .001 for AUROC and average precision, .005 for precision at the true number of label errors.
func TestProbabilitiesOfPeople(t *testing.T) {
	for _, kind := range []string{"aggre", "worst"} {
		for _, net := range []string{"resnet18", "swin"} {
			labels := reference.Asset(t, "data/cifar10n-probs/"+kind+"-labels.csv")
			probs := reference.Asset(t, "data/cifar10n-probs/"+kind+"-"+net+".npy")
			a, err := Judge(t.Context(), Input{Manifest: location.At(labels), Probs: probs}, Options{}, Host{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := readTable(probs)
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
			t.Logf("%s %s: the better of self-confidence and margin %.4f, winnow %.4f", kind, net, best, got)
			for k, slack := range []float64{.001, .001, .005} {
				if got[k] < best[k]-slack {
					t.Errorf("%s %s: AUROC, AP and precision at n are %.4f, expected %.4f", kind, net, got, best)
				}
			}
		}
	}
}

// truths reads the given labels, and whether each is wrong.
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

// measured returns AUROC, average precision, and precision at the true number of label errors.
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
