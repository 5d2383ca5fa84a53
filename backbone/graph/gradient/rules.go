package gradient

// rules maps operators to their derivatives: formulas, and functions in the files rules_*.go.
var rules = map[string]rule{
	// Arithmetic with broadcasting. The sum over repeated axes comes first if fewer elements then remain to compute.
	"Add": deriveSum, "Sum": deriveSum, "Mean": deriveMean, "Mul": deriveMul, "Pow": derivePow, "Max": deriveLarger,
	"Min": deriveLarger, "Where": deriveWhere,
	"Sub": deriveRule("dy", "-own(dy)"), "Div": deriveRule("dy/b", "-(own(dy*y)/b)"),
	"PRelu": deriveRule("Where(x > 0, dy, dy*b)", "dy*Min(x, 0)"),

	// Elementwise operators. Formulas use the output instead of the input if possible: the next node needs it anyway.
	"Neg": deriveRule("-dy"), "Abs": deriveRule("dy*Sign(x)"), "Sqrt": deriveRule("0.5*dy/y"),
	"Exp": deriveRule("dy*y"),
	"Log": deriveRule("dy/x"), "Reciprocal": deriveRule("-(dy*(y*y))"),
	"Erf":  deriveRule("dy*(1.1283791670955126*Exp(-(x*x)))"),
	"Tanh": deriveRule("dy - dy*(y*y)"), "Sigmoid": deriveRule("dy*(y - y*y)"), "Softplus": deriveRule("dy*Sigmoid(x)"),
	"Sin": deriveRule("dy*Cos(x)"), "Cos": deriveRule("-(dy*Sin(x))"),
	"LeakyRelu": deriveRule("Where(s > 0, dy, alpha*dy)"), "Elu": deriveRule("Where(s > 0, dy, dy*(y + alpha))"),
	"Selu":        deriveRule("Where(s > 0, gamma*dy, dy*(y + alpha*gamma))"),
	"HardSigmoid": deriveRule("Where(y > 0 && y < 1, alpha*dy, 0)"), // y = min(1, max(0, αx+β))
	// y = x·min(1, max(0, x/6+1/2)), with slope x/3+1/2 between -3 and 3
	"HardSwish": deriveRule("Where(x < 3, Where(x > -3, dy*(x*0.3333333333333333 + 0.5), 0), dy)"),
	"Swish":     deriveRule("t := Sigmoid(alpha*x); dy*(t + alpha*y*(1 - t))"), // y = x·t
	"Softsign":  deriveRule("d := 1 - Abs(y); dy*(d*d)"),
	"Mish":      deriveRule("t := Tanh(Softplus(x)); dy*(t + x*(1 - t*t)*Sigmoid(x))"),
	"Gelu":      deriveGelu, "com.microsoft.Gelu": deriveGelu, "Clip": deriveClip, "Relu": deriveRelu,
	"Identity": deriveIdentity,
	"Dropout":  deriveIdentity,
	"Cast":     castBack,

	// Products.
	"Gemm": deriveGemm, "MatMul": matMul,

	// Reductions over axes.
	"ReduceSum": reduceRule("spread(dy)"), "ReduceMean": reduceRule("spread(dy/count)"),
	"ReduceSumSquare": overSome("x*(2*dy)"),
	"ReduceL1":        overSome("Sign(x)*dy"), "ReduceL2": overSome("x*Where(y > 0, dy/y, 0)"),
	// divided equally among all elements that are the maximum, as in torch's amax
	"ReduceMax": reduceRule("t := cast(Equal(x, y)); t*(dy/total(t))"),
	"Softmax":   deriveSoftmax, "LogSoftmax": softmaxRule("dy - Exp(y)*total(dy)"),
	"LayerNormalization": layerNorm, "InstanceNormalization": instanceNorm,

	// Rearrangements of the same elements.
	"Reshape": deriveReshape, "Flatten": deriveReshape, "Squeeze": deriveReshape, "Unsqueeze": deriveReshape,
	"Transpose": deriveTranspose, "Concat": deriveConcat, "Split": deriveSplit, "Slice": deriveSlice, "Pad": derivePad,
	"Expand": deriveExpand,
	"Tile":   deriveTile, "Gather": deriveGather,

	// Windows over places of maps.
	"Conv": deriveConv, "MaxPool": maxPool, "AveragePool": averagePool,
	"GlobalAveragePool": globalAveragePool, "GlobalMaxPool": globalMaxPool,
	"BatchNormalization": batchNorm, "LRN": deriveLRN,
}
