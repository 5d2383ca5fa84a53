package gradient

// rules maps operators to their derivatives, which are grouped in the files rules_*.go.
var rules = map[string]rule{
	// Arithmetic with broadcasting.
	"Sub": sub, "Mul": mul, "Div": div, "Pow": pow, "Sum": sum, "Mean": mean, "Max": larger, "Min": larger,
	"Where": where,

	// Element by element.
	"Neg": unary(func(c *call, _, _, dy string) string { return c.minusOf(dy) }),
	// 0 at 0
	"Abs": unary(func(c *call, x, _, dy string) string { return c.mul(dy, c.op("Sign", []string{x})) }),
	// 1/(2y)
	"Sqrt": unary(func(c *call, _, y, dy string) string { return c.div(c.scaled(dy, 0.5), y) }),
	"Exp":  unary(func(c *call, _, y, dy string) string { return c.mul(dy, y) }),
	"Log":  unary(func(c *call, x, _, dy string) string { return c.div(dy, x) }),
	// -y²
	"Reciprocal": unary(func(c *call, _, y, dy string) string { return c.minusOf(c.mul(dy, c.mul(y, y))) }),
	// 1-y²
	"Tanh": unary(func(c *call, _, y, dy string) string { return c.minus(dy, c.mul(dy, c.mul(y, y))) }),
	// y·(1-y)
	"Sigmoid": unary(func(c *call, _, y, dy string) string { return c.mul(dy, c.minus(y, c.mul(y, y))) }),
	// 1/(1+e^-x)
	"Softplus": unary(func(c *call, x, _, dy string) string { return c.mul(dy, c.op("Sigmoid", []string{x})) }),
	"Cast":     unary(func(c *call, x, _, dy string) string { return c.castLike(dy, x) }),
	"Erf":      unary(erf), "Elu": unary(elu), "LeakyRelu": unary(leakyRelu), "PRelu": prelu, "Clip": clip,
	"HardSwish": unary(hardSwish), "HardSigmoid": unary(hardSigmoid), "Gelu": unary(gelu),
	"com.microsoft.Gelu": unary(gelu), "Dropout": dropout,

	// Products.
	"Gemm": gemm, "MatMul": matMul,

	// Over axes.
	"ReduceSum": reduceSum, "ReduceMean": reduceMean, "ReduceL2": reduceL2, "ReduceSumSquare": reduceSumSquare,
	"ReduceMax": reduceExtreme, "ReduceMin": reduceExtreme,
	"Softmax": softmax, "LogSoftmax": logSoftmax, "LayerNormalization": layerNorm,
	"InstanceNormalization": instanceNorm, "LpNormalization": lpNorm,

	// Rearrangements of the same elements.
	"Reshape": rearranged, "Flatten": rearranged, "Squeeze": rearranged, "Unsqueeze": rearranged,
	"Transpose": transpose, "Concat": concat, "Split": split, "Slice": slice, "Pad": pad, "Expand": expand,
	"Tile": tile, "Gather": gather,

	"Identity": func(c *call) error { c.give(0, c.grad[0]); return nil },
	"Relu":     relu,
	"Add":      sum,

	// Windows over places.
	"Conv": conv, "MaxPool": maxPool, "AveragePool": averagePool,
	"GlobalAveragePool": globalAveragePool, "GlobalMaxPool": globalMaxPool,
	"BatchNormalization": batchNorm, "LRN": lrn,
}
