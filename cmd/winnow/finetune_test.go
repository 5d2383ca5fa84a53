package main

import (
	"context"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/run/folder"
	"winnow/run/measure"
	"winnow/train"
)

// atelier makes images of a few drawn characters in a new working folder, a third of them with wrong labels.
func atelier(t *testing.T) {
	t.Helper()
	orttest.Runtime(t)
	atelierFiles.here(t, func() {
		mustRun(t, "winnow data glyphs --out drawn --classes 16 --images 8")
		mustRun(t, "winnow data corrupt drawn/manifest.csv --noise-rate 0.33 --out noisy.csv")
	})
}

var atelierFiles fixture

// tuneArgs returns the arguments of a short fine-tuning that uses all parts with a state: momentum for both groups of
// weights, a backbone that starts later, augmented views, and a filter.
func tuneArgs(out, weights string, more ...string) []string {
	return append([]string{"train", "--manifest", "noisy.csv", "--root", "drawn", "--model", "glyphnet", "--finetune",
		weights, "--out", out,
		"--screen", "none", "--dim", "24", "--batch", "6x3", "--steps", "12", "--lr", "1e-3", "--backbone-lr", "3e-4",
		"--set", "validation.every=4 steps",
		"--set", "checkpoint=3 steps", "--set", "filter.avgsim=2 steps", "--set", "bank.size=60"}, more...)
}

// TestFinetune checks that a fine-tuning that is interrupted and resumed several times writes the same files as an
// uninterrupted run, and that eval, audit and export use its network.
func TestFinetune(t *testing.T) {
	atelier(t)
	settings := []string{"--augment", "digits", "--set", "finetune.start=4 steps", "--set", "backbone_solver.name=sgd",
		"--set", "backbone_solver.momentum=0.9", "--set", "backbone_solver.lr=0.01", "--backbone-lr", "0.01"}
	_, stderr := mustCall(t, tuneArgs("whole", "all", settings...)...)
	holds(t, stderr, "making the features of the backbone before training, into whole/features",
		"fine-tuning glyphnet: 384704 of its 384704 weights (100 %), in 10 tensors, batch normalization frozen",
		"the backbone is frozen for the first 4 of 12 steps", "the head starts again, as the whitening",
		"untrained head: validation P@1")
	if n := cutAgain(t, 2, tuneArgs("cut", "all", append(settings, "--resume")...), nil); n < 2 {
		t.Errorf("the run was interrupted %d times, expected 2 or more", n)
	}
	sameFiles(t, "whole", "cut", folder.BestHeadFile, folder.LastHeadFile, folder.BestBackboneFile,
		folder.LastBackboneFile, train.MetricsFile, train.CheckpointFile, folder.ConfigFile)
	metrics := readFile(t, "whole", train.MetricsFile)
	if n := strings.Count(metrics, `"backbone_lr"`); n != 8 {
		t.Errorf("%d steps log a rate of the backbone, expected the 8 steps that train it:\n%s", n, metrics)
	}
	if weightsApart(t, "whole/last.onnx") == 0 {
		t.Error("the last network has the weights of the first")
	}
	exportTuned(t, "whole")
}

// weightsApart returns the largest difference between a weight of the file and of glyphnet.
func weightsApart(t *testing.T, file string) float64 {
	t.Helper()
	was, is := readModel(t, ""), readModel(t, file)
	largest := 0.0
	for _, w := range was.Graph.Initializers {
		a, err := w.Float32s()
		if err != nil {
			continue
		}
		b, err := is.Graph.Initializer(w.Name).Float32s()
		if err != nil || len(a) != len(b) {
			t.Fatal(w.Name, err)
		}
		for i := range a {
			largest = max(largest, math.Abs(float64(a[i])-float64(b[i])))
		}
	}
	return largest
}

// readModel reads an ONNX file; "" means glyphnet.
func readModel(t *testing.T, file string) *graph.Model {
	t.Helper()
	data := glyphnet(t).Data
	if file != "" {
		data = []byte(readFile(t, file))
	}
	m, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func glyphnet(t *testing.T) *models.Backbone {
	t.Helper()
	r, err := models.OpenDefault()
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Resolve("glyphnet", models.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exportTuned evaluates, audits and exports a run's last state, and runs the exported file.
func exportTuned(t *testing.T, run string) {
	t.Helper()
	out, stderr := mustCall(t, "eval", run, "--last", "--json")
	var result measure.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr, "its features are computed from the images, once, into "+run+"/features-") ||
		!result.FineTuned || result.N == 0 || result.PrecisionAt1 == result.Whitened.PrecisionAt1 &&
		result.MAPAtR == result.Whitened.MAPAtR {
		t.Errorf("eval: %+v\n%s", result, stderr)
	}
	if _, stderr := mustCall(t, "eval", run, "--last"); !strings.Contains(stderr,
		"features of the fine-tuned backbone: "+run+"/features-") {
		t.Errorf("eval did not reuse its own features:\n%s", stderr)
	}
	mustCall(t, "audit", run, "--last", "--out", "suspects.csv") // uses other images
	if _, stderr := mustCall(t, "audit", run, "--last", "--out", "suspects.csv"); !strings.Contains(stderr,
		"features of the fine-tuned backbone: "+run+"/features-") {
		t.Errorf("audit did not reuse its own features:\n%s", stderr)
	}
	mustCall(t, "export", run, "--last", "--onnx", "tuned.onnx", "--npy", "tuned.npy", "--csv", "tuned.csv")
	net, err := ort.NewNetwork(orttest.Runtime(t), []byte(readFile(t, "tuned.onnx")), "embedding",
		ort.NetworkInput{Channels: 1, Height: 32, Width: 32})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	vectors := readNPY(t, "tuned.npy")
	ids := strings.Split(readFile(t, "tuned.ids.csv"), "\n")
	for _, row := range []int{0, 17, vectors.Rows - 1} {
		f, err := os.Open(filepath.Join("drawn", strings.Split(ids[1+row], ",")[1]))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		pixels := make([]float32, 32*32)
		if err := backbone.Preprocess(pixels, img, glyphnet(t).Preprocessing); err != nil {
			t.Fatal(err)
		}
		z := features.NewMatrix(1, net.Dim())
		if err := net.Infer(z, pixels, 1); err != nil {
			t.Fatal(err)
		}
		for j, v := range z.Data {
			if d := math.Abs(float64(v - features.Row(vectors, row)[j])); !(d < 1e-5) {
				t.Fatalf("%s: number %d of the exported model's vector is %v, of the embeddings %v", ids[1+row], j, v,
					features.Row(vectors, row)[j])
			}
		}
	}
}

// TestFinetuneFromAStage checks that a run is the same if the outputs of the frozen part are cached, and if they are
// computed for every batch because the cache is too small.
func TestFinetuneFromAStage(t *testing.T) {
	atelier(t)
	_, kept := mustCall(t, tuneArgs("kept", "stage3")...)
	_, staged := mustCall(t, tuneArgs("staged", "stage2", "--features", "kept/features")...)
	_, small := mustCall(t, tuneArgs("small", "stage3", "--features", "kept/features", "--cache-limit", "1KiB")...)
	_, none := mustCall(t, tuneArgs("none", "stage3", "--features", "kept/features", "--cache-limit", "0")...)
	_, chunked := mustCall(t, tuneArgs("chunked", "stage3", "--features", "kept/features", "--set",
		"finetune.chunk=5")...)
	for text, want := range map[string]string{
		kept:    "the frozen part was run once on 72 images: ",
		small:   "more than the cache limit of 1.0 KiB: it is computed again for every batch",
		none:    "the cache is off: the frozen part runs for every batch",
		staged:  "fine-tuning glyphnet: 384080 of its 384704 weights (99.8 %), in 8 tensors",
		chunked: "fine-tuning glyphnet: 332096 of its 384704 weights (86.3 %), in 4 tensors",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("standard error does not contain %q:\n%s", want, text)
		}
	}
	want := lossesOf(t, "kept")
	for _, run := range []string{"small", "none", "chunked"} {
		got := lossesOf(t, run)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4*want[i] {
				t.Errorf("%s: losses %v, expected %v as with a full cache", run, got, want)
				break
			}
		}
	}
	was, is := readModel(t, ""), readModel(t, "kept/last.onnx")
	for _, w := range was.Graph.Initializers {
		before, _ := w.Float32s()
		after, _ := is.Graph.Initializer(w.Name).Float32s()
		if same := slices.Equal(before, after); same == (w.Name >= "block4") {
			t.Errorf("%s: unchanged %v", w.Name, same)
		}
	}
}

// lossesOf returns the losses of a run's steps.
func lossesOf(t *testing.T, run string) []float64 {
	t.Helper()
	var list []float64
	for _, text := range strings.Split(strings.TrimSpace(readFile(t, run, train.MetricsFile)), "\n") {
		var l struct{ Loss *float64 }
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Loss != nil {
			list = append(list, *l.Loss)
		}
	}
	if len(list) != 12 {
		t.Fatalf("%s: %d steps", run, len(list))
	}
	return list
}

// TestFinetunedRunFolder checks that a head and a network of different states are refused, that another manifest gets
// its own features, and that --overwrite removes all files of the old network.
func TestFinetunedRunFolder(t *testing.T) {
	atelier(t)
	mustCall(t, tuneArgs("run", "all", "--set", "backbone_solver.lr=1e-3")...)
	mustCall(t, "eval", "run")
	stores := func() int { found, _ := filepath.Glob("run/features-*"); return len(found) }
	text := readFile(t, "noisy.csv")
	lines := strings.Split(text, "\n")
	write(t, "fewer.csv", strings.Join(slices.Delete(lines, 3, 5), "\n"))
	if mustCall(t, "eval", "run", "--manifest", "fewer.csv", "--root", "drawn"); stores() != 1 {
		t.Errorf("%d stores, expected that the store of all images is also used for some of them", stores())
	}
	write(t, "drawn/new.png", readFile(t, "drawn", strings.Split(lines[1], ",")[0]))
	write(t, "more.csv", text+"new.png,"+strings.Split(lines[1], ",")[1]+",test"+
		strings.Repeat(",", strings.Count(lines[1], ",")-2)+"\n")
	if code, _, stderr := call(context.Background(), "export", "run", "--manifest", "more.csv", "--root", "drawn",
		"--npy", "e.npy"); code != 0 || stores() != 2 {
		t.Errorf("exit %d, %d stores, expected another store for more images\n%s", code, stores(), stderr)
	}
	code, _, stderr := call(context.Background(), tuneArgs("run", "stage2", "--resume")...)
	if code != 1 || !strings.Contains(stderr, `made with finetune.weights = "all", asked for "stage2"`) ||
		strings.Contains(stderr, "fine-tuning glyphnet") {
		t.Errorf("exit %d, expected that other settings are refused before the network is loaded\n%s", code, stderr)
	}
	backboneFile := filepath.Join("run", folder.BestBackboneFile)
	whole := readFile(t, backboneFile)
	write(t, backboneFile, whole+"\x00")
	fails(t, 1, "but the head was trained with the network of", "eval", "run")
	if err := os.Remove(backboneFile); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "run: contains no backbone.onnx, which head.winnow was trained with", "eval", "run")
	if mustCall(t, "train", "--resume", "--out", "run"); readFile(t, backboneFile) != whole {
		t.Error("the resumed run did not write the lost network again")
	}
	fails(t, 2, "--model: the backbone of this run was fine-tuned", "export", "run", "--onnx", "x.onnx", "--model",
		"glyphnet")
	if mustCall(t, tuneArgs("run", "all", "--overwrite", "--steps", "1")...); stores() != 0 {
		t.Errorf("%d stores of the old network are left", stores())
	}
}
