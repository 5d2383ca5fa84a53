package vits

import "math"

// tokens are rows of Width numbers of one image.
type tokens [][]float64

// Eval computes the network's tokens and its vector for an image [3, Side, Side], from Weights.
func (n *Net) Eval(image []float64) (last [][]float64, vector []float64) {
	x := n.evalEmbed(image)
	if n.Kind == CLIP {
		x = n.evalNorm("vision_model.pre_layrnorm", x)
	}
	for i := range Layers {
		name := n.Layer(i)
		y := n.evalAttend(name+".attention", n.evalNorm(name+".norm1", x), nil)
		x = n.plus(x, y, name+".layer_scale1.lambda1")
		y = n.perceptron(name+".mlp", n.evalNorm(name+".norm2", x))
		x = n.plus(x, y, name+".layer_scale2.lambda1")
	}
	switch n.Kind {
	case CLIP:
		pooled := n.evalNorm("vision_model.post_layernorm", x[:1])
		return x, n.product("visual_projection", pooled, Projected)[0]
	case SigLIP2:
		x = n.evalNorm("layernorm", x)
		const path = "vision_model.head"
		probe := tokens{n.row(path+".probe", 0)}
		mixed := n.evalAttend(path+".attention", x, probe)
		more := n.perceptron(path+".mlp", n.evalNorm(path+".layernorm", mixed))
		return x, n.plus(mixed, more, "")[0]
	}
	x = n.evalNorm("layernorm", x)
	return x, x[0]
}

// get returns an element of a parameter, 0 if the network has no such parameter (a missing bias).
func (n *Net) get(name string, i, j int) float64 {
	p, ok := n.params[name]
	if !ok {
		return 0
	}
	return n.Weights[p.name][p.off+i*p.si+j*p.sj]
}

// row returns Width numbers of a parameter of rows of tokens.
func (n *Net) row(name string, i int) []float64 {
	out := make([]float64, Width)
	for d := range out {
		out[d] = n.Weights[name][i*Width+d]
	}
	return out
}

func (n *Net) evalEmbed(image []float64) (x tokens) {
	for py := range Grid {
		for px := range Grid {
			row := make([]float64, Width)
			for d := range row {
				row[d] = n.get("embeddings.patch_embeddings.bias", d, 0)
				for c := range 3 {
					for ky := range Patch {
						for kx := range Patch {
							w := n.Weights["embeddings.patch_embeddings.weight"][((d*3+c)*Patch+ky)*Patch+kx]
							row[d] += w * image[(c*Side+py*Patch+ky)*Side+px*Patch+kx]
						}
					}
				}
			}
			x = append(x, row)
		}
	}
	switch n.Kind {
	case DINOv2:
		x = append(tokens{n.row("embeddings.cls_token", 0)}, x...)
		for t := range x {
			for d := range Width {
				x[t][d] += n.position(t, d)
			}
		}
	case DINOv3:
		before := tokens{n.row("embeddings.cls_token", 0)}
		for i := range Registers {
			before = append(before, n.row("embeddings.register_tokens", i))
		}
		x = append(before, x...)
	default:
		if n.Kind == CLIP {
			x = append(tokens{n.row("embeddings.class_embedding", 0)}, x...)
		}
		for t := range x {
			for d, v := range n.row("embeddings.position_embedding.weight", t) {
				x[t][d] += v
			}
		}
	}
	return x
}

// position is DINOv2's position embedding of a token, that of a patch interpolated between those of the trained grid.
func (n *Net) position(t, d int) (sum float64) {
	const name = "embeddings.position_embeddings"
	if t == 0 {
		return n.Weights[name][d]
	}
	y, x := (t-1)/Grid, (t-1)%Grid
	wy, wx := bicubic(y), bicubic(x)
	for j, a := range wy {
		for i, b := range wx {
			sum += a * b * n.Weights[name][(1+j*Trained+i)*Width+d]
		}
	}
	return sum
}

// bicubic returns the weights of the trained places along an axis at one of Grid places: cubic convolution with
// parameter -0.75, places beyond the ends taken as those at the ends.
func bicubic(i int) []float64 {
	at := (float64(i)+0.5)*Trained/Grid - 0.5
	w := make([]float64, Trained)
	for p := int(math.Floor(at)) - 1; p <= int(math.Floor(at))+2; p++ {
		const a = -0.75
		d, v := math.Abs(at-float64(p)), 0.0
		if d <= 1 {
			v = (a+2)*d*d*d - (a+3)*d*d + 1
		} else {
			v = a*d*d*d - 5*a*d*d + 8*a*d - 4*a
		}
		w[min(max(p, 0), Trained-1)] += v
	}
	return w
}

func (n *Net) evalNorm(path string, x tokens) tokens {
	out := make(tokens, len(x))
	for t, row := range x {
		var mean, square float64
		for _, v := range row {
			mean += v / Width
		}
		for _, v := range row {
			square += (v - mean) * (v - mean) / Width
		}
		out[t] = make([]float64, Width)
		for d, v := range row {
			out[t][d] = (v-mean)/math.Sqrt(square+epsilon)*n.get(path+".weight", d, 0) + n.get(path+".bias", d, 0)
		}
	}
	return out
}

// product multiplies rows by a layer's matrix and adds its bias.
func (n *Net) product(path string, x tokens, width int) tokens {
	out := make(tokens, len(x))
	for t, row := range x {
		out[t] = make([]float64, width)
		for j := range out[t] {
			out[t][j] = n.get(path+".bias", j, 0)
			for i, v := range row {
				out[t][j] += v * n.get(path+".weight", i, j)
			}
		}
	}
	return out
}

func (n *Net) perceptron(path string, x tokens) tokens {
	inner := n.product(path+".fc1", x, Inner)
	for _, row := range inner {
		for i, v := range row {
			switch n.Kind {
			case CLIP:
				row[i] = v / (1 + math.Exp(-1.702*v))
			case SigLIP2:
				row[i] = v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
			default:
				row[i] = v / 2 * (1 + math.Erf(v/math.Sqrt2))
			}
		}
	}
	return n.product(path+".fc2", inner, Width)
}

// plus adds y, scaled by a parameter if the network has it, to x.
func (n *Net) plus(x, y tokens, scale string) tokens {
	_, has := n.params[scale]
	out := make(tokens, len(x))
	for t := range x {
		out[t] = make([]float64, Width)
		for d := range Width {
			factor := 1.0
			if has {
				factor = n.get(scale, d, 0)
			}
			out[t][d] = x[t][d] + factor*y[t][d]
		}
	}
	return out
}

// evalAttend attends to x by the queries of asked, those of x itself if it is nil.
func (n *Net) evalAttend(path string, x, asked tokens) tokens {
	if asked == nil {
		asked = x
	}
	q, k, v := n.product(path+".q_proj", asked, Width), n.product(path+".k_proj", x, Width),
		n.product(path+".v_proj", x, Width)
	if n.Kind == DINOv3 {
		turn(q)
		turn(k)
	}
	const wide = Width / Heads
	mixed := make(tokens, len(asked))
	for t := range asked {
		mixed[t] = make([]float64, Width)
		for h := range Heads {
			weights, total := make([]float64, len(x)), 0.0
			for s := range x {
				var score float64
				for d := h * wide; d < (h+1)*wide; d++ {
					score += q[t][d] * k[s][d] / math.Sqrt(wide)
				}
				weights[s] = math.Exp(score)
				total += weights[s]
			}
			for s := range x {
				for d := h * wide; d < (h+1)*wide; d++ {
					mixed[t][d] += weights[s] / total * v[s][d]
				}
			}
		}
	}
	return n.product(path+".out_proj", mixed, Width)
}

// turn rotates pairs of numbers of the patches by angles that grow with the patch's place.
func turn(x tokens) {
	const wide = Width / Heads
	before := len(x) - Patches
	for p := range Patches {
		places := [2]float64{2*(float64(p/Grid)+0.5)/Grid - 1, 2*(float64(p%Grid)+0.5)/Grid - 1}
		row := x[before+p]
		for h := range Heads {
			head := row[h*wide : (h+1)*wide]
			for i := range wide / 2 {
				angle := 2 * math.Pi * places[i/(wide/4)] * math.Pow(100, -4*float64(i%(wide/4))/wide)
				a, b := head[i], head[i+wide/2]
				head[i] = a*math.Cos(angle) - b*math.Sin(angle)
				head[i+wide/2] = b*math.Cos(angle) + a*math.Sin(angle)
			}
		}
	}
}
