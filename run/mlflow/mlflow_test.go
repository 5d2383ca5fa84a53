package mlflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// begun returns the folder of a run with its first files.
func begun(t *testing.T, dir, manifest string) string {
	t.Helper()
	cfg := config.Default()
	cfg.Data.Manifest = manifest
	cfg.Filter.Scorer = "none"
	facts := folder.Facts{Winnow: "test", Started: time.UnixMilli(1700000000123)}
	err := errors.Join(os.MkdirAll(dir, 0o755), folder.Begin(dir, cfg, "sum", facts),
		os.WriteFile(filepath.Join(dir, folder.BestHeadFile), []byte("weights"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// clock advances a millisecond at each call.
func clock() func() time.Time {
	at := int64(1700000001000)
	return func() time.Time { at++; return time.UnixMilli(at) }
}

// tree lists the files below a folder with their contents, except parameters.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The files are those of MLflow's FileStore, byte for byte.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "a [b] c", "mlruns")
	run := begun(t, filepath.Join(dir, "runs", "2026-11-23"), "pictures/birds.csv")
	r, err := Begin(store, run, 0, clock())
	if err != nil {
		t.Fatal(err)
	}
	loss, lr, best := 0.25, 3e-4, true
	r.Metric(train.Metric{Step: 0, Validation: new(0.5), Best: &best})
	r.Metric(train.Metric{Step: 1, Epoch: 1, Loss: &loss, LR: &lr,
		Terms: map[string]float64{"contrastive:bank": 2, "ms": 1e-9}, Skipped: true})
	if err := r.End(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	id, ex := string(r.meta.RunID), string(r.meta.ExperimentID)
	if len(id) != 32 || len(ex) != 18 {
		t.Errorf("ids %q, %q", id, ex)
	}
	files := tree(t, store)
	params := 0
	for name := range files {
		if strings.Contains(name, "/params/") {
			params++
		}
	}
	at := func(name string) string { return ex + "/" + id + "/" + name }
	for name, want := range map[string]string{at("params/sampler.balance"): "1",
		at("params/losses.0.name"): "contrastive", at("params/solver.lr"): "0.0003",
		at("params/data.manifest"): "pictures/birds.csv"} {
		if files[name] != want {
			t.Errorf("%s: %q, expected %q", name, files[name], want)
		}
	}
	if want := len(config.Flatten(config.Default())); params != want {
		t.Errorf("%d parameters, expected %d", params, want)
	}
	for name := range files {
		if strings.Contains(name, "/params/") {
			delete(files, name)
		}
	}
	uri := "file://" + strings.ReplaceAll(filepath.ToSlash(store), "a [b] c", "a%20%5Bb%5D%20c") + "/" + ex
	configText, _ := os.ReadFile(filepath.Join(run, folder.ConfigFile))
	facts, _ := os.ReadFile(filepath.Join(run, folder.FactsFile))
	user := files[at("tags/mlflow.user")]
	want := map[string]string{
		ex + "/meta.yaml": fmt.Sprintf("artifact_location: %q\ncreation_time: 1700000001001\nexperiment_id: %q\n"+
			"last_update_time: 1700000001001\nlifecycle_stage: \"active\"\nname: \"birds\"\n", uri, ex),
		at("meta.yaml"): fmt.Sprintf("artifact_uri: %q\nend_time: 1700000001004\nentry_point_name: \"\"\n"+
			"experiment_id: %q\nlifecycle_stage: \"active\"\nrun_id: %q\nrun_name: \"2026-11-23\"\n"+
			"run_uuid: %q\nsource_name: \"winnow train\"\nsource_type: 4\nsource_version: \"\"\n"+
			"start_time: 1700000000123\nstatus: 3\ntags: []\nuser_id: %q\n", uri+"/"+id+"/artifacts", ex, id, id, user),
		at("metrics/validation"):             "1700000001002 0.5 0\n",
		at("metrics/best"):                   "1700000001002 1 0\n",
		at("metrics/epoch"):                  "1700000001002 0 0\n1700000001003 1 1\n",
		at("metrics/loss"):                   "1700000001003 0.25 1\n",
		at("metrics/lr"):                     "1700000001003 0.0003 1\n",
		at("metrics/skipped"):                "1700000001003 1 1\n",
		at("metrics/terms/contrastive_bank"): "1700000001003 2 1\n",
		at("metrics/terms/ms"):               "1700000001003 1e-09 1\n",
		at("tags/mlflow.runName"):            "2026-11-23",
		at("tags/mlflow.source.name"):        "winnow train",
		at("tags/mlflow.source.type"):        "LOCAL",
		at("tags/mlflow.user"):               user,
		at("tags/winnow.run"):                run,
		at("tags/winnow.version"):            "test",
		at("tags/winnow.recipe"):             "",
		at("artifacts/config.yaml"):          string(configText),
		at("artifacts/run.json"):             string(facts),
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-expected +found)\n%s", diff)
	}
}

// A resumed run keeps its record: repeated steps are recorded once, and the last end counts.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	store, run := filepath.Join(dir, "mlruns"), begun(t, filepath.Join(dir, "run"), "m.csv")
	step := func(r *Run, from, to int) {
		for n := from; n <= to; n++ {
			r.Metric(train.Metric{Step: n, Epoch: 1, Loss: new(float64(n))})
		}
	}
	now := clock()
	first, err := Begin(store, run, 0, now)
	if err != nil {
		t.Fatal(err)
	}
	step(first, 1, 7)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := first.End(stopped, context.Canceled); err != nil || first.meta.Status != killed {
		t.Fatalf("%v, status %d", err, first.meta.Status)
	}
	losses := filepath.Join(first.dir, "metrics", "loss")
	f, _ := os.OpenFile(losses, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString("17000") // of a machine that lost its power
	f.Close()
	second, err := Begin(store, run, 4, now)
	if err != nil || second.dir != first.dir {
		t.Fatalf("%v: %s, expected %s", err, second.dir, first.dir)
	}
	step(second, 5, 9)
	if err := second.End(t.Context(), errors.New("a disk is full")); err != nil || second.meta.Status != failed {
		t.Fatalf("%v, status %d", err, second.meta.Status)
	}
	text, _ := os.ReadFile(losses)
	var steps []string
	for line := range strings.Lines(string(text)) {
		steps = append(steps, strings.Fields(line)[2])
	}
	if got := strings.Join(steps, " "); got != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("steps %s", got)
	}
	if runs, _ := filepath.Glob(filepath.Join(store, "*", "*", "meta.yaml")); len(runs) != 1 {
		t.Errorf("runs %q, expected one", runs)
	}
	// A new store gets the earlier steps.
	lines := "{\"step\":1,\"epoch\":1,\"loss\":1}\n{\"step\":2,\"epoch\":1,\"loss\":2}\n" +
		"{\"step\":3,\"epoch\":1,\"loss\":3}\n"
	if err := os.WriteFile(filepath.Join(run, train.MetricsFile), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	later, err := Begin(filepath.Join(dir, "later"), run, 2, now)
	if err != nil {
		t.Fatal(err)
	}
	step(later, 3, 3)
	if err := later.End(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(later.dir, "metrics", "loss")); strings.Count(string(text), "\n") != 3 {
		t.Errorf("a later store:\n%s", text)
	}
}

// Runs that begin at once share the experiment that one of them makes.
func TestExperimentAtOnce(t *testing.T) {
	for range 20 {
		store := filepath.Join(t.TempDir(), "store")
		var all errgroup.Group
		for range 8 {
			all.Go(func() error {
				e, err := findExperiment(store, "birds", time.Unix(0, 0))
				if err == nil && e.Name != "birds" {
					err = fmt.Errorf("found %+v", e)
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Runs on one manifest share an experiment, also with one that MLflow made; invalid ones are refused.
func TestExperiments(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own", "7")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(own, "meta.yaml"), "artifact_location: file:///x/7\ncreation_time: 1\nexperiment_id: '7'\n"+
		"last_update_time: 1\nlifecycle_stage: active\nname: m\n")
	for _, name := range []string{"a", "b"} {
		r, err := Begin(filepath.Join(dir, "own"), begun(t, filepath.Join(dir, name), name+"/m.csv"), 0, clock())
		if err != nil || r.meta.ExperimentID != "7" {
			t.Errorf("%v: %+v", err, r)
		}
		if err := r.End(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	write(filepath.Join(own, "meta.yaml"), "name: [")
	if _, err := Begin(filepath.Join(dir, "own"), filepath.Join(dir, "a"), 0, clock()); err == nil ||
		!strings.Contains(err.Error(), "meta.yaml") {
		t.Errorf("a damaged experiment: %v", err)
	}
	write(filepath.Join(dir, "file"), "")
	if _, err := Begin(filepath.Join(dir, "file"), filepath.Join(dir, "a"), 0, clock()); err == nil {
		t.Error("a file as a store: no error")
	}
	if _, err := Begin(filepath.Join(dir, "own"), dir, 0, clock()); err == nil {
		t.Error("a folder without a run: no error")
	}
}

func TestParameter(t *testing.T) {
	long := strings.Repeat("ä", 4000)
	for value, want := range map[string]string{"": "", "a\nb\t c": "a b c", long: long[:5996] + "…"} {
		if got := parameter(value); got != want || len(got) > mostParameter {
			t.Errorf("%.20q: %d bytes, expected %d", value, len(got), len(want))
		}
	}
}
