package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
	"winnow/run/folder"
)

// The runs of a quickstart work like any other run, and a second one leaves nothing of the first in them.
func TestQuickstartRunsAreRuns(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	t.Setenv("LENGTH", "10 steps")
	t.Setenv("START", "2 steps")
	demo := "winnow -q quickstart --classes 16 --images 8 --set length=$LENGTH --set finetune.start=$START --set " +
		"validation.every=$START --out demo"
	_, stderr := mustCall(t, "quickstart", "--classes", "12", "--images", "6", "--set", "length=10 steps", "--set",
		"finetune.start=2 steps", "--set", "validation.every=2 steps", "--out", "demo")
	if !strings.Contains(stderr, "are reused") {
		t.Errorf("the audit made the features again: %s", stderr)
	}
	mustRun(t, "winnow -q eval --last demo/prism")  // stores features of the fine-tuned network in the run's folder
	holds(t, mustRun(t, demo), "labels look wrong", // it ends: a test has no terminal
		"next: winnow studio demo/manifest.csv --root demo/images.zip --out demo/fixed.csv", "Three things to try",
		"Open the studio: winnow studio demo/manifest.csv --root demo/images.zip --out demo/fixed.csv")
	if list := readFile(t, "demo/suspects.csv"); strings.Count(list, "\n") != 16*8+1 {
		t.Errorf("the audit lists %d images, expected %d", strings.Count(list, "\n")-1, 16*8)
	}
	if stores, _ := filepath.Glob("demo/prism/" + folder.TunedStorePrefix + "*"); len(stores) != 0 {
		t.Errorf("features of the first demo's network are left: %v", stores)
	}
	text, err := os.ReadFile("demo/result.json")
	if err != nil {
		t.Fatal(err)
	}
	parts := jsonParts(t, text)
	for _, key := range []string{"seed", "noise_rate", "frozen", "whitened", "topline", "unfiltered", "prism",
		"detection", "seconds"} {
		if len(parts[key]) == 0 || string(parts[key]) == "null" {
			t.Errorf("result.json has no %q", key)
		}
	}
	page := readFile(t, "demo/report.html")
	holds(t, page, "PRISM vMF-Sim", "Retrieval on classes never seen")
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("report.html contains what the template refused")
	}
	chosen, heads := jsonParts(t, parts["chosen_by_validation"]), jsonParts(t, parts["frozen_features"])
	for name, scorer := range map[string]string{"topline": "none", "unfiltered": "none", "prism": "vmf"} {
		for dir, said := range map[string]map[string]map[string]json.RawMessage{
			name:            {"--last ": parts, "": chosen},
			"heads/" + name: {"--last ": heads},
		} {
			dir = filepath.Join("demo", dir)
			config, err := os.ReadFile(filepath.Join(dir, folder.ConfigFile))
			if err != nil || !bytes.Contains(config, []byte("scorer: "+scorer+"\n")) {
				t.Errorf("%s: not trained with the scorer %s: %v\n%s", dir, scorer, err, config)
			}
			if r, err := folder.ReadResult(dir); err != nil || r.Steps != 10 || r.Validation == nil ||
				r.Verdict == "" || r.Seconds <= 0 {
				t.Errorf("%s: what came of it: %v, %+v", dir, err, r)
			}
			if events, _ := filepath.Glob(filepath.Join(dir, "events.*")); len(events) != 1 {
				t.Errorf("%s holds %d event files, expected those of the last run", dir, len(events))
			}
			for flag, from := range said {
				again := precisionOf(t, []byte(mustRun(t, "winnow -q eval --json "+flag+dir)))
				if p := precisionOf(t, from[name]); p != again || p == 0 {
					t.Errorf("%s: result.json says P@1 %v, winnow eval %s%v", dir, p, flag, again)
				}
			}
		}
	}
	if out := mustRun(t, "winnow -q audit demo/topline --scorer vmf --json"); !strings.Contains(out, `"wrong": 0`) {
		t.Error("the topline's manifest holds wrong labels")
	}
	var audited struct{ Detection json.RawMessage }
	out := mustRun(t, "winnow -q audit demo/prism --last --scorer vmf --json")
	if err := json.Unmarshal([]byte(out), &audited); err != nil {
		t.Fatal(err)
	}
	if said, again := compactJSON(t, parts["detection"]), compactJSON(t, audited.Detection); said != again {
		t.Errorf("result.json says of the detection %s, winnow audit %s", said, again)
	}
	if out := mustRun(t, "winnow -q export demo/prism --onnx demo/embedder.onnx"); !strings.Contains(out, "images") {
		t.Errorf("the export was not checked on the demo's pictures:\n%s", out)
	}
}

func jsonParts(t *testing.T, text []byte) map[string]json.RawMessage {
	t.Helper()
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	return parts
}

func precisionOf(t *testing.T, text []byte) float64 {
	t.Helper()
	var r struct {
		PrecisionAt1 float64 `json:"precision_at_1"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return r.PrecisionAt1
}

func compactJSON(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}
