package gradient

// rules maps operators to their derivatives; the files rules_*.go hold them by kind.
var rules = map[string]rule{
	// Arithmetic, repeating what is short.
	"Sub": sub, "Mul": mul, "Div": div, "Pow": pow, "Sum": sum, "Mean": mean, "Max": larger, "Min": larger,
	"Where": where,

	// Element by element.
	"Neg": unary(neg), "Abs": unary(abs), "Sqrt": unary(sqrt), "Exp": unary(exp), "Log": unary(log),
	"Reciprocal": unary(reciprocal), "Erf": unary(erf), "Tanh": unary(tanh), "Sigmoid": unary(sigmoid),
	"Softplus": unary(softplus), "Elu": unary(elu), "LeakyRelu": unary(leakyRelu), "PRelu": prelu, "Clip": clip,
	"HardSwish": unary(hardSwish), "HardSigmoid": unary(hardSigmoid), "Gelu": unary(gelu),
	"com.microsoft.Gelu": unary(gelu), "Cast": unary(cast), "Dropout": dropout,

	// Products.
	"Gemm": gemm, "MatMul": matMul,

	// Over axes.
	"ReduceSum": reduceSum, "ReduceMean": reduceMean, "ReduceL2": reduceL2, "ReduceSumSquare": reduceSumSquare,
	"ReduceMax": reduceExtreme, "ReduceMin": reduceExtreme,
	"Softmax": softmax, "LogSoftmax": logSoftmax, "LayerNormalization": layerNorm,
	"InstanceNormalization": instanceNorm, "LpNormalization": lpNorm,

	// Other arrangements of the same elements.
	"Reshape": rearranged, "Flatten": rearranged, "Squeeze": rearranged, "Unsqueeze": rearranged,
	"Transpose": transpose, "Concat": concat, "Split": split, "Slice": slice, "Pad": pad, "Expand": expand,
	"Tile": tile, "Gather": gather,

	"Identity": func(c *call) error { c.give(0, c.grad[0]); return nil },
	"Relu":     relu,
	"Add":      add,

	// Windows over places.
	"Conv": conv, "MaxPool": maxPool, "AveragePool": averagePool,
	"GlobalAveragePool": globalAveragePool, "GlobalMaxPool": globalMaxPool,
	"BatchNormalization": batchNorm, "LRN": lrn,
}
