package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/internal/text"
	"winnow/run/inspect"
)

// noted adds a column with quoted values to a manifest.
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
			t.Errorf("%s: a probability is reported: %v", scorer, told)
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
		t.Errorf("--relabel: %d labels changed, %d of them to the true label", changed, mended)
	}
	rows, stderr := audit("--drop", "--share", "0.5", "--split", "train,validation")
	if gone, _, eval := dropped(rows); gone != 320 || eval == 0 || !strings.Contains(stderr, "not comparable with") {
		t.Errorf("all splits: %d dropped, %d not for training; %s", gone, eval, stderr)
	}
}
