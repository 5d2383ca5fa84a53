package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/orttest"
)

// The runs of a demo are runs like any other, and a second demo leaves nothing of the first in them.
func TestDemoRunsAreRuns(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	t.Setenv("LENGTH", "10 steps")
	for range 2 {
		mustRun(t, "winnow -q demo --classes 24 --images 8 --set length=$LENGTH --set filter.scorer=avgsim --out demo")
	}
	text, err := os.ReadFile("demo/result.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	var chosen map[string]json.RawMessage
	if err := json.Unmarshal(parts["chosen_by_validation"], &chosen); err != nil {
		t.Fatal(err)
	}
	for name, scorer := range map[string]string{"topline": "none", "unfiltered": "none", "prism": "avgsim"} {
		config, err := os.ReadFile(filepath.Join("demo", name, configFile))
		if err != nil || !bytes.Contains(config, []byte("scorer: "+scorer+"\n")) {
			t.Errorf("%s: not trained with the scorer %s: %v\n%s", name, scorer, err, config)
		}
		if events, _ := filepath.Glob(filepath.Join("demo", name, "events.*")); len(events) != 1 {
			t.Errorf("%s holds %d event files, expected those of the last run", name, len(events))
		}
		for flag, from := range map[string]map[string]json.RawMessage{"--last ": parts, "": chosen} {
			var again, said struct {
				PrecisionAt1 float64 `json:"precision_at_1"`
			}
			if err := json.Unmarshal([]byte(mustRun(t, "winnow eval --json "+flag+"demo/"+name)), &again); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(from[name], &said); err != nil || said.PrecisionAt1 != again.PrecisionAt1 || said.PrecisionAt1 == 0 {
				t.Errorf("%s: result.json says P@1 %v, winnow eval %s%v (%v)", name, said.PrecisionAt1, flag, again.PrecisionAt1, err)
			}
		}
	}
	if out := mustRun(t, "winnow audit demo/topline --scorer vmf --json"); !strings.Contains(out, `"wrong": 0`) {
		t.Error("the topline's manifest holds wrong labels")
	}
}
