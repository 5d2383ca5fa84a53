package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/draw"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run/config"
	"winnow/run/tuning"
	"winnow/train"
)

// Settings of the timed step: photographs of birds, batches of 8 classes with 4 images each, PRISM's filter and its
// loss against a bank, Adam for head and backbone.
const stepClasses, stepImages, stepPhotographs = 8, 4, 768

// stepCase is a backbone, its trained weights, and its augmentation.
type stepCase struct {
	name, network, weights, augment string

	large bool // of 1,200×900, decoded anew each time
}

var stepCases = []stepCase{
	{"MobileNetV2/flip", "mobilenet", config.AllWeights, "flip", false},
	{"MobileNetV2/imagenet", "mobilenet", config.AllWeights, "imagenet", false},
	{"MobileNetV2/large", "mobilenet", config.AllWeights, "imagenet", true},
	{"ResNet-18/prism", "resnet", config.AllWeights, "prism", false},
	{"last/flip", "mobilenet", "stage5", "flip", false},
	{"last/cached", "mobilenet", "stage5", config.NoAugmentation, false},
}

// BenchmarkFineTuningStep times whole steps of a fine-tuning in the loop of every training, and then the parts of a
// step, each alone on all cores: the shortest times, in ms. share-% is the sum of the parts over the whole step.
// unprepared-ms is a step whose pictures are not made while the network computes the step before, in turns with others.
// busy-% is the share of the cores' time that the process used, if the system says so. -benchtime 40x times 40 steps.
func BenchmarkFineTuningStep(b *testing.B) {
	for _, c := range stepCases {
		b.Run(c.name, func(b *testing.B) { benchmarkFineTuning(b, c) })
	}
}

func benchmarkFineTuning(b *testing.B, c stepCase) {
	r, tuned := openStep(b, c)
	whole, unprepared, busy := wholeSteps(b, r)
	if err := errors.Join(r.encoder.Close(), tuned.Close()); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	sum := 0.0
	p := openParts(b, r, tuned)
	for _, part := range p.measure(b, max(len(whole)/2, 5)) {
		ms := least(part.times)
		b.ReportMetric(ms, part.name+"-ms")
		sum += ms
	}
	step := least(whole)
	b.ReportMetric(step, "whole-ms")
	b.ReportMetric(least(unprepared), "unprepared-ms")
	b.ReportMetric(sum, "parts-ms")
	b.ReportMetric(100*sum/step, "share-%")
	b.ReportMetric(busy, "busy-%")
}

func least(d []time.Duration) float64 { return 1e3 * slices.Min(d).Seconds() }

// openStep builds everything of a training.
func openStep(b *testing.B, c stepCase) (*Training, *tuning.Live) {
	zip := reference.Asset(b, "data/cub200-2010-224px.zip")
	orttest.UseBLAS(b)
	cfg := config.Default()
	cfg.Data = config.Data{Root: zip, Model: networkFile(b, c.network)}
	cfg.Finetune.Weights, cfg.Finetune.Augment = c.weights, c.augment
	cfg.Head.Out, cfg.Head.Init = 512, head.Random
	cfg.Sampler.Classes, cfg.Sampler.Images = stepClasses, stepImages
	cfg.Bank.Size, cfg.Length = 512, config.LastsSteps(1<<20)
	paths, labels := photographs(b, zip)
	if c.large {
		cfg.Finetune.CacheLimit = 0
		paths, labels = paths[:6*stepClasses*stepImages], labels[:6*stepClasses*stepImages]
		cfg.Data.Root = enlarged(b, zip, paths)
	}
	tuned, err := tuning.Open(cfg, paths, tuning.Config{
		Note:  func(string, ...any) {},
		Watch: func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} },
	})
	if err != nil {
		b.Fatal(err)
	}
	tuned.Use(orttest.Runtime(b))
	set := features.NewSet(len(paths), tuned.Cut.Dim)
	copy(set.Labels, labels)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range set.X.Data { // the views are compared with these, nothing more
		set.X.Data[i] = rng.Float32()
	}
	data, err := NewData(set, features.Set{})
	if err != nil {
		b.Fatal(err)
	}
	data.Paths = paths
	r := &Training{backbone: tuned, Plan: Plan{Config: cfg}, Data: data}
	if err := r.prepareHead(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := r.buildParts(b.Context()); err != nil {
		b.Fatal(err)
	}
	return r, tuned
}

// photographs lists the first photographs of each class.
func photographs(b *testing.B, zip string) (paths []string, labels []int) {
	fsys, err := imageroot.Open(b.Context(), location.At(zip))
	if err != nil {
		b.Fatal(err)
	}
	byClass := map[string][]string{}
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".jpg") {
			byClass[path.Dir(name)] = append(byClass[path.Dir(name)], name)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	label := 0
	for _, class := range slices.Sorted(func(yield func(string) bool) {
		for name := range byClass {
			if !yield(name) {
				return
			}
		}
	}) {
		for _, p := range byClass[class][:min(16, len(byClass[class]))] {
			if len(paths) < stepPhotographs {
				paths, labels = append(paths, p), append(labels, label)
			}
		}
		label++
	}
	return paths, labels
}

// enlarged writes the photographs at a camera's size: 1,200×900 pixels.
func enlarged(b *testing.B, zip string, paths []string) string {
	fsys, err := imageroot.Open(b.Context(), location.At(zip))
	if err != nil {
		b.Fatal(err)
	}
	dir, cache := b.TempDir(), backbone.NewImageCache(fsys, paths, 0, backbone.DecodeOptions{})
	large := image.NewRGBA(image.Rect(0, 0, 1200, 900))
	for i, p := range paths {
		img, err := cache.Image(i)
		if err != nil {
			b.Fatal(err)
		}
		draw.BiLinear.Scale(large, large.Bounds(), img, img.Bounds(), draw.Src, nil)
		var text bytes.Buffer
		err = errors.Join(jpeg.Encode(&text, large, &jpeg.Options{Quality: 92}),
			os.MkdirAll(filepath.Join(dir, path.Dir(p)), 0o755))
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, p), text.Bytes(), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// resnet18 is the network of 18 layers of He et al. 2016, table 1.
var resnet18 = architecture.Network{Name: "resnet18", Channels: 3, Side: 224, Layers: func(p *architecture.Plan) {
	p.Conv(64, 7, 2, 3, false)
	p.BatchNorm()
	p.Relu()
	p.MaxPool(3, 2, 1)
	for i, out := range []int{64, 64, 128, 128, 256, 256, 512, 512} {
		architecture.ResidualBlock(p, out, i > 1 && i%2 == 0)
	}
	p.GlobalAverage()
}}

// networkFile writes a network whose metadata say how it takes images.
func networkFile(b *testing.B, name string) string {
	p := backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{.485, .456, .406}, Std: [3]float32{.229, .224, .225}}
	var m *graph.Model
	if name == "resnet" {
		m = resnet18.Model(1)
	} else {
		data, err := os.ReadFile(reference.Asset(b, "models/mobilenetv2-features.onnx"))
		if err == nil {
			m, err = graph.Read(data)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	m.Metadata = append(m.Metadata, graph.Property{Key: models.PreprocessingKey, Value: p.Key()})
	file := filepath.Join(b.TempDir(), name+".onnx")
	if err := os.WriteFile(file, m.Marshal(), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// turns is an encoder that does or does not prepare the next batch.
type turns struct {
	tuning.Encoder
	told bool
}

func (t *turns) Announce(rows []int) {
	if e, ok := t.Encoder.(train.Announced); ok && t.told {
		e.Announce(rows)
	}
}

// wholeSteps runs the training's loop and returns how long its steps took, alternating six normal ones with six
// unprepared ones, and the share of the cores' time that was used.
func wholeSteps(b *testing.B, r *Training) (steps, unprepared []time.Duration, busy float64) {
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var last, first time.Time
	var used time.Duration
	warm, n := 4, 0
	e := &turns{r.encoder, true}
	r.trainer.Encoder = e
	r.trainer.Observe = train.Together(r.trainer.Observe, train.On(func(train.Step) {
		now := time.Now()
		if warm--; warm >= 0 { // memory is allocated, the bank begins to fill
			last, first, used = now, now, processorTime()
			return
		}
		if n%6 > 0 { // of the first the pictures were made as before
			if e.told {
				steps = append(steps, now.Sub(last))
			} else {
				unprepared = append(unprepared, now.Sub(last))
			}
		}
		n++
		e.told = n/6%2 == 0
		if !b.Loop() {
			busy = 100 * float64(processorTime()-used) / float64(now.Sub(first)) / float64(runtime.GOMAXPROCS(0))
			stop()
		}
		last = time.Now()
	}))
	if _, err := r.trainer.Run(ctx); !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	if len(unprepared) == 0 { // a single step, by which the benchmark is tried out
		return []time.Duration{time.Hour}, []time.Duration{time.Hour}, busy
	}
	return steps, unprepared, busy
}

// processorTime returns the process's CPU time; 0 if the system does not say.
func processorTime() time.Duration {
	text, err := os.ReadFile("/proc/self/stat")
	_, after, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if err != nil || !ok || len(fields) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond // 100 a second, on every Linux
}
