package vits

import (
	"fmt"
	"math"

	"winnow/backbone/graph"
)

// prefix is what the names of the network's layers begin with.
func (n *Net) prefix() string {
	switch n.Kind {
	case DINOv2:
		return "encoder.layer."
	case DINOv3:
		return "layer."
	}
	return "vision_model.encoder.layers."
}

// Layer returns the name of the stage of the i-th layer.
func (n *Net) Layer(i int) string { return n.prefix() + fmt.Sprint(i) }

func (b *builder) write() {
	n := b.net
	size := graph.Fixed(Side)
	shape := graph.Shape{graph.Free("batch_size"), graph.Fixed(3), size, size}
	if n.Free {
		shape = graph.Shape{graph.Free("batch_size"), graph.Free("num_channels"), graph.Free("height"),
			graph.Free("width")}
	}
	x := b.Input("pixel_values", graph.Float32, shape)
	tokens := b.embed(x)
	var cos, sin string
	if n.Kind == DINOv3 {
		cos, sin = b.rotations(x)
	}
	if n.Kind == CLIP {
		tokens = b.norm("vision_model.pre_layrnorm", tokens)
	}
	normed := b.norm(n.Layer(0)+".norm1", tokens)
	for i := range Layers {
		name := n.Layer(i)
		mixed := b.scaled(name+".layer_scale1", b.attend(name+".attention", normed, cos, sin))
		tokens, normed = b.skipNorm(name+".norm2", tokens, mixed)
		inner := b.activation(slashed(name)+"/mlp/activation", b.linear(name+".mlp.fc1", normed, Width, Inner, true))
		more := b.scaled(name+".layer_scale2", b.linear(name+".mlp.fc2", inner, Inner, Width, true))
		if i+1 < Layers {
			tokens, normed = b.skipNorm(n.Layer(i+1)+".norm1", tokens, more)
			continue
		}
		if n.Kind == CLIP { // only the class token is normalised
			tokens = b.at(slashed(name), "Add", []string{tokens, more})
			break
		}
		_, normed = b.skipNorm("layernorm", tokens, more)
	}
	b.finish(tokens, normed)
}

// finish makes the outputs.
func (b *builder) finish(tokens, normed string) {
	first := func(t string) string {
		return b.at("head", "Gather", []string{t, b.index(0)}, graph.Int("axis", 1))
	}
	if b.net.Kind == CLIP {
		pooled := b.norm("vision_model.post_layernorm", first(tokens))
		b.anon++
		w := b.draw(fmt.Sprintf("onnx::MatMul_%d", b.anon), 0, 0.5, Width, Projected)
		b.net.params["visual_projection.weight"] = b.net.params[w]
		b.Output(b.NodeTo("image_embeds", "MatMul", []string{pooled, w}))
		return
	}
	last := b.NodeTo("last_hidden_state", "Identity", []string{normed})
	if b.net.Kind == SigLIP2 {
		b.Output(last, b.pool(last))
		return
	}
	b.Output(last, b.NodeTo("pooler_output", "Gather", []string{last, b.index(0)}, graph.Int("axis", 1)))
}

// scaled multiplies a layer's contribution by learned factors.
func (b *builder) scaled(path, x string) string {
	if b.net.Kind != DINOv2 && b.net.Kind != DINOv3 {
		return x
	}
	return b.at(slashed(path), "Mul", []string{x, b.draw(path+".lambda1", 1, 0.3, Width)})
}

// embed makes the first tokens of the images.
func (b *builder) embed(x string) string {
	const at = "embeddings"
	inputs := []string{x, b.draw(at+".patch_embeddings.weight", 0, 0.3, Width, 3, Patch, Patch)}
	if b.net.Kind != CLIP {
		inputs = append(inputs, b.draw(at+".patch_embeddings.bias", 0, 0.3, Width))
	}
	maps := b.at(at+"/patch_embeddings", "Conv", inputs, graph.Ints("dilations", 1, 1), graph.Int("group", 1),
		graph.Ints("kernel_shape", Patch, Patch), graph.Ints("pads", 0, 0, 0, 0), graph.Ints("strides", Patch, Patch))
	lead := b.at(at, "Slice", []string{b.at(at, "Shape", []string{maps}), b.ints(0), b.ints(2), b.ints(0)})
	tokens := b.at(at, "Transpose", []string{b.shaped(at, maps, []string{lead}, -1)}, graph.Ints("perm", 0, 2, 1))
	batch := b.size(at, x, 0)
	extra := func(name string, count int64) string {
		return b.repeated(at, b.draw(at+"."+name, 0, 0.5, 1, count, Width), batch)
	}
	switch b.net.Kind {
	case DINOv3:
		return b.at(at, "Concat", []string{extra("cls_token", 1), extra("register_tokens", Registers), tokens},
			graph.Int("axis", 1))
	case SigLIP2:
		return b.at(at, "Add", []string{tokens, b.embedding(Patches)})
	case CLIP:
		all := b.at(at, "Concat", []string{extra("class_embedding", 1), tokens}, graph.Int("axis", 1))
		return b.at(at, "Add", []string{all, b.embedding(1 + Patches)})
	}
	all := b.at(at, "Concat", []string{extra("cls_token", 1), tokens}, graph.Int("axis", 1))
	return b.at(at, "Add", []string{all, b.resized(x)})
}

// repeated expands one row of tokens to all images, as Tensor.expand(batch, -1, -1) is written.
func (b *builder) repeated(at, row, batch string) string {
	asked := b.at(at, "Concat", []string{batch, b.ints(-1, -1)}, graph.Int("axis", 0))
	ones := b.at(at, "ConstantOfShape", []string{b.ints(3)},
		graph.TensorValue("value", graph.NewTensor("one", []int64{1}, 1)))
	kept := b.at(at, "Equal", []string{asked, b.at(at, "Mul", []string{ones, b.ints(-1)})})
	return b.at(at, "Expand", []string{row, b.at(at, "Where", []string{kept, ones, asked})})
}

// embedding looks up a position embedding for each token.
func (b *builder) embedding(tokens int64) string {
	table := b.draw("embeddings.position_embedding.weight", 0, 0.5, tokens, Width)
	places := make([]int64, tokens)
	for i := range places {
		places[i] = int64(i)
	}
	return b.at("embeddings/position_embedding", "Gather", []string{table,
		b.Constant(graph.NewTensor("embeddings.position_ids", places, 1, tokens))}, graph.Int("axis", 0))
}

// patchesAlong is a size of the images // Patch, with the correction for negative numbers that exporters add.
func (b *builder) patchesAlong(x string, axis int64) string {
	const at = "embeddings"
	n, by := b.scalar(at, x, axis), b.index(Patch)
	if b.net.Parts { // older code divides floating-point numbers
		whole := b.at(at, "Floor", []string{b.at(at, "Div", []string{
			b.at(at, "Cast", []string{n}, graph.Int("to", int64(graph.Float32))), b.number(Patch)})})
		return b.at(at, "Cast", []string{whole}, graph.Int("to", int64(graph.Int64)))
	}
	ratio, zero := b.at(at, "Div", []string{n, by}), b.index(0)
	negative := b.at(at, "Xor", []string{b.at(at, "Less", []string{n, zero}), b.at(at, "Less", []string{by, zero})})
	rest := b.at(at, "Sub", []string{n, b.at(at, "Mul", []string{ratio, by})})
	mend := b.at(at, "And", []string{negative, b.at(at, "Not", []string{b.at(at, "Equal", []string{rest, zero})})})
	return b.at(at, "Where", []string{mend, b.at(at, "Sub", []string{ratio, b.index(1)}), ratio})
}

// resized makes position embeddings of another grid fit that of the images.
func (b *builder) resized(x string) string {
	const at = "embeddings"
	all := b.draw(at+".position_embeddings", 0, 0.5, 1, 1+Trained*Trained, Width)
	class := b.at(at, "Slice", []string{all, b.ints(0), b.ints(1), b.ints(1)})
	rest := b.at(at, "Slice", []string{all, b.ints(1), b.ints(math.MaxInt64), b.ints(1)})
	maps := b.at(at, "Transpose", []string{b.at(at, "Reshape", []string{rest, b.ints(1, Trained, Trained, Width)})},
		graph.Ints("perm", 0, 3, 1, 2))
	lead := b.at(at, "Slice", []string{b.at(at, "Shape", []string{maps}), b.ints(0), b.ints(2), b.ints(0)})
	row := func(axis int64) string {
		return b.at(at, "Unsqueeze", []string{b.patchesAlong(x, axis), b.ints(0)})
	}
	sizes := b.at(at, "Concat", []string{lead, row(2), row(3)}, graph.Int("axis", 0))
	small := b.at(at, "Resize", []string{maps, "", "", sizes}, graph.Float("cubic_coeff_a", -0.75),
		graph.String("coordinate_transformation_mode", "pytorch_half_pixel"), graph.String("mode", "cubic"),
		graph.String("nearest_mode", "floor"))
	flat := b.at(at, "Reshape", []string{b.at(at, "Transpose", []string{small}, graph.Ints("perm", 0, 2, 3, 1)),
		b.ints(1, -1, Width)})
	return b.at(at, "Concat", []string{class, flat}, graph.Int("axis", 1))
}

// rotations returns the cosine and sine of each patch's angles, [patches, width of a head].
func (b *builder) rotations(x string) (cos, sin string) {
	const at = "rope_embeddings"
	centres := func(axis int64) string {
		n := b.at(at, "Cast", []string{b.at(at, "Div", []string{b.scalar(at, x, axis), b.index(Patch)})},
			graph.Int("to", int64(graph.Float32)))
		return b.at(at, "Div", []string{b.at(at, "Range", []string{b.number(0.5), n, b.number(1)}), n})
	}
	rows, cols := centres(2), centres(3)
	grid := b.at(at, "Concat", []string{b.at(at, "Shape", []string{rows}), b.at(at, "Shape", []string{cols})},
		graph.Int("axis", 0))
	place := func(t string, shape ...int64) string {
		wide := b.at(at, "Expand", []string{b.at(at, "Reshape", []string{t, b.ints(shape...)}), grid})
		return b.at(at, "Unsqueeze", []string{wide, b.ints(-1)})
	}
	both := b.at(at, "Concat", []string{place(rows, -1, 1), place(cols, 1, -1)}, graph.Int("axis", -1))
	flat := b.at(at, "Reshape", []string{both, b.ints(-1, 2)})
	flat = b.at(at, "Sub", []string{b.at(at, "Mul", []string{flat, b.number(2)}), b.number(1)})
	steps := make([]float32, Width/Heads/4)
	for i := range steps {
		steps[i] = float32(2 * math.Pi * math.Pow(100, -4*float64(i)/(Width/Heads)))
	}
	angles := b.at(at, "Mul", []string{b.at(at, "Unsqueeze", []string{flat, b.ints(2)}),
		b.Constant(graph.NewTensor("inv_freq", steps, 1, 1, int64(len(steps))))})
	angles = b.at(at, "Tile", []string{b.at(at, "Reshape", []string{angles, b.ints(-1, Width/Heads/2)}), b.ints(1, 2)})
	return b.at(at, "Cos", []string{angles}), b.at(at, "Sin", []string{angles})
}

// attend is the attention of a layer.
func (b *builder) attend(path, x, cos, sin string) string {
	if b.net.Fused && b.net.Kind != DINOv3 {
		return b.linear(path+".out_proj", b.fusedHeads(path, x), Width, Width, true)
	}
	at := slashed(path)
	batch, count := b.size(at, x, 0), b.size(at, x, 1)
	part := func(name string, bias bool) string {
		y := b.linear(path+"."+name, x, Width, Width, bias)
		y = b.shaped(at, y, []string{batch, count}, Heads, Width/Heads)
		return b.at(at, "Transpose", []string{y}, graph.Ints("perm", 0, 2, 1, 3))
	}
	q, k, v := part("q_proj", true), part("k_proj", b.net.Kind != DINOv3), part("v_proj", true)
	if b.net.Kind == DINOv3 {
		q, k = b.rotated(at, q, cos, sin), b.rotated(at, k, cos, sin)
	}
	k = b.at(at, "Transpose", []string{k}, graph.Ints("perm", 0, 1, 3, 2))
	scale := math.Pow(Width/Heads, -0.5)
	var scores string
	if b.net.Kind == DINOv2 { // scaled_dot_product_attention scales both
		scores = b.at(at, "MatMul", []string{b.at(at, "Mul", []string{q, b.number(math.Sqrt(scale))}),
			b.at(at, "Mul", []string{k, b.number(math.Sqrt(scale))})})
	} else {
		scores = b.at(at, "Mul", []string{b.at(at, "MatMul", []string{q, k}), b.number(scale)})
	}
	mixed := b.at(at, "MatMul", []string{b.at(at, "Softmax", []string{scores}, graph.Int("axis", -1)), v})
	mixed = b.at(at, "Transpose", []string{mixed}, graph.Ints("perm", 0, 2, 1, 3))
	return b.linear(path+".out_proj", b.shaped(at, mixed, []string{batch, count}, Width), Width, Width, true)
}

// rotated turns the patches' part of queries or keys.
func (b *builder) rotated(at, x, cos, sin string) string {
	patches := b.size(at, sin, 0)
	before := b.at(at, "Sub", []string{b.size(at, x, 2), patches})
	sizes := b.at(at, "Concat", []string{before, patches}, graph.Int("axis", 0))
	split := &graph.Node{Name: b.Fresh("/" + at + "/Split"), Op: "Split", Inputs: []string{x, sizes},
		Outputs: []string{b.Fresh("prefix"), b.Fresh("patches")}, Attributes: []*graph.Attribute{graph.Int("axis", 2)}}
	b.Add(split)
	y := split.Outputs[1]
	low := b.at(at, "Slice", []string{y, b.ints(0), b.ints(Width / Heads / 2), b.ints(3), b.ints(1)})
	high := b.at(at, "Slice", []string{y, b.ints(Width / Heads / 2), b.ints(math.MaxInt64), b.ints(3), b.ints(1)})
	half := b.at(at, "Concat", []string{b.at(at, "Neg", []string{high}), low}, graph.Int("axis", -1))
	turned := b.at(at, "Add", []string{b.at(at, "Mul", []string{y, cos}), b.at(at, "Mul", []string{half, sin})})
	return b.at(at, "Concat", []string{split.Outputs[0], turned}, graph.Int("axis", 2))
}

// fusedHeads is what the optimiser makes of an attention: one node with the weights of queries, keys and values joined,
// or for the first layer of CLIP one that is given the three.
func (b *builder) fusedHeads(path, x string) string {
	heads := graph.Int("num_heads", Heads)
	if b.net.Kind == CLIP && path == b.net.Layer(0)+".attention" {
		q := b.linear(path+".q_proj", x, Width, Width, false)
		k := b.linear(path+".k_proj", x, Width, Width, false)
		v := b.linear(path+".v_proj", x, Width, Width, false)
		bias := b.draw(path+".qkv_bias", 0, 0.3, 3*Width)
		b.parts(path, bias, "bias", 0, 1)
		return b.in("com.microsoft", slashed(path), "MultiHeadAttention", []string{q, k, v, bias}, heads)
	}
	w, bias := b.draw(path+".qkv_weight", 0, 0.5, Width, 3*Width), b.draw(path+".qkv_bias", 0, 0.3, 3*Width)
	b.parts(path, w, "weight", 3*Width, 1)
	b.parts(path, bias, "bias", 0, 1)
	return b.in("com.microsoft", slashed(path), "Attention", []string{x, w, bias}, heads)
}

// parts records where the parameters of queries, keys and values lie in a joined one. A bias has one index.
func (b *builder) parts(path, joined, what string, si, sj int) {
	for i, name := range []string{"q_proj", "k_proj", "v_proj"} {
		p := param{joined, i * Width, si, sj}
		if what == "bias" {
			p.si = 1
		}
		b.net.params[path+"."+name+"."+what] = p
	}
}

// pool is SigLIP's head: a learned query attends to the tokens, and a perceptron follows.
func (b *builder) pool(tokens string) string {
	const path = "vision_model.head"
	at := slashed(path)
	batch := b.size(at, tokens, 0)
	probe := b.at(at, "Tile", []string{b.draw(path+".probe", 0, 0.5, 1, 1, Width),
		b.at(at, "Concat", []string{batch, b.ints(1, 1)}, graph.Int("axis", 0))})
	w := b.draw(path+".attention.in_proj_weight", 0, 0.5, 3*Width, Width)
	bias := b.draw(path+".attention.in_proj_bias", 0, 0.3, 3*Width)
	split := func(t string) []string {
		n := &graph.Node{Name: b.Fresh("/" + at + "/attention/Split"), Op: "Split",
			Inputs: []string{t, b.ints(Width, Width, Width)}, Attributes: []*graph.Attribute{graph.Int("axis", 0)}}
		for range 3 {
			n.Outputs = append(n.Outputs, b.Fresh(n.Name+"_output"))
		}
		b.Add(n)
		return n.Outputs
	}
	ws, bs := split(w), split(bias)
	first := func(t string) string { return b.at(at, "Transpose", []string{t}, graph.Ints("perm", 1, 0, 2)) }
	inputs := []string{first(probe), first(tokens), first(tokens)} // tokens, then images
	images := b.scalar(at, tokens, 0)
	all := b.at(at, "Unsqueeze", []string{b.at(at, "Mul", []string{images, b.index(Heads)}), b.ints(0)})
	var parts [3]string
	for i, name := range []string{"q_proj", "k_proj", "v_proj"} {
		b.net.params[path+".attention."+name+".weight"] = param{w, i * Width * Width, 1, Width}
		b.net.params[path+".attention."+name+".bias"] = param{bias, i * Width, 1, 1}
		y := b.at(at, "MatMul", []string{inputs[i], b.at(at, "Transpose", []string{ws[i]}, graph.Ints("perm", 1, 0))})
		y = b.at(at, "Add", []string{y, bs[i]})
		y = b.shaped(at, y, []string{b.size(at, y, 0), all}, Width/Heads)
		parts[i] = b.at(at, "Transpose", []string{y}, graph.Ints("perm", 1, 0, 2))
	}
	q := b.at(at, "Mul", []string{parts[0], b.number(math.Pow(Width/Heads, -0.5))})
	scores := b.at(at, "MatMul", []string{q, b.at(at, "Transpose", []string{parts[1]}, graph.Ints("perm", 0, 2, 1))})
	mixed := b.at(at, "MatMul", []string{b.at(at, "Softmax", []string{scores}, graph.Int("axis", -1)), parts[2]})
	mixed = b.at(at, "Reshape", []string{b.at(at, "Transpose", []string{mixed}, graph.Ints("perm", 1, 0, 2)),
		b.ints(-1, Width)})
	out := b.draw(path+".attention.out_proj.weight", 0, 0.5, Width, Width)
	b.net.params[out] = param{out, 0, 1, Width}
	mixed = b.at(at, "Gemm", []string{mixed, out, b.draw(path+".attention.out_proj.bias", 0, 0.3, Width)},
		graph.Int("transB", 1))
	mixed = b.first(at, b.shaped(at, mixed, []string{b.ints(1), batch}, Width))
	inner := b.linear(path+".mlp.fc1", b.norm(path+".layernorm", mixed), Width, Inner, true)
	more := b.linear(path+".mlp.fc2", b.activation(at+"/mlp", inner), Inner, Width, true)
	sum := b.at(at, "Add", []string{mixed, more})
	return b.NodeTo("pooler_output", "Gather", []string{sum, b.index(0)}, graph.Int("axis", 1))
}

func (b *builder) first(at, t string) string {
	return b.at(at, "Transpose", []string{t}, graph.Ints("perm", 1, 0, 2))
}
