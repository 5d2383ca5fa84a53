package head

import (
	"fmt"
	"slices"
	"strings"
)

// Initialisations of the weights.
const (
	Whiten  = "whiten"  // PCA whitening of the stored training features, without labels
	Random  = "random"  // He for layers followed by an activation, Glorot for the last
	Kaiming = "kaiming" // as Random, but the last layer He by its outputs: the released code of PRISM
)

// Inits are the names of all.
var Inits = []string{Whiten, Random, Kaiming}

// ReLU is the only activation: max(x, 0).
const ReLU = "relu"

// Config describes a head. Without Hidden it is one linear layer.
type Config struct {
	In         int    `yaml:"in" json:"in"`                 // dimension of the features; 0: taken from the store
	Out        int    `yaml:"out" json:"out"`               // dimension of the embedding
	Hidden     []int  `yaml:"hidden" json:"hidden"`         // widths of the hidden layers, first to last
	Bias       bool   `yaml:"bias" json:"bias"`             // every layer adds a bias
	Activation string `yaml:"activation" json:"activation"` // after each hidden layer: relu
	Init       string `yaml:"init" json:"init"`             // one of [Inits]
}

// Default returns the default head: linear with bias, whitened, 512 dimensions.
func Default() Config {
	return Config{Out: 512, Bias: true, Activation: ReLU, Init: Whiten}
}

// Drawn reports whether the initial weights are random, so that no features are read.
func (c Config) Drawn() bool { return c.Init != Whiten }

// Limits that no real head reaches. Larger values are mistakes in a file, found before memory is allocated.
const (
	maxWidth   = 1 << 20
	maxWeights = 1 << 30
)

// Validate returns an error for the first invalid setting.
func (c Config) Validate() error {
	for _, w := range []struct {
		name string
		n    int
	}{{"in", c.In}, {"out", c.Out}} {
		if w.n < 1 || w.n > maxWidth {
			return fmt.Errorf("head: %s: found %d, expected 1 to %d", w.name, w.n, maxWidth)
		}
	}
	for i, n := range c.Hidden {
		if n < 1 || n > maxWidth {
			return fmt.Errorf("head: hidden[%d]: found %d, expected 1 to %d", i, n, maxWidth)
		}
	}
	weights, w := 0, c.layerWidths()
	for i := range w[:len(w)-1] {
		if weights += w[i] * w[i+1]; weights > maxWeights {
			return fmt.Errorf("head: layers %v: more than %d weights", w, maxWeights)
		}
	}
	if c.Activation != ReLU && (c.Activation != "" || len(c.Hidden) > 0) {
		return fmt.Errorf("head: activation: found %q, expected %q", c.Activation, ReLU)
	}
	if !slices.Contains(Inits, c.Init) {
		return fmt.Errorf("head: init: found %q, expected %s", c.Init, strings.Join(Inits, ", "))
	}
	return nil
}

// Shape is the name and size of one parameter.
type Shape struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

// layerWidths returns In, Hidden..., Out.
func (c Config) layerWidths() []int {
	return append(append([]int{c.In}, c.Hidden...), c.Out)
}

// Shapes lists the parameters in the order of [Head.Params], without allocating any of them.
func (c Config) Shapes() []Shape {
	var list []Shape
	w := c.layerWidths()
	for i := range w[:len(w)-1] {
		list = append(list, Shape{fmt.Sprintf("head.%d.weight", i), w[i], w[i+1]})
		if c.Bias {
			list = append(list, Shape{fmt.Sprintf("head.%d.bias", i), 1, w[i+1]})
		}
	}
	return list
}

// copies is how many values training holds for each weight: itself, its gradient, two moments, their mean over steps,
// and what Gorgonia and checkpoints keep beside these (measured: 337 MB for 8,192 to 512 values, 100 of them the
// program's).
const copies = 14

// Need returns the bytes of training the head from this many rows, whitening included.
func (c Config) Need(rows int) int64 {
	var weights int64
	for _, s := range c.Shapes() {
		weights += int64(s.Rows) * int64(s.Cols)
	}
	need := 4 * copies * weights
	if c.Init == Whiten {
		need = max(need, Need(rows, c.In, c.Out))
	}
	return need
}
