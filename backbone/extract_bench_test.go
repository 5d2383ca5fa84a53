//go:build unix

package backbone_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// BenchmarkExtract runs the whole pipeline, from JPEG files of 500×375 pixels to stored vectors, and for
// comparison the bare network on prepared pixels with the same threads. The two take turns, and the median of
// the turns' ratios is reported: img/s of each, and the share of the bare speed that the pipeline reaches. On a
// machine with other work the clock says little; %cpu is the same share by processor time, which the pipeline
// reaches if no side ever waits.
func BenchmarkExtract(b *testing.B) {
	imageNet := backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB",
		Scale: 1. / 255,
		Mean:  [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	caffe := imageNet
	caffe.Channels, caffe.Scale = "BGR", 1
	caffe.Mean, caffe.Std = [3]float32{104, 117, 123}, [3]float32{1, 1, 1}
	for _, c := range []struct {
		name, model, output string
		p                   backbone.Preprocessing
		images              int
	}{
		{"GoogLeNet", "models/googlenet-bvlc.onnx", "features", caffe, 128},
		{"MobileNetV2", "models/mobilenetv2-features.onnx", "features", imageNet, 512},
	} {
		b.Run(c.name, func(b *testing.B) {
			rt := orttest.Runtime(b)
			model, err := os.ReadFile(reference.Asset(b, c.model))
			if err != nil {
				b.Fatal(err)
			}
			net, err := ort.NewNetwork(rt, model, c.output, ort.NetworkInput{Channels: 3, Height: 224, Width: 224})
			if err != nil {
				b.Fatal(err)
			}
			defer net.Close()
			files, paths := photographs(b, c.images)
			cfg := backbone.ExtractConfig{Preprocessing: c.p, Batch: 32}
			var ratios, work []float64
			var bareTime, pipeTime time.Duration
			for b.Loop() {
				t0 := processorTime(b)
				bare := runBare(b, net, cfg, c.images)
				t1 := processorTime(b)
				pipe := runPipeline(b, net, cfg, files, paths)
				t2 := processorTime(b)
				bareTime, pipeTime = bareTime+bare, pipeTime+pipe
				ratios = append(ratios, bare.Seconds()/pipe.Seconds())
				work = append(work, (t1-t0).Seconds()/(t2-t1).Seconds())
			}
			slices.Sort(ratios)
			slices.Sort(work)
			n := float64(c.images * len(ratios))
			b.ReportMetric(n/bareTime.Seconds(), "bare-img/s")
			b.ReportMetric(n/pipeTime.Seconds(), "img/s")
			b.ReportMetric(100*ratios[len(ratios)/2], "%bare")
			b.ReportMetric(100*work[len(work)/2], "%cpu")
		})
	}
}

// photographs are n files over 16 different pictures.
func photographs(b *testing.B, n int) (fstest.MapFS, []string) {
	var data [16][]byte
	for i := range data {
		var out bytes.Buffer
		if err := jpeg.Encode(&out, backbone.Photograph(500, 375, uint64(i)), &jpeg.Options{Quality: 92}); err != nil {
			b.Fatal(err)
		}
		data[i] = out.Bytes()
	}
	files, paths := fstest.MapFS{}, make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("%05d.jpg", i)
		files[paths[i]] = &fstest.MapFile{Data: data[i%len(data)]}
	}
	return files, paths
}

// processorTime is what this process has used of all cores.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runBare is the network alone.
func runBare(b *testing.B, net *ort.Network, cfg backbone.ExtractConfig, images int) time.Duration {
	pixels := make([]float32, cfg.Batch*cfg.Preprocessing.Size())
	out := features.NewMatrix(cfg.Batch, net.Dim())
	start := time.Now()
	for range images / cfg.Batch {
		if err := net.Infer(out, pixels, cfg.Batch); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

func runPipeline(b *testing.B, net backbone.Network, cfg backbone.ExtractConfig, files fstest.MapFS,
	paths []string) time.Duration {
	plan := features.Plan{Paths: paths, Dim: net.Dim(), Batch: cfg.Batch}
	w, err := features.Create(b.TempDir(), plan, false)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	start := time.Now()
	if err := backbone.Extract(b.Context(), cfg, net, files, paths, w, nil); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	if len(w.Bad()) > 0 {
		b.Fatal(w.Bad())
	}
	return took
}

// BenchmarkLook compares extractions that measure pictures with such that do not. They take turns; reported is
// how much more processor time the first take, by the median of the turns.
func BenchmarkLook(b *testing.B) {
	p := backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Std: [3]float32{0.25, 0.25, 0.25}}
	rt := orttest.Runtime(b)
	model, err := os.ReadFile(reference.Asset(b, "models/mobilenetv2-features.onnx"))
	if err != nil {
		b.Fatal(err)
	}
	net, err := ort.NewNetwork(rt, model, "features", ort.NetworkInput{Channels: 3, Height: 224, Width: 224})
	if err != nil {
		b.Fatal(err)
	}
	defer net.Close()
	files, paths := photographs(b, 256)
	var more []float64
	for b.Loop() {
		var took [2]time.Duration
		for i, looked := range []func(int, backbone.Look){nil, func(int, backbone.Look) {}} {
			start := processorTime(b)
			runPipeline(b, net, backbone.ExtractConfig{Preprocessing: p, Batch: 32, Looked: looked}, files, paths)
			took[i] = processorTime(b) - start
		}
		more = append(more, 100*(took[1].Seconds()/took[0].Seconds()-1))
	}
	slices.Sort(more)
	b.ReportMetric(more[len(more)/2], "%more")
}
