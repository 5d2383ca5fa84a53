package gradient

// rules maps operators to their derivatives; the files rules_*.go hold them by kind.
var rules = map[string]rule{
	"Identity": func(c *call) error { c.give(0, c.grad[0]); return nil },
	"Relu":     relu,
	"Add":      add,

	// Windows over places.
	"Conv": conv, "MaxPool": maxPool, "AveragePool": averagePool,
	"GlobalAveragePool": globalAveragePool, "GlobalMaxPool": globalMaxPool,
	"BatchNormalization": batchNorm, "LRN": lrn,
}
