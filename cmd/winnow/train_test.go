package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/ortlib"
	"winnow/models"
	"winnow/run/folder"
	"winnow/train"
)

// needRuntime skips the test without ONNX Runtime; in CI, the test fails.
func needRuntime(t testing.TB) {
	t.Helper()
	if _, err := ortlib.Find(os.Getenv("WINNOW_ORT_LIB")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("ONNX Runtime is missing (run make runtime, or set WINNOW_ORT_LIB): ", err)
	}
}

// world is a synthetic dataset on disk. A few directions of its features separate the classes; the other directions are
// noise with a larger variance.
type world struct {
	dir, manifest, store string
	wrong                map[string]bool // corrupted paths
}

const worldDim = 48

func newWorld(t testing.TB, seed uint64, corrupt float64) world {
	t.Helper()
	w := world{dir: t.TempDir(), wrong: map[string]bool{}}
	w.manifest, w.store = filepath.Join(w.dir, "list.csv"), filepath.Join(w.dir, "store")
	rng := train.Rand(seed, "world", 0)
	var list strings.Builder
	list.WriteString("path,label,split\n")
	var paths []string
	var rows []float32
	const classes, each = 40, 16
	for c := range classes {
		centre := make([]float64, worldDim)
		for j := range centre[:12] {
			centre[j] = 1.5 * rng.NormFloat64()
		}
		split := "train"
		if c >= 20 {
			split = "validation"
		}
		for i := range each {
			path := fmt.Sprintf("c%02d/%02d.jpg", c, i)
			label := c
			if split == "train" && rng.Float64() < corrupt {
				label = (c + 1 + rng.IntN(19)) % 20
				w.wrong[path] = true
			}
			fmt.Fprintf(&list, "%s,class%02d,%s\n", path, label, split)
			paths = append(paths, path)
			for j := range worldDim {
				spread := 1.0
				if j >= 12 && j < 20 {
					spread = 6
				}
				rows = append(rows, float32(2+centre[j]+spread*rng.NormFloat64()))
			}
		}
	}
	write(t, w.manifest, list.String())
	w.makeStore(t, paths, rows, nil)
	return w
}

func (w world) makeStore(t testing.TB, paths []string, rows []float32, bad []features.Bad) {
	t.Helper()
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	writer, err := features.Create(w.store, features.Plan{Key: key, Paths: paths, Dim: worldDim, Batch: len(paths),
		Device: "cpu", Winnow: "test"}, true)
	if err != nil {
		t.Fatal(err)
	}
	x := features.NewMatrix(len(paths), worldDim)
	copy(x.Data, rows)
	if err := writer.Append(x, bad); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
}

// args returns the arguments of a short training of the world.
func (w world) args(out string, more ...string) []string {
	return append([]string{"train", "--manifest", w.manifest, "--root", w.dir, "--features", w.store, "--out", out,
		"--screen", "none", "--dim", "24", "--batch", "8x4", "--lr", "2e-3", "--epochs", "8"}, more...)
}

func TestTrainCommand(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	out := filepath.Join(w.dir, "runs", "one")
	code, stdout, stderr := call(context.Background(), w.args(out, "--noise-rate", "0.3", "--json")...)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	var result folder.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	v := result.Validation
	if result.Better != nil || v.Trained.PrecisionAt1 < v.Whitened.PrecisionAt1+0.02 || v.Frozen.N != 320 {
		t.Errorf("frozen %.4f, whitened %.4f, trained %.4f of %d: expected the trained head to be much better",
			v.Frozen.PrecisionAt1, v.Whitened.PrecisionAt1, v.Trained.PrecisionAt1, v.Frozen.N)
	}
	said, _, _ := strings.Cut(readFile(t, out, folder.ResultFile), ",\n  \"files_sha256\"")
	if stdout != said+"\n}\n" {
		t.Error("--json and result.json differ")
	}
	h, meta, err := models.ReadHead(filepath.Join(out, folder.BestHeadFile))
	if err != nil || h.Config().In != worldDim || h.Config().Out != 24 || meta.Output != "pool" || meta.Seed != 1 {
		t.Errorf("%v: head %+v of %+v", err, h.Config(), meta)
	}
	if _, _, err := models.ReadHead(filepath.Join(out, folder.LastHeadFile)); err != nil {
		t.Error(err)
	}
	cfg, err := folder.Settings(out)
	if err != nil || cfg.Filter.Rate.Share != 0.3 || cfg.Solver.LR.Value != 2e-3 ||
		cfg.Losses[1].Settings["margin"] != 0.5 || cfg.Data.Manifest != w.manifest {
		t.Errorf("%v: resolved settings %+v", err, cfg)
	}
	var facts folder.Facts
	if err := json.Unmarshal([]byte(readFile(t, out, folder.FactsFile)), &facts); err != nil {
		t.Fatal(err)
	}
	if facts.Images != 320 || facts.Validation != 320 || len(facts.Classes) != 20 || facts.Classes[3] != "class03" ||
		len(facts.ManifestSHA256) != 64 || len(facts.FeaturesSHA256) != 64 {
		t.Errorf("run.json: %+v", facts)
	}
	if lines := strings.Count(readFile(t, out, train.MetricsFile), "\n"); lines != facts.Steps+9 {
		t.Errorf("%d lines of metrics, expected one for each of %d steps and 9 validations", lines, facts.Steps)
	}
	if !strings.Contains(stderr, "320 images of 20 classes to train on, 320 for validation") ||
		!strings.Contains(stderr, "validation P@1") {
		t.Errorf("standard error:\n%s", stderr)
	}

	t.Run("refused twice", func(t *testing.T) {
		before := readFile(t, out, folder.BestHeadFile)
		code, _, stderr := call(context.Background(), w.args(out)...)
		if code != 1 || !strings.Contains(stderr, "there is a run in this folder already") || !strings.Contains(stderr,
			"--resume") {
			t.Errorf("exit %d\n%s", code, stderr)
		}
		if readFile(t, out, folder.BestHeadFile) != before {
			t.Error("the head was changed")
		}
	})
	t.Run("resuming a finished run says the same", func(t *testing.T) {
		code, again, stderr := call(context.Background(), "train", "--resume", "--out", out)
		if code != 0 || !strings.Contains(again, "on the images that chose its state") || !strings.Contains(stderr,
			"continuing after step") {
			t.Errorf("exit %d\n%s%s", code, again, stderr)
		}
	})
	t.Run("resuming with another setting", func(t *testing.T) {
		fails(t, 1, `made with solver.lr = "0.002", asked for "0.001"`, "train", "--resume", "--out", out, "--lr",
			"1e-3")
	})
	t.Run("resuming with other labels", func(t *testing.T) {
		other := filepath.Join(w.dir, "other.csv")
		first := strings.Split(readFile(t, w.manifest), "\n")[1]
		label := "class07"
		if strings.Contains(first, label) {
			label = "class08"
		}
		write(t, other, strings.Replace(readFile(t, w.manifest), first, "c00/00.jpg,"+label+",train", 1))
		fails(t, 1, "made with other labels", "train", "--resume", "--out", out, "--manifest", other)
	})
	t.Run("resuming from half a checkpoint", func(t *testing.T) {
		path := filepath.Join(out, train.CheckpointFile)
		whole := readFile(t, path)
		write(t, path, whole[:len(whole)/2])
		code, _, stderr := call(context.Background(), "train", "--resume", "--out", out)
		if code != 1 || !strings.Contains(stderr, "checksum differs") || !strings.Contains(stderr,
			"start again with --overwrite") {
			t.Errorf("exit %d\n%s", code, stderr)
		}
		write(t, path, whole)
	})
	t.Run("overwrite keeps what is not ours", func(t *testing.T) {
		write(t, filepath.Join(out, "notes.txt"), "mine")
		code, _, _ := call(context.Background(), w.args(out, "--overwrite", "--steps", "3")...)
		if code == 0 {
			t.Error("--epochs and --steps together were accepted")
		}
		code, _, stderr := call(context.Background(), "-q", "train", "--manifest", w.manifest, "--features", w.store,
			"--out", out, "--overwrite", "--steps", "3", "--batch", "8x4", "--dim", "8")
		if code != 0 || stderr != "" || readFile(t, out, "notes.txt") != "mine" {
			t.Errorf("exit %d\n%s", code, stderr)
		}
		if events, _ := filepath.Glob(filepath.Join(out, "events.out.tfevents.*")); len(events) != 1 {
			t.Errorf("event files %v, expected only the new run's", events)
		}
	})
}

// TestTrainCommandResumes checks that a resumed training writes the same files as an uninterrupted training.
func TestTrainCommandResumes(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	settings := []string{"--loss", "soft_triple", "--loss", "contrastive:bank", "--set", "filter.avgsim=5 steps",
		"--set", "bank.size=200", "--set", "checkpoint=7 steps"}
	mustCall(t, w.args(whole, settings...)...)
	cutAgain(t, 3, w.args(cut, append(settings, "--resume")...), nil)
	sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile, train.CheckpointFile,
		folder.ConfigFile)
}

// TestTrainOnImages checks that train without --features computes the features of the images: the head equals a head
// trained on features of winnow extract, and other commands and --resume find the features. If they cannot be computed,
// no folder is left.
func TestTrainOnImages(t *testing.T) {
	atelier(t)
	train := func(out string, more ...string) []string {
		return append([]string{"train", "--manifest", "noisy.csv", "--root", "drawn", "--batch", "6x3", "--steps", "12",
			"--dim", "24", "--screen", "none", "--out", out}, more...)
	}
	for want, args := range map[string][]string{
		"name their folder with --root": train("none", "--root", "nowhere"),
		"no model has this name":        train("none", "--model", "nix"),
		"the train split has one class": {"train", "one.csv", "--root", "drawn", "--out", "none"},
		"photos: file does not exist":   {"train", "photos", "--out", "none"},
	} {
		write(t, "one.csv", "path,label,split\na.png,a,train\nb.png,a,train\n")
		fails(t, 1, want, args...)
		if _, err := os.Stat("none"); err == nil {
			t.Errorf("%q: a folder is left", want)
		}
	}
	_, stderr := mustCall(t, train("whole")...)
	holds(t, stderr, "the backbone is glyphnet, made for drawn characters", "making the features of the backbone "+
		"before training, into whole/features")
	mustRun(t, "winnow extract --manifest noisy.csv --root drawn --model glyphnet --out features")
	mustCall(t, train("stored", "--features", "features")...)
	if readFile(t, "whole", folder.BestHeadFile) != readFile(t, "stored", folder.BestHeadFile) {
		t.Error("the head differs from a head trained on features of winnow extract")
	}
	mustCall(t, "train", "drawn", "--finetune", "--screen", "none", "--steps", "2", "--batch", "6x3", "--out", "tuned")
	if err := os.RemoveAll("drawn"); err != nil {
		t.Fatal(err)
	}
	if out, _ := mustCall(t, "eval", "whole"); !strings.Contains(out, "trained") {
		t.Error(out)
	}
	if err := os.Mkdir("drawn", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, stderr := mustCall(t, train("whole", "--resume")...); !strings.Contains(stderr,
		"continuing after step 12 of 12") || strings.Contains(stderr, "making the features") {
		t.Error(stderr)
	}
}
