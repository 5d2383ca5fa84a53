package models

import (
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/internal/hint"
)

// Prepared is a backbone cut to its feature vector, ready to run.
type Prepared struct {
	Model  []byte // ONNX, with one output
	Folder string // folder of the data files that Model refers to; "": none
	Input  string // name of the tensor to feed
	Tensor string // name of the output: [N,Dim]
	Cut    string // the tensor of the original model at which it was cut
	Why    string // why it was cut there
	Dim    int    // 0 if it is known only when the model runs
	Batch  int    // the only batch size the model takes; 0: any

	// Fixed is the original network with its fixed batch of FixedBatch images, if Model was changed to take any number
	// of images; else nil. Use Model only if it computes the same as Fixed.
	Fixed      []byte
	FixedBatch int
	Half       bool // the network computes in float16 somewhere

	Warnings []string // one line each, for the user
}

// Prepare cuts a backbone at its feature tensor: output if given, else the entry's, else the one found in the graph.
// A tensor that is not one vector per image is converted into one (see [graph.Vector]).
func Prepare(b *Backbone, output string) (*Prepared, error) {
	m, err := b.readNetworkGraph()
	if err != nil {
		return nil, err
	}
	return b.prepareGraph(m, output)
}

// Graph reads the backbone's file.
func (b *Backbone) Graph() (*graph.Model, error) {
	if b.Folder != "" {
		return graph.ReadBeside(b.File, b.Data)
	}
	return graph.ReadNamed(b.File, b.Data)
}

// readNetworkGraph does the same as Graph. If the model takes images with channels last, it adds an input with channels
// first, the layout of all images in winnow.
func (b *Backbone) readNetworkGraph() (*graph.Model, error) {
	m, err := b.Graph()
	if err != nil {
		return nil, err
	}
	if b.Seen != nil {
		m.Graph.ValueInfo = append(m.Graph.ValueInfo, b.seenInput(m))
	}
	return graph.ChannelsFirst(m), nil
}

// seenInput returns Seen with the batch dimension of the model's input.
func (b *Backbone) seenInput(m *graph.Model) *graph.ValueInfo {
	v := *b.Seen
	if in := m.Graph.DataInputs(); len(in) == 1 && len(in[0].Shape) > 0 && len(v.Shape) > 0 && !v.Shape[0].Known() {
		v.Shape = slices.Clone(v.Shape)
		v.Shape[0] = in[0].Shape[0]
	}
	return &v
}

func (b *Backbone) prepareGraph(m *graph.Model, output string) (*Prepared, error) {
	e := b.Entry
	if op := graph.Quantised(m); op != "" {
		return nil, hint.With(fmt.Errorf("models: %s: a quantised network (%s), expected a floating-point network",
			e.File, op), "use the network before quantisation")
	}
	makers := m.Graph.Producers()
	m, changed := graph.ForInference(m)
	p := &Prepared{Cut: output, Why: "asked for", Folder: b.Folder}
	if p.Cut == "" {
		p.Cut, p.Why = e.Output, "recorded"
	}
	if p.Cut == "" {
		found, err := graph.FeatureTensor(sizedForTokens(m, e.Preprocessing))
		if err != nil {
			return nil, fmt.Errorf("models: %s: %w", e.File, err)
		}
		p.Cut, p.Why = found.Tensor, found.Why
	}
	cut, tensor, dim, err := graph.Vector(m, p.Cut)
	if err != nil {
		return nil, fmt.Errorf("models: %s: %w", e.File, err)
	}
	if dim == 0 { // known for images of one size, such as tokens with resized position embeddings
		sized := sizedForTokens(m, e.Preprocessing)
		if c, t, d, err := graph.Vector(sized, p.Cut); err == nil && d > 0 {
			m, cut, tensor, dim = sized, c, t, d
		}
	}
	in, err := imageInput(cut)
	if err != nil {
		return nil, fmt.Errorf("models: %s: %w", e.File, err)
	}
	if left := graph.Unsettled(cut, tensor); len(left) > 0 {
		return nil, Unsettled(e, "they depend on random numbers or are normalised as in training", left)
	}
	kept := cut.Graph.Producers()
	changed = slices.DeleteFunc(changed, func(n *graph.Node) bool { // nodes that only other outputs need
		return makers[n.Outputs[0]] != nil && kept[n.Outputs[0]] == nil
	})
	if len(changed) > 0 {
		p.Warnings = append(p.Warnings,
			fmt.Sprintf("%s: exported in training mode, computed as after training, with the "+
				"stored statistics and without dropout: %s", e.File, graph.Describe(changed)))
	}
	pre := e.Preprocessing
	if pre.Crop > 0 && (in.wide != 0 && in.wide != pre.Crop || in.high != 0 && in.high != pre.High()) {
		sized := graph.Sized(m, in.name, pre.Planes(), pre.High(), pre.Crop)
		if other, ok := otherSize(m, sized, p.Cut, dim); ok {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: made for images of %s, used with %s", e.File,
				in.sizeText(), pre.SizeText()))
			m, cut, in.high, in.wide = sized, other, pre.High(), pre.Crop
		}
	}
	if in.batch > 0 {
		if free, ok := cutAlike(graph.FreeBatch(m, in.name), p.Cut, dim); ok {
			p.Fixed, p.FixedBatch = cut.Marshal(), in.batch
			cut, in.batch = free, 0
		}
	}
	if e.Input != "" && e.Input != in.name {
		return nil, fmt.Errorf("models: %s: found the input %q, expected %q", e.File, in.name, e.Input)
	}
	if err := in.checkFits(e.Preprocessing); err != nil {
		return nil, err
	}
	p.Half = graph.Half(cut)
	p.Model, p.Input, p.Tensor, p.Dim, p.Batch = cut.Marshal(), in.name, tensor, dim, in.batch
	if in.batch > 0 {
		p.Warnings = append(p.Warnings, batchWarning(e, in.batch))
	}
	if dim == 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: the length of %q is not known before the model runs", e.File,
			tensor))
	}
	return p, nil
}

// Unsettled returns the error for a network whose features of an image change from run to run or from batch to batch.
func Unsettled(e Entry, why string, nodes []*graph.Node) error {
	at := ""
	if len(nodes) > 0 {
		at = ", by " + graph.Describe(nodes)
	}
	return hint.With(fmt.Errorf("models: %s: the features of an image differ from run to run or with the other images "+
		"of the batch: %s%s", e.File, why, at), "export the network for inference: model.eval() before "+
		"torch.onnx.export, training=False in Keras; or use an earlier tensor as the output")
}

// Refix restores the fixed batch of the network, for a network that computes something else with another batch.
func (p *Prepared) Refix(e Entry) {
	p.Model, p.Batch, p.Fixed = p.Fixed, p.FixedBatch, nil
	p.Warnings = append(p.Warnings, batchWarning(e, p.Batch))
}

func batchWarning(e Entry, n int) string {
	if n == 1 {
		return e.File + ": takes only one image at a time: export it with a free batch to be faster"
	}
	return fmt.Sprintf("%s: takes batches of exactly %d images: export it with a free batch to be faster", e.File, n)
}

// sizedForTokens returns the model with its input fixed to the size of its images, if the input leaves that open.
// Only then is the number of a vision transformer's tokens known.
func sizedForTokens(m *graph.Model, p backbone.Preprocessing) *graph.Model {
	if in, err := imageInput(m); err == nil && (in.wide == 0 || in.high == 0) && p.Crop > 0 {
		return graph.Sized(m, in.name, p.Planes(), p.High(), p.Crop)
	}
	return m
}

// otherSize cuts sized, the network with another input size than its file states, at the same tensor. It reports
// false unless the result is one vector of length dim per image and no tensor before it has lost its known size, as
// happens if the image is smaller than a window. So it succeeds if the network averages over all positions, and
// fails if each position has its own weights.
func otherSize(m, sized *graph.Model, cutAt string, dim int) (*graph.Model, bool) {
	cut, ok := cutAlike(sized, cutAt, dim)
	if !ok {
		return nil, false
	}
	was, is := graph.Infer(m), graph.Infer(cut)
	for name, v := range is {
		if old := was[name]; old != nil && unknownSizes(v.Shape) > unknownSizes(old.Shape) {
			return nil, false
		}
	}
	return cut, true
}

// cutAlike cuts a network with a changed input at a tensor, if that gives a vector of length dim per image.
func cutAlike(m *graph.Model, cutAt string, dim int) (*graph.Model, bool) {
	cut, _, d, err := graph.Vector(m, cutAt)
	return cut, err == nil && d == dim && dim > 0 && cut.Graph.Outputs[0].Shape[0] == cut.Graph.DataInputs()[0].Shape[0]
}

// unknownSizes counts the unknown dimensions of a shape.
func unknownSizes(s graph.Shape) (n int) {
	for _, d := range s {
		if !d.Known() {
			n++
		}
	}
	return n
}

// Activations returns the bytes that the network's tensors take per image, prepared as pre says (see
// [graph.Footprint]).
func (p *Prepared) Activations(pre backbone.Preprocessing) (int64, error) {
	m, err := graph.Read(p.Model)
	if err != nil {
		return 0, err
	}
	return graph.Footprint(m, p.Input, pre.Planes(), pre.High(), pre.Crop)
}
