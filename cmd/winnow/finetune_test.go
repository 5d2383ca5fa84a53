package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// atelier makes a few drawn characters in a new working folder. A third of their labels are wrong.
func atelier(t *testing.T) {
	t.Helper()
	orttest.Runtime(t)
	atelierFiles.here(t, func() {
		mustRun(t, "winnow data glyphs --out drawn --classes 16 --images 8")
		mustRun(t, "winnow data corrupt drawn/manifest.csv --noise-rate 0.33 --out noisy.csv")
	})
}

var atelierFiles fixture

// tuneArgs returns the arguments of a short fine-tuning with everything that has a state: both groups of weights with
// momentum, a backbone that starts later, augmented views, a filter.
func tuneArgs(out, weights string, more ...string) []string {
	return append([]string{"train", "--manifest", "noisy.csv", "--root", "drawn", "--model", "glyphnet", "--finetune",
		weights, "--out", out,
		"--screen", "none", "--dim", "24", "--batch", "6x3", "--steps", "12", "--lr", "1e-3", "--backbone-lr", "3e-4",
		"--set", "validation.every=4 steps",
		"--set", "checkpoint=3 steps", "--set", "filter.avgsim=2 steps", "--set", "bank.size=60"}, more...)
}

// A fine-tuning that is interrupted several times and resumed leaves the same files as an uninterrupted one. eval,
// audit and export use its network.
func TestFinetune(t *testing.T) {
	atelier(t)
	settings := []string{"--augment", "digits", "--set", "finetune.start=4 steps", "--set", "backbone_solver.name=sgd",
		"--set", "backbone_solver.momentum=0.9", "--set", "backbone_solver.lr=0.01", "--backbone-lr", "0.01"}
	_, stderr := mustCall(t, tuneArgs("whole", "all", settings...)...)
	holds(t, stderr, "making the features of the backbone before training, into whole/features",
		"fine-tuning glyphnet: 384704 of its 384704 weights (100 %), in 10 tensors, batch normalization frozen",
		"the backbone rests for the first 4 of 12 steps", "the head starts again, whitened by",
		"untrained head: validation P@1")
	if n := cutAgain(t, 2, tuneArgs("cut", "all", append(settings, "--resume")...), nil); n < 2 {
		t.Errorf("the run was interrupted %d times, expected 2 or more", n)
	}
	sameFiles(t, "whole", "cut", folder.BestHeadFile, folder.LastHeadFile, folder.BestBackboneFile,
		folder.LastBackboneFile, train.MetricsFile, train.CheckpointFile, folder.ConfigFile)
	metrics := readFile(t, "whole", train.MetricsFile)
	if n := strings.Count(metrics, `"backbone_lr"`); n != 8 {
		t.Errorf("%d steps name a rate of the backbone, expected the 8 in which it moves:\n%s", n, metrics)
	}
	if weightsApart(t, "whole/last.onnx") == 0 {
		t.Error("the weights of the last network are those of the first")
	}
	exportTuned(t, "whole")
}

// weightsApart returns the largest difference of a weight from glyphnet's.
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

// readModel reads an ONNX file, or glyphnet.
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
		t.Errorf("eval did not use the features that it had made:\n%s", stderr)
	}
	mustCall(t, "audit", run, "--last", "--out", "suspects.csv") // of other images
	if _, stderr := mustCall(t, "audit", run, "--last", "--out", "suspects.csv"); !strings.Contains(stderr,
		"features of the fine-tuned backbone: "+run+"/features-") {
		t.Errorf("audit did not use the features that it had made:\n%s", stderr)
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

// The frozen part runs once and is cached, or for every batch if the cache is too small: both give the same run.
func TestFinetuneFromAStage(t *testing.T) {
	atelier(t)
	_, kept := mustCall(t, tuneArgs("kept", "stage3")...)
	_, staged := mustCall(t, tuneArgs("staged", "stage2", "--features", "kept/features")...)
	_, small := mustCall(t, tuneArgs("small", "stage3", "--features", "kept/features", "--cache-limit", "1KiB")...)
	_, none := mustCall(t, tuneArgs("none", "stage3", "--features", "kept/features", "--cache-limit", "0")...)
	_, chunked := mustCall(t, tuneArgs("chunked", "stage3", "--features", "kept/features", "--set",
		"finetune.chunk=5")...)
	for text, want := range map[string]string{
		kept:    "the frozen part was run once over 72 images: ",
		small:   "more than the cache limit of 1.0 KiB: it is computed again for every batch",
		none:    "nothing is cached: the frozen part runs for every batch",
		staged:  "fine-tuning glyphnet: 384080 of its 384704 weights (more than 99 %), in 8 tensors",
		chunked: "fine-tuning glyphnet: 332096 of its 384704 weights (86 %), in 4 tensors",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("standard error lacks %q:\n%s", want, text)
		}
	}
	want := lossesOf(t, "kept")
	for _, run := range []string{"small", "none", "chunked"} {
		got := lossesOf(t, run)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4*want[i] {
				t.Errorf("%s: losses %v, expected %v as with everything kept", run, got, want)
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

// normalised writes a network with batch normalization for grey pictures of 32×32.
func normalised(t *testing.T, path string) {
	t.Helper()
	rng := train.Rand(1, "normalised", 0)
	b := graph.NewBuilder("normalised", 13)
	tensor := func(name string, spread, mean float32, dims ...int64) string {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = mean + spread*float32(rng.NormFloat64())
		}
		return b.Constant(graph.NewTensor(name, values, dims...))
	}
	x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(1), graph.Fixed(32), graph.Fixed(32)})
	for i, in := range []int64{1, 12} {
		out := 12 * int64(i+1)
		x = b.Node("Conv", []string{x, tensor("w", 0.3, 0, out, in, 3, 3)}, graph.Ints("strides", 2, 2))
		x = b.Node("BatchNormalization", []string{x, tensor("scale", 0, 1, out), tensor("shift", 0, 0, out),
			tensor("mean", 0.1, 0, out), tensor("variance", 0, 1, out)})
		x = b.Node("Relu", []string{x})
	}
	b.Output(b.NodeTo("features", "Flatten", []string{b.Node("GlobalAveragePool", []string{x})}))
	write(t, path, string(b.Model().Marshal()))
}

// If batch normalization is trained, the running statistics change and are part of the checkpoint and of the network,
// and an interrupted run ends with the same bits.
func TestFinetuneWithBatchNorm(t *testing.T) {
	atelier(t)
	normalised(t, "bn.onnx")
	mustRun(t, "winnow extract --manifest noisy.csv --root drawn --model bn.onnx --preset grey --crop 32 --resize 32 "+
		"--out frozen")
	args := func(out string, more ...string) []string {
		return tuneArgs(out, "all", append([]string{"--model", "bn.onnx", "--features", "frozen", "--set",
			"finetune.batch_norm=train", "--backbone-lr", "1e-3", "--set", "bank.fill=false", "--set",
			"finetune.refit=0 steps"}, more...)...)
	}
	_, stderr := mustCall(t, args("whole")...)
	if !strings.Contains(stderr, "batch normalization train") {
		t.Error(stderr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if code := execute(ctx, append([]string{"winnow"}, args("cut")...), new(bytes.Buffer),
		&cancelAfter{n: 2, cancel: cancel}); code != 130 {
		t.Fatalf("exit %d", code)
	}
	mustCall(t, args("cut", "--resume")...)
	sameFiles(t, "whole", "cut", folder.BestBackboneFile, folder.LastBackboneFile, train.MetricsFile,
		train.CheckpointFile)
	statistics := func(file string) (all []float32) {
		m := readModel(t, file)
		for _, n := range m.Graph.Nodes {
			if n.Op == "BatchNormalization" {
				mean, err := m.Graph.Initializer(n.Inputs[3]).Float32s()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, mean...)
			}
		}
		return all
	}
	was, is := statistics("bn.onnx"), statistics("whole/last.onnx")
	if len(was) != 36 || slices.Equal(was, is) {
		t.Errorf("running means %v, expected that they have moved from %v", is, was)
	}
	_, stderr = mustCall(t, args("frozen_run", "--set", "finetune.batch_norm=frozen")...)
	if !slices.Equal(was, statistics("frozen_run/last.onnx")) {
		t.Errorf("frozen running means have moved\n%s", stderr)
	}
	mustCall(t, "export", "whole", "--last", "--onnx", "x.onnx")
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

func TestFinetuneMisuse(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", "models.json")
	t.Setenv("WINNOW_MODEL_DIRS", "")
	mustRun(t, "winnow extract --manifest noisy.csv --root drawn --model glyphnet --out frozen")
	other := readModel(t, "")
	w := other.Graph.Initializer("block1.bias")
	changed, err := graph.WithValues(other, map[string][]float32{w.Name: make([]float32, 24)})
	if err != nil {
		t.Fatal(err)
	}
	write(t, "other.onnx", string(changed.Marshal()))
	write(t, "photos.csv", "path,label,split\na.png,cat,train\nb.png,dog,train\n")
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"train", "photos.csv", "--root", "drawn", "--finetune", "--out", "run"}, 1,
			"train: no backbone is installed"},
		{[]string{"train", "--manifest", "noisy.csv", "--features", "features", "--model", "glyphnet", "--out", "run"},
			2, "--model is the backbone that is trained, or that makes the features: add --finetune all"},
		{[]string{"train", "--manifest", "noisy.csv", "--features", "frozen", "--backbone-lr", "1", "--out", "run"}, 2,
			"--backbone-lr is about a backbone that is trained: add --finetune all, or a stage"},
		{tuneArgs("run", "all", "--augment", "blur"), 2, `augmentation "blur" is unknown: known are none, flip`},
		{tuneArgs("run", "all", "--cache-limit", "much"), 2,
			`--cache-limit: found "much", expected for example "2 GiB"`},
		{tuneArgs("run", "layer9"), 1, "or one of stage1, stage2, stage3\nwinnow: winnow models show " +
			"glyphnet says how large the stages are"},
		{tuneArgs("run", "all", "--root", "nowhere"), 1, "name their folder with --root"},
		{tuneArgs("run", "all", "--root", "empty"), 1, "none of the first 64 images can be read"},
		{tuneArgs("run", "all", "--root", "empty", "--features", "frozen"), 1, "fine-tuning reads the images, " +
			"which were expected below empty: name their folder with --root"},
		{tuneArgs("run", "all", "--features", "frozen", "--model", "other.onnx"), 1, "features frozen: made with the " +
			"model of sha256"},
		{tuneArgs("run", "all", "--model", "nothing"), 1, "no such file: see winnow models list\n"},
		{tuneArgs("run", "all", "--features", "frozen", "--set", "finetune.start=12 steps"), 1,
			"the backbone would rest for 12 steps and the run has 12"},
	} {
		fails(t, c.code, c.want, c.args...)
		if err := os.RemoveAll("run"); err != nil {
			t.Fatal(err)
		}
	}
}

// A head and a network of different states are refused; another manifest gets its own features; --overwrite leaves
// nothing of the old network.
func TestFinetunedRunFolder(t *testing.T) {
	atelier(t)
	mustCall(t, tuneArgs("run", "all", "--set", "backbone_solver.lr=1e-3")...)
	mustCall(t, "eval", "run")
	stores := func() int { found, _ := filepath.Glob("run/features-*"); return len(found) }
	text := readFile(t, "noisy.csv")
	lines := strings.Split(text, "\n")
	write(t, "fewer.csv", strings.Join(slices.Delete(lines, 3, 5), "\n"))
	if mustCall(t, "eval", "run", "--manifest", "fewer.csv", "--root", "drawn"); stores() != 1 {
		t.Errorf("%d stores, expected that the one of all images serves some of them", stores())
	}
	write(t, "drawn/new.png", readFile(t, "drawn", strings.Split(lines[1], ",")[0]))
	write(t, "more.csv", text+"new.png,"+strings.Split(lines[1], ",")[1]+",test"+
		strings.Repeat(",", strings.Count(lines[1], ",")-2)+"\n")
	if code, _, stderr := call(context.Background(), "export", "run", "--manifest", "more.csv", "--root", "drawn",
		"--npy", "e.npy"); code != 0 || stores() != 2 {
		t.Errorf("exit %d, %d stores, expected another one for more images\n%s", code, stores(), stderr)
	}
	code, _, stderr := call(context.Background(), tuneArgs("run", "stage2", "--resume")...)
	if code != 1 || !strings.Contains(stderr, `made with finetune.weights = "all", asked for "stage2"`) ||
		strings.Contains(stderr, "fine-tuning glyphnet") {
		t.Errorf("exit %d, expected other settings refused before the network is loaded\n%s", code, stderr)
	}
	backboneFile := filepath.Join("run", folder.BestBackboneFile)
	whole := readFile(t, backboneFile)
	write(t, backboneFile, whole+"\x00")
	fails(t, 1, "but head.winnow was trained with the network of", "eval", "run")
	if err := os.Remove(backboneFile); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "run: holds no backbone.onnx, which head.winnow was trained with", "eval", "run")
	if mustCall(t, "train", "--resume", "--out", "run"); readFile(t, backboneFile) != whole {
		t.Error("the lost network was not written again by the run that goes on")
	}
	fails(t, 2, "--model: the backbone of this run was fine-tuned", "export", "run", "--onnx", "x.onnx", "--model",
		"glyphnet")
	if mustCall(t, tuneArgs("run", "all", "--overwrite", "--steps", "1")...); stores() != 0 {
		t.Errorf("%d stores of the old network are left", stores())
	}
}

// Images lost since the training are an error until they are back, not silently left out of one row.
func TestFinetunedLostImages(t *testing.T) {
	atelier(t)
	mustCall(t, tuneArgs("run", "all", "--steps", "2")...)
	rows := strings.Split(readFile(t, "noisy.csv"), "\n")
	lost := ""
	for _, row := range rows {
		if fields := strings.Split(row, ","); slices.Contains(fields, "test") {
			lost = filepath.Join("drawn", fields[0])
		}
	}
	if err := os.Rename(lost, "away.png"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(context.Background(), "eval", "run")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "run: 1 images that the run could read are unreadable "+
		"below drawn, the first is ") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if err := os.Rename("away.png", lost); err != nil {
		t.Fatal(err)
	}
	stdout, _ = mustCall(t, "eval", "run", "--json")
	var result measure.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if result.N != result.Frozen.N || len(result.LeftOut) != 0 || result.Backbone != filepath.Join("run",
		folder.BestBackboneFile) {
		t.Errorf("%d queries, frozen %d, %d left out, by %q", result.N, result.Frozen.N, len(result.LeftOut),
			result.Backbone)
	}
}

// An image that was unreadable at the training and is readable now is in no row: all rows have the same images.
func TestFinetunedMendedImage(t *testing.T) {
	atelier(t)
	mended := ""
	for _, row := range strings.Split(readFile(t, "noisy.csv"), "\n") {
		if fields := strings.Split(row, ","); slices.Contains(fields, "test") {
			mended = filepath.Join("drawn", fields[0])
		}
	}
	whole := readFile(t, mended)
	write(t, mended, "no image")
	mustCall(t, tuneArgs("run", "all", "--steps", "2")...)
	write(t, mended, whole)
	stdout, _ := mustCall(t, "eval", "run", "--json")
	var result measure.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if result.N == 0 || result.N != result.Frozen.N || result.N != result.Whitened.N {
		t.Errorf("%d queries trained, %d frozen, %d whitened", result.N, result.Frozen.N, result.Whitened.N)
	}
}

// The network of a run works as a backbone: its file names its preprocessing, for extract and for the next fine-tuning,
// and holds every key of its metadata once.
func TestFinetuneAgain(t *testing.T) {
	atelier(t)
	mustCall(t, tuneArgs("first", "stage2", "--steps", "2")...)
	network := filepath.Join("first", folder.BestBackboneFile)
	_, stderr := mustCall(t, "extract", "--manifest", "noisy.csv", "--root", "drawn", "--model", network, "--out",
		"made")
	if strings.Contains(stderr, "--preset") {
		t.Errorf("the preprocessing was not found in the file:\n%s", stderr)
	}
	mustCall(t, "eval", "first", "--features", "made")
	mustCall(t, tuneArgs("second", "stage2", "--steps", "2", "--model", network)...)
	keys := map[string]int{}
	for _, about := range readModel(t, filepath.Join("second", folder.BestBackboneFile)).Metadata {
		if keys[about.Key]++; keys[about.Key] > 1 {
			t.Errorf("the key %s is there twice", about.Key)
		}
	}
	if keys[models.PreprocessingKey] != 1 || keys["winnow.finetuned_from"] != 1 {
		t.Errorf("found the keys %v", keys)
	}
}

// With a folder of images and only --finetune, the installed backbone is trained, and briefly, as there is no
// validation. The run records both.
func TestFinetuneByTheShortestCommand(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", "models.json")
	t.Setenv("WINNOW_MODEL_DIRS", "")
	write(t, "small.onnx", string(glyphnet(t).Data))
	mustCall(t, "models", "add", "small.onnx", "--name", "small", "--preset", "grey", "--resize", "32", "--crop", "32")
	classes, err := filepath.Glob("drawn/train/U+*")
	if err != nil || len(classes) == 0 {
		t.Fatal(classes, err)
	}
	for i, dir := range classes { // otherwise glyphnet, the backbone for drawn characters, is chosen
		if err := os.Rename(dir, fmt.Sprint("drawn/train/kind ", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr := mustCall(t, "train", "drawn/train", "--finetune", "--out", "run")
	holds(t, stderr, "the backbone is small, the only backbone installed", "4 epochs without a validation split",
		"of its 384704 weights (100 %)")
	for _, want := range []string{"length: 4 epochs", "model: small", "weights: all"} {
		if config := readFile(t, "run", folder.ConfigFile); !strings.Contains(config, want) {
			t.Errorf("config.yaml lacks %q:\n%s", want, config)
		}
	}
	mustCall(t, "train", "--resume", "--out", "run")
}

// Without a validation split some classes are held out. All commands treat them as the run's validation split, and an
// audit judges their labels, too.
func TestFinetuneHoldsOut(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	mustRun(t, "winnow data glyphs --out drawn --classes 120 --images 10")
	train := func(images, out string, more ...string) string {
		_, stderr := mustCall(t, append([]string{"train", images, "--finetune", "--model", "glyphnet", "--screen",
			"none", "--steps", "6", "--out", out}, more...)...)
		return stderr
	}
	told := train("drawn/train", "run")
	if want := "no validation split: 6 of 60 classes, 60 images, are held out to find the best state (--set " +
		"validation.hold_out=0 trains on all)"; !strings.Contains(told, want) || !strings.Contains(told,
		"validation P@1") {
		t.Errorf("standard error lacks %q, or what validation found:\n%s", want, told)
	}
	mustCall(t, "train", "--resume", "--out", "run")
	var result struct{ N int }
	stdout, _ := mustCall(t, "eval", "run", "--split", "validation", "--json")
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.N != 60 {
		t.Errorf("%d queries in the validation split, expected 60: %v", result.N, err)
	}
	var audited struct{ Images []struct{ Path string } }
	stdout, _ = mustCall(t, "audit", "run", "--json")
	if err := json.Unmarshal([]byte(stdout), &audited); err != nil || len(audited.Images) != 600 {
		t.Errorf("%d images judged, expected all 600 of the folder: %v", len(audited.Images), err)
	}
	if told = train("drawn/train", "whole", "--set", "validation.hold_out=0"); strings.Contains(told, "held out") ||
		!strings.Contains(told, "600 images of 60 classes to train on, 0 for validation") {
		t.Errorf("told to hold nothing out:\n%s", told)
	}
}
