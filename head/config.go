package head

import (
	"fmt"
	"slices"
	"strings"
)

// Initialisations of the weights.
const (
	Whiten  = "whiten"  // PCA whitening of the stored training features, without labels
	Random  = "random"  // Glorot
	Kaiming = "kaiming" // He by the outputs: the released code of PRISM
)

// Inits are the names of all.
var Inits = []string{Whiten, Random, Kaiming}

// Config describes a head: one linear layer.
type Config struct {
	In   int    `yaml:"in" json:"in"`     // dimension of the features; 0: taken from the store
	Out  int    `yaml:"out" json:"out"`   // dimension of the embedding
	Bias bool   `yaml:"bias" json:"bias"` // adds a bias
	Init string `yaml:"init" json:"init"` // one of [Inits]
}

// Default returns the default head: linear with bias, whitened, 512 dimensions.
func Default() Config {
	return Config{Out: 512, Bias: true, Init: Whiten}
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
	if c.In*c.Out > maxWeights {
		return fmt.Errorf("head: %d×%d: more than %d weights", c.In, c.Out, maxWeights)
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

// Shapes lists the parameters in the order of [Head.Params], without allocating any of them.
func (c Config) Shapes() []Shape {
	list := []Shape{{"head.0.weight", c.In, c.Out}}
	if c.Bias {
		list = append(list, Shape{"head.0.bias", 1, c.Out})
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
