package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/internal/text"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// noted adds a column to a manifest, with a quoted value in every row.
func noted(t *testing.T, path string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(readFile(t, path)), "\n")
	for i := range lines {
		if lines[i] += `,"by, hand"`; i == 0 {
			lines[i] = strings.TrimSuffix(lines[i], `,"by, hand"`) + ",Note"
		}
	}
	out := filepath.Join(filepath.Dir(path), "noted.csv")
	write(t, out, strings.Join(lines, "\n")+"\n")
	return out
}

func TestAuditStore(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	manifest, _ := w.withTruth(t)
	list := filepath.Join(w.dir, "suspects.csv")
	for _, scorer := range audit.Names() {
		code, stdout, stderr := call(context.Background(), "audit", "--manifest", manifest, "--features", w.store,
			"--scorer", scorer, "--json", "--out", list)
		var a inspect.Report
		if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil {
			t.Fatalf("%s: %d: %v\n%s", scorer, code, err, stderr)
		}
		if a.Scorer != scorer || len(a.Images) != 320 || a.Detection == nil || a.Detection.AUROC < 0.6 ||
			a.Noise == nil || a.Asked || a.CalledWrong != a.Detection.Removed || a.CalledWrong == 0 ||
			a.ExpectedWrong == nil || !strings.Contains(a.Check, "--check") {
			t.Errorf("%s: %d images, %+v, noise %+v", scorer, len(a.Images), a.Detection, a.Noise)
		}
		if scorer == judges.Default && a.Detection.AUROC < 0.85 {
			t.Errorf("the default has an AUROC of %v", a.Detection.AUROC)
		}
		if len(a.Classes) != 20 || a.Classes[3].Low > a.Classes[3].Purity || a.Classes[3].High < a.Classes[3].Purity {
			t.Errorf("%s: %d classes, %+v", scorer, len(a.Classes), a.Classes[3])
		}
		read, err := suspects.Read(list)
		if err != nil || len(read) != 320 || read[0].Path != a.Images[0].Path || len(read[0].SupportGiven) != 3 ||
			a.Images[0].Fit == nil {
			t.Errorf("%s: %v, %+v", scorer, err, text.First(read, 1))
		}
		if told := a.Images[0].SuggestedProbability != nil; told != audit.Named(scorer).Probability ||
			told != (read[0].SuggestedProbability != nil) {
			t.Errorf("%s: a probability is told: %v", scorer, told)
		}
	}
}

// Every file format of an audit holds what --json prints.
func TestAuditForms(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	args := []string{"audit", "--labels", w.manifest, "--features", w.store, "--json"}
	code, printed, stderr := call(context.Background(), args...)
	var a inspect.Report
	if err := json.Unmarshal([]byte(printed), &a); code != 0 || err != nil {
		t.Fatal(err, stderr)
	}
	for _, ending := range []string{"json"} {
		list := filepath.Join(w.dir, "suspects."+ending)
		mustCall(t, append(args, "--out", list)...)
		got, err := suspects.Read(list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a.Images, got, cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(suspects.Suspect{}, "Checksum")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", ending, diff)
		}
	}
}

func TestAuditCleans(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	manifest, out := noted(t, w.manifest), filepath.Join(w.dir, "clean.csv")
	audit := func(args ...string) (rows [][]string, stderr string) {
		_, stderr = mustCall(t, append([]string{"audit", "--manifest", manifest, "--features", w.store, "--clean", out},
			args...)...)
		return table(t, out), stderr
	}
	was := table(t, manifest)
	dropped := func(rows [][]string) (gone, wrong, eval int) {
		for _, r := range was[1:] {
			if !slices.ContainsFunc(rows, func(o []string) bool { return slices.Equal(o, r) }) {
				gone++
				if w.wrong[r[0]] {
					wrong++
				}
				if r[2] != "train" {
					eval++
				}
			}
		}
		return gone, wrong, eval
	}
	rows, _ := audit("--drop", "--share", "0.25")
	if gone, wrong, eval := dropped(rows); gone != 80 || wrong < 60 || eval != 0 || !slices.Equal(rows[0], was[0]) ||
		len(rows) != len(was)-80 {
		t.Errorf("--share 0.25: %d dropped, %d of them wrong, %d not for training; header %v", gone, wrong, eval,
			rows[0])
	}
	rows, _ = audit("--drop", "--precision", "0.9")
	if gone, wrong, eval := dropped(rows); gone < 30 || float64(wrong) < 0.75*float64(gone) || eval != 0 {
		t.Errorf("--precision 0.9: %d dropped, %d of them wrong", gone, wrong)
	}
	rows, _ = audit("--relabel")
	changed, mended := 0, 0
	for i, r := range rows[1:] {
		if before := was[i+1]; r[0] != before[0] || r[2] != before[2] || r[3] != before[3] || r[2] != "train" &&
			r[1] != before[1] {
			t.Fatalf("%v became %v", before, r)
		} else if r[1] != before[1] {
			changed++
			if r[1] == "class"+r[0][1:3] {
				mended++
			}
		}
	}
	if len(rows) != len(was) || changed < 40 || float64(mended) < 0.3*float64(changed) {
		t.Errorf("--relabel: %d labels changed, %d of them for the right one", changed, mended)
	}
	rows, stderr := audit("--drop", "--share", "0.5", "--split", "train,validation")
	if gone, _, eval := dropped(rows); gone != 320 || eval == 0 || !strings.Contains(stderr, "cannot be compared") {
		t.Errorf("all splits: %d dropped, %d not for training; %s", gone, eval, stderr)
	}
}

// Sets that cannot be judged are refused in one line.
func TestAuditBadInput(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.2)
	lists := map[string]string{
		"empty":    "",
		"header":   "path,label\n",
		"others":   "path,label\nx/1.jpg,a\nx/2.jpg,b\n",
		"one":      "path,label\nc00/00.jpg,a\nc00/01.jpg,a\nc00/02.jpg,a\n",
		"singles":  "path,label\nc00/00.jpg,a\nc00/01.jpg,b\nc00/02.jpg,c\n",
		"one pair": "path,label\nc00/00.jpg,a\nc00/01.jpg,a\nc00/02.jpg,b\n",
		"no label": "path,label\nc00/00.jpg,\nc00/01.jpg,\n",
		"test":     "path,label,split\nc00/00.jpg,a,test\nc00/01.jpg,b,test\n",
		"broken":   "path,label\nc00/00.jpg\n",
	}
	for name, text := range lists {
		write(t, filepath.Join(w.dir, name), text)
	}
	for _, c := range []struct{ list, store, scorer, want string }{
		{"empty", w.store, "centres", "file is empty"},
		{"header", w.store, "centres", "no sample found"},
		{"none", w.store, "centres", "none: no such file"},
		{"broken", w.store, "centres", "broken:2: 1 fields"},
		{"others", w.store, "centres", `2 of the 2 train images are not in the store, the first is "x/1.jpg"`},
		{"one", w.store, "centres", `one class, "a"`},
		{"singles", w.store, "centres", "0 classes have two images or more"},
		{"singles", w.store, "vmf", "0 classes have two images or more"},
		{"no label", w.store, "centres", "none of the 2 images of the train split has a label"},
		{"test", w.store, "centres", `no images in the split "train"`},
		{"one", filepath.Join(w.dir, "nowhere"), "centres", "nowhere: no feature store"},
	} {
		out := filepath.Join(w.dir, "out.csv")
		code, stdout, stderr := call(context.Background(), "audit", "--labels", filepath.Join(w.dir, c.list),
			"--features", c.store, "--scorer", c.scorer, "--out", out)
		said := strings.Split(strings.TrimSpace(stderr), "\n")
		if code != 1 || stdout != "" || !strings.Contains(said[0], c.want) || len(said) > 2 { // the second is a hint
			t.Errorf("%s, %s: exit %d: %q, expected %q", c.list, c.scorer, code, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a list was written", c.list)
		}
	}
	for _, scorer := range []string{"combined", "centres", "knn", "avgsim"} { // a pair of a class, and no other class
		_, stdout, stderr := call(context.Background(), "audit", "--labels", filepath.Join(w.dir, "one pair"),
			"--features", w.store, "--scorer", scorer)
		if !strings.Contains(stdout, "only the class a has two images or more") ||
			!strings.Contains(stdout, "nothing to compare with: b.\n") {
			t.Errorf("one pair, by %s: %s%s", scorer, stdout, stderr)
		}
	}
	write(t, filepath.Join(w.dir, "lonely"), strings.ReplaceAll(readFile(t, w.manifest), "c00/00.jpg,class00",
		"c00/00.jpg,lonely"))
	for _, scorer := range []string{"centres", "vmf"} {
		_, stdout, stderr := call(context.Background(), "audit", "--labels", filepath.Join(w.dir, "lonely"),
			"--features", w.store, "--scorer", scorer, "--json")
		var a inspect.Report
		if err := json.Unmarshal([]byte(stdout), &a); err != nil {
			t.Fatal(err, stderr)
		}
		at := slices.IndexFunc(a.Images, func(e suspects.Suspect) bool { return e.Path == "c00/00.jpg" })
		if e := a.Images[at]; a.Unjudged != 1 || e.Suggested != "lonely" || e.Score != 1 ||
			e.SuggestedProbability != nil || e.Dropped {
			t.Errorf("%s: an image alone in its class: %d, %+v", scorer, a.Unjudged, e)
		}
	}
}

// The audit of a run cleans no other splits, and train reads what it writes.
func TestAuditCleansRun(t *testing.T) {
	drawnRun(t)
	was := table(t, "noisy.csv")
	changes := func(path string) map[string]int {
		now, n := table(t, path), map[string]int{}
		if len(now) != len(was) {
			t.Fatalf("%s: %d rows, expected %d", path, len(now), len(was))
		}
		for i := range now {
			if now[i][1] != was[i][1] {
				n[was[i][2]]++
			}
		}
		return n
	}
	_, stderr := mustCall(t, "audit", "run", "--clean", "clean.csv", "--relabel")
	if n := changes("clean.csv"); n["train"] < 30 || len(n) != 1 || strings.Contains(stderr, "warning") {
		t.Errorf("labels changed: %v; %s", n, stderr)
	}
	var run, store inspect.Report
	for args, to := range map[string]*inspect.Report{"audit run --scorer centres --json": &run,
		"audit --labels noisy.csv --features features --scorer centres --json": &store} {
		if err := json.Unmarshal([]byte(mustRun(t, "winnow "+args)), to); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(store.Noise, run.Noise); diff != "" || store.Noise.Rate < 0.2 {
		t.Errorf("the noise rate differs between the audits of a run and of its features (-store +run):\n%s", diff)
	}
	mustCall(t, "train", "--manifest", "clean.csv", "--root", "drawn", "--features", "features", "--noise-rate", "0.1",
		"--epochs", "1", "--out", "again")

	// Labels screened before a training count in the share that its audit calls wrong, and its page says so.
	mustCall(t, "train", "--manifest", "noisy.csv", "--features", "features", "--epochs", "3", "--out", "screened")
	mustCall(t, "audit", "screened", "--clean", "again.csv", "--relabel")
	facts, err := folder.ReadFacts("screened")
	if n := changes("again.csv"); err != nil || facts.Screening == nil || n["train"] < 30 {
		t.Fatalf("%v, %+v; labels changed: %v", err, facts.Screening, n)
	}
	mustCall(t, "report", "screened", "--root", "drawn", "--no-map", "--no-pictures", "--out", "screened.html")
	if page := readFile(t, "screened.html"); !strings.Contains(page, facts.Screening.String()) || strings.Contains(page,
		"of the labels are wrong, and") {
		t.Errorf("the page does not say that %s", facts.Screening)
	}
}
