package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	made "winnow/report/review/decisions"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// decided writes decisions to a file, as winnow studio does. labels maps paths to labels: "" keeps the given label, and
// none drops an image of no class.
func decided(t testing.TB, file, tab string, d *datasets.Dataset, labels map[string]string) {
	t.Helper()
	s, err := made.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []made.Change
	for _, sample := range d.Samples {
		label, ok := labels[sample.Path]
		if !ok {
			continue
		}
		c := made.Change{Path: sample.Path, Given: d.LabelName(sample), Action: made.Relabel, Label: label}
		switch label {
		case "":
			c.Action = made.Keep
		case "none":
			c.Action, c.Label = made.Drop, ""
		}
		list = append(list, c)
	}
	if _, err := s.Decide(made.Author{Tab: tab}, list); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// trueLabel returns the true label of an image of a world.
func trueLabel(path string) string { return "class" + path[1:3] }

// answers returns decisions with the true labels about the training images that choose selects.
func (w world) answers(d *datasets.Dataset, choose func(i int) bool) map[string]string {
	labels := map[string]string{}
	for i, s := range d.Samples {
		if s.Split == datasets.Train && choose(i) {
			if labels[s.Path] = ""; w.wrong[s.Path] {
				labels[s.Path] = trueLabel(s.Path)
			}
		}
	}
	return labels
}

func TestAuditLearnsFromDecisions(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := w.answers(d, func(i int) bool { return i%3 == 0 })
	labels["c00/01.jpg"] = "none"
	kept := filepath.Join(w.dir, "kept.db")
	decided(t, kept, "page", d, labels)
	before, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	list, clean := filepath.Join(w.dir, "s.csv"), filepath.Join(w.dir, "clean.csv")
	audited := func(more ...string) (a inspect.Report) {
		t.Helper()
		stdout, _ := mustCall(t, append([]string{"audit", "--manifest", w.manifest, "--features", w.store, "--scorer",
			"fitted", "--json", "--out", list}, more...)...)
		if err := json.Unmarshal([]byte(stdout), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := audited()
	a := audited("--decisions", kept, "--clean", clean, "--relabel")
	if after, err := os.ReadFile(kept); err != nil || string(after) != string(before) {
		t.Errorf("the decisions file changed: %v", err)
	}
	c := a.Checked
	if c == nil || c.Right+c.Wrong != len(labels) || c.None != 1 || c.Random != nil || c.Wrong < 10 {
		t.Fatalf("checked %+v of %d", c, len(labels))
	}
	found := func(list []suspects.Suspect) (hits int) { // number of wrong labels among the first 40 unchecked images
		n := 0
		for _, e := range list {
			if _, ok := labels[e.Path]; !ok && n < 40 {
				if n++; w.wrong[e.Path] {
					hits++
				}
			}
		}
		return hits
	}
	if was, is := found(first.Images), found(a.Images); 20*is < 19*was {
		t.Errorf("decisions made the list worse: %d of the first 40 are wrong, %d before", is, was)
	}
	read, err := suspects.Read(list)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range read {
		label, ok := labels[e.Path]
		want := map[bool]suspects.Verdict{false: "", true: suspects.Kept}[ok]
		if label != "" {
			want = suspects.Wrong
		}
		if e.Checked != want || ok && e.Flagged || e.Rank != i+1 ||
			label != "" && label != "none" && e.Suggested != label {
			t.Errorf("%+v, expected %q %q", e, want, label)
		}
	}
	if first, last := read[0].Checked, read[len(read)-1].Checked; first != suspects.Wrong || last != suspects.Kept {
		t.Errorf("the list starts with %q and ends with %q", first, last)
	}
	mended, err := datasets.ReadFile(clean, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]string{}
	for _, s := range mended.Samples {
		there[s.Path] = mended.LabelName(s)
	}
	for path, label := range labels {
		switch is, ok := there[path]; {
		case label == "none" && ok, label == "" && is != given(d, path), label != "none" && label != "" && is != label:
			t.Errorf("%s: corrected to %q, decided %q", path, is, label)
		}
	}
	// In a later list with the corrected labels, all decisions remain valid.
	code, stdout, stderr := call(context.Background(), "audit", "--manifest", clean, "--features", w.store, "--scorer",
		"fitted", "--decisions", kept, "--json")
	var next inspect.Report
	if err := json.Unmarshal([]byte(stdout), &next); code != 0 || err != nil || next.Checked.Wrong != 0 ||
		next.Checked.Right < len(labels)-1-c.Stale {
		t.Errorf("%d: %+v %s", code, next.Checked, stderr)
	}
}

func given(d *datasets.Dataset, path string) string {
	for _, s := range d.Samples {
		if s.Path == path {
			return d.LabelName(s)
		}
	}
	return ""
}

func TestTrainOnDecisions(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := w.answers(d, func(i int) bool { return i%2 == 0 })
	labels["c00/01.jpg"] = "none"
	wrong := 0
	for _, label := range labels {
		if label != "" && label != "none" {
			wrong++
		}
	}
	kept, out := filepath.Join(w.dir, "kept.db"), filepath.Join(w.dir, "run")
	decided(t, kept, "page", d, labels)
	mustCall(t, w.args(out, "--screen", "fitted", "--epochs", "2", "--decisions", kept)...)
	facts, err := folder.ReadFacts(out)
	if err != nil {
		t.Fatal(err)
	}
	is := facts.Decisions
	if is == nil || is.Relabelled != wrong || is.None != 1 || is.Right != len(labels)-wrong-1 || is.File != kept {
		t.Fatalf("run.json has %+v, expected %d of %d relabelled", is, wrong, len(labels))
	}
	screened, err := folder.ReadScreening(out)
	if err != nil || len(screened) == 0 {
		t.Fatal(screened, err)
	}
	for _, s := range screened {
		if _, ok := labels[s.Path]; ok {
			t.Errorf("%s was dropped although it was decided", s.Path)
		}
	}
	r, err := folder.Open(t.Context(), out, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Manifest.Samples {
		if label := labels[s.Path]; label != "" && r.Manifest.LabelName(s) != strings.TrimPrefix(label, "none") {
			t.Errorf("%s: the run has the label %q, decided %q", s.Path, r.Manifest.LabelName(s), label)
		}
	}
	clean := filepath.Join(w.dir, "clean.csv") // a list corrected by the run has the decided labels
	mustCall(t, "audit", out, "--clean", clean, "--relabel", "--precision", "1")
	if text, err := os.ReadFile(clean); err != nil || strings.Contains(string(text), "c00/01.jpg") {
		t.Errorf("the corrected list has an image of no class: %v", err)
	} else {
		for path, label := range labels {
			if label != "" && label != "none" && !strings.Contains(string(text), path+","+label+",") {
				t.Errorf("%s: the corrected list does not have %s", path, label)
			}
		}
	}
	// A resumed run detects other decisions.
	decided(t, filepath.Join(w.dir, "more.db"), "page", d, map[string]string{"c01/02.jpg": "", "c01/03.jpg": ""})
	code, _, stderr := call(context.Background(), w.args(out, "--screen", "fitted", "--epochs", "2", "--resume",
		"--decisions", filepath.Join(w.dir, "more.db"))...)
	if code == 0 || !strings.Contains(stderr, "started with different decisions") {
		t.Errorf("%d: %s", code, stderr)
	}
}

// TestExportFolder writes fixed class folders from decisions, and then moves the images in place.
func TestExportFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"photos/rose/1.jpg", "photos/rose/2.jpg", "photos/lily/1.jpg", "photos/lily/3.jpg"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, name, name)
	}
	d, err := datasets.Read(location.At("photos"), datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	decided(t, "photos.decisions.db", "page", d, map[string]string{"rose/1.jpg": "lily", "rose/2.jpg": "none"})
	write(t, "suspects.csv", "path,given_label,suggested_label,score\n"+
		"rose/1.jpg,rose,lily,0.1\nrose/2.jpg,rose,lily,0.2\n"+
		"lily/1.jpg,lily,lily,0.9\nlily/3.jpg,lily,lily,0.9\n")
	fails(t, 1, "inside or around", "decisions", "export", "photos", "--out", "photos/fixed/")
	fails(t, 2, "is a file", "decisions", "export", "photos", "--out", "fixed.csv", "--by", "copy")
	fails(t, 2, "the studio shows", "studio", "photos", "--by", "move")
	for _, by := range [][]string{{"--out", "fixed/", "--by", "hardlink"}, {"--by", "move"}} {
		code, out, stderr := call(context.Background(), append([]string{"decisions", "export", "photos"}, by...)...)
		if code != 0 {
			t.Fatalf("%d: %s", code, stderr)
		}
		folder := map[bool]string{true: "fixed", false: "photos"}[by[0] == "--out"]
		holds(t, out, folder+": class folders by ", "2 images to other paths (1 renamed)", folder+".moves.csv")
		for file, was := range map[string]string{folder + "/lily/1.jpg": "photos/lily/1.jpg",
			folder + "/lily/1-2.jpg": "photos/rose/1.jpg", folder + ".dropped/rose/2.jpg": "photos/rose/2.jpg"} {
			if got := readFile(t, file); got != was {
				t.Errorf("%s is %q, expected %q", file, got, was)
			}
		}
	}
	// The decisions follow the images to their new paths, and back. The list of suspects is without them until then.
	status := func(text string) {
		said, _ := mustCall(t, "decisions", "status", "photos", "--audit", "suspects.csv")
		holds(t, said, text)
	}
	status("1 kept, 0 dropped, 0 relabelled")
	if out, err := exec.Command("sh", "photos.undo.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	status("1 relabelled")
}

// TestBoxesIntoFolder checks that boxes in nested folders are read, and corrected in a list; a folder is refused before
// any work is done.
func TestBoxesIntoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	for i, at := range []string{"east", "west/far", "east", "west/far"} {
		for _, dir := range []string{"y/images/", "y/labels/"} {
			if err := os.MkdirAll(dir+at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, fmt.Sprintf("y/labels/%s/%d.txt", at, i), fmt.Sprintf("%d .5 .5 .8 .8\n", i/2))
		write(t, fmt.Sprintf("y/images/%s/%d.png", at, i), file.String())
	}
	write(t, "y/data.yaml", "names: [rose, lily]\n")
	for _, args := range [][]string{{"audit", "y", "--clean", "fixed/"}, {"studio", "y", "--out", "fixed/"},
		{"decisions", "export", "y", "--out", "fixed/"}} {
		fails(t, 1, "fixed/: the labels of y are not folders: name a file to write, such as fixed.csv", args...)
	}
	d, err := datasets.Read(location.At("y"), datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	decided(t, "y.decisions.db", "page", d, map[string]string{d.Samples[1].Path: "lily"})
	mustCall(t, "decisions", "export", "y", "--out", "fixed.csv")
	holds(t, readFile(t, "fixed.csv"), d.Samples[0].Path+",rose,", d.Samples[1].Path+",lily,")
}
