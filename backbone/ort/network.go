package ort

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/features"
)

// NetworkInput describes the caller's images. NewNetwork checks it against the model.
type NetworkInput struct {
	Name                    string // "": the model's only input
	Channels, Height, Width int
	Folder                  string // folder of the model's data files, as in [SessionOptions]
}

// Network is a backbone that turns each image into one vector. It implements [backbone.Network]. Only one goroutine at
// a time may call Infer.
type Network struct {
	rt      *Runtime
	session *Session
	input   NetworkInput
	batch   int // fixed batch size of the model; 0: any
	dim     int // D
	tail    int // number of sizes after D in the output, each 1: [n,D,1,1] is read as [n,D]

	in, out []Tensor  // each of length 1; kept so that a run allocates no memory
	images  []float32 // input of a padded batch, when n does not fill a fixed batch
	vectors []float32 // output of a padded batch, or for a dst with gaps between its rows

	pinned [][]float32
}

var _ backbone.Network = (*Network)(nil)

// NewNetwork loads a model. Its output (by name; "" is the first) must hold one vector per image: float32 [n,D], or
// [n,D,1,1] from global pooling. Its input must be float32 NCHW, with a free or fixed batch size.
func NewNetwork(rt *Runtime, model []byte, output string, in NetworkInput) (*Network, error) {
	return newNetwork(rt, model, SessionOptions{Outputs: []string{output}, Folder: in.Folder}, in)
}

// Networks is a network loaded once on the CPU and twice on a GPU, so that one lane copies images while the other
// computes. On an H200 ResNet-50 computed the vectors of 2,983 images/s with one session and 3,638 with two. As a
// [backbone.Network] it uses its first lane only; an extraction gives batches to both lanes in turn.
type Networks []*Network

var (
	_ backbone.Lanes  = Networks(nil)
	_ backbone.Pinner = Networks(nil)
)

// NewNetworks loads a network as [NewNetwork] does. A limit on GPU memory applies to both lanes together.
func NewNetworks(rt *Runtime, model []byte, output string, in NetworkInput) (Networks, error) {
	return newNetworks(rt, model, output, in, rt.device.CUDA)
}

// newNetworks is NewNetworks with two lanes if double is true.
func newNetworks(rt *Runtime, model []byte, output string, in NetworkInput, double bool) (list Networks, err error) {
	o, lanes := SessionOptions{Outputs: []string{output}, Folder: in.Folder}, 1
	if double {
		o.memory, lanes = rt.gpu.Memory/2, 2
	}
	for range lanes {
		n, err := newNetwork(rt, model, o, in)
		if err != nil && len(list) > 0 && OutOfMemory(err) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, list.Close())
		}
		list = append(list, n)
	}
	return list, nil
}

// Pin registers memory for faster copies until Unpin.
func (l Networks) Pin(data []float32) {
	l[0].pinned = append(l[0].pinned, data)
	l[0].rt.pin(data)
}

// Unpin ends the registration of all memory passed to Pin.
func (l Networks) Unpin() {
	for _, data := range l[0].pinned {
		l[0].rt.unpin(data)
	}
	l[0].pinned = nil
}

// Dim returns the length of a vector.
func (l Networks) Dim() int { return l[0].Dim() }

// Infer computes vectors in the first lane.
func (l Networks) Infer(dst blas32.General, pixels []float32, images int) error {
	return l[0].Infer(dst, pixels, images)
}

// Lanes implements [backbone.Lanes].
func (l Networks) Lanes() (list []backbone.Network) {
	for _, n := range l {
		list = append(list, n)
	}
	return list
}

// Close frees the models.
func (l Networks) Close() error {
	var err error
	if len(l) > 0 {
		l.Unpin()
	}
	for _, n := range l {
		err = errors.Join(err, n.Close())
	}
	return err
}

func newNetwork(rt *Runtime, model []byte, o SessionOptions, in NetworkInput) (*Network, error) {
	output := o.Outputs[0]
	if output == "" {
		_, outs, err := parseSignature(model)
		if err != nil {
			return nil, fmt.Errorf("ort: model: %w", err)
		}
		output = outs[0].Name
	}
	o.Outputs[0] = output
	s, err := rt.NewSession(model, o)
	if err != nil {
		return nil, err
	}
	n := &Network{rt: rt, session: s, input: in, in: make([]Tensor, 1), out: make([]Tensor, 1)}
	if err := n.checkNetwork(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return n, nil
}

// checkNetwork checks the model against the input, and sets the batch size and the vectors' length.
func (n *Network) checkNetwork() error {
	ins := n.session.ins
	if len(ins) != 1 {
		return fmt.Errorf("ort: model: found the inputs %q, expected one image input", infoNames(ins))
	}
	x := ins[0]
	if n.input.Name != "" && n.input.Name != x.Name {
		return fmt.Errorf("ort: model: found the input %q, expected %q", x.Name, n.input.Name)
	}
	want := []int64{-1, int64(n.input.Channels), int64(n.input.Height), int64(n.input.Width)}
	if x.Type != Float || !fitsShape(x.Shape, want) {
		return fmt.Errorf("ort: model: input %v, expected float32 %s", x, shapeText(want))
	}
	if x.Shape[0] > 0 {
		n.batch = int(x.Shape[0])
	}
	y := n.session.outs[0]
	if y.Type != Float {
		return fmt.Errorf("ort: model: output %v, expected float32", y)
	}
	shape := y.Shape
	if len(shape) < 2 || slices.Contains(shape[1:], -1) {
		var err error
		if shape, err = n.tryShape(); err != nil {
			return err
		}
	}
	return n.setDim(y.Name, shape)
}

// fitsShape reports whether a model's shape accepts the wanted shape. A free size, -1, on either side accepts any size.
func fitsShape(shape, want []int64) bool {
	return len(shape) == len(want) && !slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool {
		return shape[i] >= 0 && want[i] >= 0 && shape[i] != want[i]
	})
}

// tryShape determines the output's shape by running black images, because some models do not declare it.
func (n *Network) tryShape() ([]int64, error) {
	return n.shapeOf(max(n.batch, 1))
}

// shapeOf returns the output's shape for a number of black images.
func (n *Network) shapeOf(rows int) ([]int64, error) {
	n.in[0] = Float32s(make([]float32, rows*n.imageFloats()), n.inputShape(rows)...)
	n.out[0] = Tensor{}
	if err := n.session.Run(n.in, n.out); err != nil {
		return nil, err
	}
	return n.out[0].Shape, nil
}

// OutputShape runs two black images and returns the shape of an output whose shape the model does not declare. The
// first size is -1 if it is the number of images.
func OutputShape(rt *Runtime, model []byte, output string, in NetworkInput) ([]int64, error) {
	s, err := rt.NewSession(model, SessionOptions{Outputs: []string{output}, Folder: in.Folder})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	n := &Network{session: s, input: in, in: make([]Tensor, 1), out: make([]Tensor, 1)}
	rows := 2
	if x := s.ins[0]; len(x.Shape) > 0 && x.Shape[0] > 0 {
		rows = int(x.Shape[0])
	}
	shape, err := n.shapeOf(rows)
	if err == nil && len(shape) > 0 && shape[0] == int64(rows) && rows == 2 {
		shape[0] = -1
	}
	return shape, err
}

func (n *Network) setDim(name string, shape []int64) error {
	bad := len(shape) < 2 || len(shape) > 4
	for i, d := range shape {
		bad = bad || i == 1 && d <= 0 || i > 1 && d != 1
	}
	if bad {
		return fmt.Errorf("ort: model: output %q is %s, expected one vector an image: [n,D] or [n,D,1,1]",
			name, shapeText(shape))
	}
	n.dim = int(shape[1])
	n.tail = len(shape) - 2
	return nil
}

// imageFloats returns the number of floats of one image.
func (n *Network) imageFloats() int { return n.input.Channels * n.input.Height * n.input.Width }

func (n *Network) inputShape(rows int) []int64 {
	return []int64{int64(rows), int64(n.input.Channels), int64(n.input.Height), int64(n.input.Width)}
}

// Dim returns the length of a vector.
func (n *Network) Dim() int { return n.dim }

// Infer computes the vectors of images images: pixels is images×channels×height×width, dst images×Dim. A model with a
// fixed batch size runs as often as needed; the last batch is padded with black images.
func (n *Network) Infer(dst blas32.General, pixels []float32, images int) error {
	if images <= 0 || len(pixels) < images*n.imageFloats() || dst.Rows != images || dst.Cols != n.dim {
		return fmt.Errorf("ort: infer: found %d images in %d floats into %d×%d, expected %d floats an image into %d×%d",
			images, len(pixels), dst.Rows, dst.Cols, n.imageFloats(), images, n.dim)
	}
	step := cmp.Or(n.batch, images)
	for at := 0; at < images; at += step {
		count := min(step, images-at)
		part := blas32.General{Rows: count, Cols: n.dim, Stride: dst.Stride, Data: dst.Data[at*dst.Stride:]}
		if err := n.inferBatch(part, pixels[at*n.imageFloats():(at+count)*n.imageFloats()], step); err != nil {
			return err
		}
	}
	return nil
}

// inferBatch runs one batch of rows images. Only the first dst.Rows images are given; the rest are black.
func (n *Network) inferBatch(dst blas32.General, pixels []float32, rows int) error {
	if dst.Rows < rows {
		n.images = features.Grow(n.images, rows*n.imageFloats())
		clear(n.images[copy(n.images, pixels):])
		pixels = n.images
	}
	direct := dst.Rows == rows && dst.Stride == n.dim
	vectors := dst.Data
	if !direct {
		n.vectors = features.Grow(n.vectors, rows*n.dim)
		vectors = n.vectors
	}
	n.setTensors(pixels, vectors[:rows*n.dim], rows)
	if err := n.session.Run(n.in, n.out); err != nil {
		return err
	}
	if !direct {
		for i := range dst.Rows {
			copy(dst.Data[i*dst.Stride:i*dst.Stride+n.dim], vectors[i*n.dim:])
		}
	}
	return nil
}

// setTensors sets the slices and shapes of the kept tensors for a batch.
func (n *Network) setTensors(pixels, vectors []float32, rows int) {
	x, y := &n.in[0], &n.out[0]
	x.F32, y.F32 = pixels, vectors
	if len(x.Shape) == 4 && x.Shape[0] == int64(rows) && len(y.Shape) == 2+n.tail && y.Shape[0] == int64(rows) {
		return
	}
	x.Shape = n.inputShape(rows)
	y.Shape = []int64{int64(rows), int64(n.dim)}
	for range n.tail {
		y.Shape = append(y.Shape, 1)
	}
}

// Close frees the model.
func (n *Network) Close() error { return n.session.Close() }
