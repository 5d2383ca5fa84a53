package head

import (
	"fmt"
	"slices"
	"strings"
)

// Initialisations of the weights.
const (
	Whiten  = "whiten"  // PCA whitening of the stored training features, without labels
	Random  = "random"  // Glorot's initialisation
	Kaiming = "kaiming" // He's initialisation by the number of outputs, as in PRISM's released code
)

// Inits lists the names of all initialisations.
var Inits = []string{Whiten, Random, Kaiming}

// Config describes a head: one linear layer.
type Config struct {
	In   int    `yaml:"in" json:"in"`     // dimension of the features; 0: the store's dimension
	Out  int    `yaml:"out" json:"out"`   // dimension of the embedding
	Bias bool   `yaml:"bias" json:"bias"` // whether the head has a bias
	Init string `yaml:"init" json:"init"` // one of [Inits]
}

// Default returns the default head: linear with bias, whitened, 512 dimensions.
func Default() Config {
	return Config{Out: 512, Bias: true, Init: Whiten}
}

// Drawn reports whether the initial weights are random and therefore need no features.
func (c Config) Drawn() bool { return c.Init != Whiten }

// Limits above any real head's size. Validate rejects larger values as mistakes before memory is allocated.
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

// Shapes lists the parameters in the order of [Head.Params], without allocating memory for them.
func (c Config) Shapes() []Shape {
	list := []Shape{{"head.0.weight", c.In, c.Out}}
	if c.Bias {
		list = append(list, Shape{"head.0.bias", 1, c.Out})
	}
	return list
}

// copies is the number of values in memory for each weight during training: the weight, its gradient, two moments, the
// running average, and the copies of Gorgonia and of checkpoints. (Measured: 337 MB for a head from 8,192 to 512
// dimensions, 100 MB of which the program takes without a head.)
const copies = 14

// Need returns the memory in bytes for whitening and training the head on the given number of rows.
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
