package extraction

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
)

// Largest accepted differences between vectors of the same image, relative to the largest number of the vector. Another
// order of float32 operations explains differences of 1e-6.
const (
	sameLimit     = 1e-4 // between a network changed to take any number of images and the original network
	sameHalfLimit = 5e-3 // the same for networks that compute in float16, whose rounding error is 2⁻¹¹

	mixLimit = 10 * sameLimit // between two batches, which the runtime may compute in another order
)

// PrepareBackbone calls [models.Prepare], and runs the network to find out the rest. A network with a fixed batch is
// changed to take any number of images only if it then gives the same vectors for three images at once, for one image,
// and in its fixed batch. If the graph does not state the shape of the feature tensor, PrepareBackbone measures it.
func PrepareBackbone(b *models.Backbone, output string) (*models.Prepared, error) {
	p, err := models.Prepare(b, output)
	if err != nil {
		return nil, err
	}
	if p.Dim == 0 {
		if p, err = learnShape(b, p, output); err != nil {
			return nil, err
		}
	}
	if err := tryOnce(b, p); err != nil {
		return nil, err
	}
	if p.Fixed == nil || b.Freed && (output == "" || output == b.Output) {
		return p, nil
	}
	key := b.SHA256 + "\n" + p.Cut + "\n" + b.Preprocessing.Key()
	same, known := proved.Load(key)
	if !known {
		rt, err := ort.CPU()
		if err != nil { // without a runtime, keep the batch; running the network later returns the error
			p.Refix(b.Entry)
			return p, nil
		}
		same = checkAfterFree(rt, b.Preprocessing, p) == nil
		proved.Store(key, same)
	}
	if same == false {
		p.Refix(b.Entry)
	}
	return p, nil
}

// proved caches the results of trials for the lifetime of the process.
var proved sync.Map

// tryOnce tries a network that is not in the registry, once in the lifetime of the process.
func tryOnce(b *models.Backbone, p *models.Prepared) error {
	key := b.SHA256 + "\n" + p.Cut
	if _, known := proved.Load(key); known || !b.Untried {
		return nil
	}
	_, err := checkBackbone(b, p)
	if err == nil {
		proved.Store(key, true)
	}
	return err
}

// AddBackbone prepares a backbone for the registry and runs images through it, so that only usable backbones are
// recorded. It sets b.Freed, which is recorded with the backbone.
func AddBackbone(b *models.Backbone) (*models.Prepared, error) {
	p, err := PrepareBackbone(b, "")
	if err != nil {
		return nil, err
	}
	warning, err := checkBackbone(b, p)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
	b.Freed = p.Fixed != nil && warning == ""
	return p, nil
}

// checkBackbone embeds three images at once, again, and each separately. It returns an error if the vectors differ or
// are not finite, and only a warning if there is no runtime.
func checkBackbone(b *models.Backbone, p *models.Prepared) (warning string, err error) {
	rt, err := ort.CPU()
	if err != nil {
		return fmt.Sprintf("%s: not tried on images: %v", b.Name, err), nil
	}
	net, err := ort.NewNetwork(rt, p.Model, p.Tensor, NetworkInput(p, b.Preprocessing))
	if err != nil {
		return "", RefusedByRuntime(b, err)
	}
	defer net.Close()
	pixels, size := drawNoisePictures(b.Preprocessing, 3), b.Preprocessing.Size()
	infer := func(from, to int) blas32.General {
		z := features.NewMatrix(to-from, net.Dim())
		if err == nil {
			err = net.Infer(z, pixels[from*size:to*size], to-from)
		}
		return z
	}
	whole, again, first, last := infer(0, 3), infer(0, 3), infer(0, 1), infer(2, 3)
	if err != nil {
		return "", RefusedByRuntime(b, err)
	}
	for _, v := range whole.Data {
		if v-v != 0 {
			return "", fmt.Errorf("models: %s: features of random images contain %v, expected finite numbers",
				b.File, v)
		}
	}
	d := max(compareRelatively(again.Data, whole.Data), compareRelatively(first.Data, features.Row(whole, 0)),
		compareRelatively(last.Data, features.Row(whole, 2)))
	limit := mixLimit
	if p.Half {
		limit = 10 * sameHalfLimit
	}
	if !(d <= limit) {
		return "", models.Unsettled(b.Entry, fmt.Sprintf("by %.2g of the largest value", d), nil)
	}
	return "", nil
}

// RefusedByRuntime adds the model's file and advice to an error of the runtime.
func RefusedByRuntime(b *models.Backbone, err error) error {
	return hint.With(fmt.Errorf("models: %s: ONNX Runtime does not run it: %w", b.File, err),
		"winnow models show FILE lists other tensors that can be the feature, and the size of the input; if this ONNX "+
			"Runtime lacks an operator, export the network without it")
}

// NetworkInput returns the name and shape of the image input of a prepared network.
func NetworkInput(p *models.Prepared, pre backbone.Preprocessing) ort.NetworkInput {
	return ort.NetworkInput{Name: p.Input, Channels: pre.Planes(), Height: pre.High(), Width: pre.Crop,
		Folder: p.Folder}
}

// learnShape runs a network to learn the shape of its feature tensor, and prepares it again.
func learnShape(b *models.Backbone, p *models.Prepared, output string) (*models.Prepared, error) {
	rt, err := ort.CPU()
	if err != nil {
		return p, nil // running the network later returns the error
	}
	shape, err := ort.OutputShape(rt, p.Model, p.Tensor, NetworkInput(p, b.Preprocessing))
	if err != nil {
		return nil, RefusedByRuntime(b, err)
	}
	seen := *b
	seen.Seen = &graph.ValueInfo{Name: p.Cut, Type: graph.Float32, Shape: graph.ShapeOf(shape...)}
	q, err := models.Prepare(&seen, output)
	if err != nil || q.Dim > 0 {
		return q, err
	}
	return p, nil
}

// checkAfterFree returns an error unless the network with a free batch computes the same as with its fixed batch.
func checkAfterFree(rt *ort.Runtime, pre backbone.Preprocessing, p *models.Prepared) error {
	const n = 3
	pixels := drawNoisePictures(pre, n)
	run := func(model []byte, n int) (blas32.General, error) {
		net, err := ort.NewNetwork(rt, model, p.Tensor, NetworkInput(p, pre))
		if err != nil {
			return blas32.General{}, err
		}
		defer net.Close()
		z := features.NewMatrix(n, net.Dim())
		return z, net.Infer(z, pixels[:n*pre.Size()], n)
	}
	want, err := run(p.Fixed, n)
	if err != nil {
		return err
	}
	limit := sameLimit
	if p.Half {
		limit = sameHalfLimit
	}
	for _, count := range []int{n, 1} {
		found, err := run(p.Model, count)
		if err != nil {
			return err
		}
		for i := range count {
			if d := compareRelatively(features.Row(found, i), features.Row(want, i)); !(d <= limit) {
				return fmt.Errorf("image %d of %d: the vectors differ by %.2g", i, count, d)
			}
		}
	}
	return nil
}

// compareRelatively returns the largest difference between two vectors, relative to the largest magnitude in want.
func compareRelatively(found, want []float32) float64 {
	if len(found) != len(want) {
		return math.Inf(1)
	}
	most, apart := 0.0, 0.0
	for i, v := range want {
		most = max(most, math.Abs(float64(v)))
		apart = max(apart, math.Abs(float64(v)-float64(found[i])))
	}
	if apart == 0 {
		return 0
	}
	return apart / most
}

// drawNoisePictures returns the preprocessed pixels of n random images, which differ in brightness.
func drawNoisePictures(p backbone.Preprocessing, n int) []float32 {
	rng := rand.New(rand.NewPCG(1, 0x747279)) // "try"
	out := make([]float32, n*p.Size())
	each := p.Size() / p.Planes()
	for i := range out {
		c, image := i/each%p.Planes(), i/p.Size()
		level := 255 * (float64(image) + 0.5 + rng.Float64()) / float64(n+1)
		out[i] = float32((level*float64(p.Scale) - float64(p.Mean[c])) / float64(p.Std[c]))
	}
	return out
}
