package gradient

// rules maps operators to their derivatives: formulas, and functions in the files rules_*.go.
var rules = map[string]rule{
	// Arithmetic with broadcasting. Where the sum over repeated axes comes first, there are fewer elements after it.
	"Add": sum, "Sum": sum, "Mean": mean, "Mul": mul, "Pow": pow, "Max": larger, "Min": larger, "Where": where,
	"Sub": derive("dy", "-own(dy)"), "Div": derive("dy/b", "-(own(dy*y)/b)"),
	"PRelu": derive("Where(x > 0, dy, dy*b)", "dy*Min(x, 0)"),

	// Element by element. The output is used where it would do: the node after it needs it anyway.
	"Neg": derive("-dy"), "Abs": derive("dy*Sign(x)"), "Sqrt": derive("0.5*dy/y"), "Exp": derive("dy*y"),
	"Log": derive("dy/x"), "Reciprocal": derive("-(dy*(y*y))"), "Erf": derive("dy*(1.1283791670955126*Exp(-(x*x)))"),
	"Tanh": derive("dy - dy*(y*y)"), "Sigmoid": derive("dy*(y - y*y)"), "Softplus": derive("dy*Sigmoid(x)"),
	"Sin": derive("dy*Cos(x)"), "Cos": derive("-(dy*Sin(x))"), "Tan": derive("dy*(1 + y*y)"),
	"Asin": derive("dy/Sqrt(1 - x*x)"), "Acos": derive("-(dy/Sqrt(1 - x*x))"), "Atan": derive("dy/(1 + x*x)"),
	"Sinh": derive("dy*Cosh(x)"), "Cosh": derive("dy*Sinh(x)"), "Atanh": derive("dy/(1 - x*x)"),
	"Asinh": derive("dy/Sqrt(1 + x*x)"), "Acosh": derive("dy/Sqrt(x*x - 1)"),
	"LeakyRelu": derive("Where(s > 0, dy, alpha*dy)"), "Elu": derive("Where(s > 0, dy, dy*(y + alpha))"),
	"Selu":            derive("Where(s > 0, gamma*dy, dy*(y + alpha*gamma))"),
	"Celu":            derive("Where(y > 0, dy, dy*(y/alpha + 1))"),
	"ThresholdedRelu": derive("Where(x > alpha, dy, 0)"), "Shrink": derive("Where(Abs(x) > lambd, dy, 0)"),
	"HardSigmoid": derive("Where(y > 0 && y < 1, alpha*dy, 0)"), // min(1, max(0, αx+β))
	// x·min(1, max(0, x/6+1/2)), slope x/3+1/2 between -3 and 3
	"HardSwish": derive("Where(x < 3, Where(x > -3, dy*(x*0.3333333333333333 + 0.5), 0), dy)"),
	"Swish":     derive("t := Sigmoid(alpha*x); dy*(t + alpha*y*(1 - t))"), // y = x·t
	"Softsign":  derive("d := 1 - Abs(y); dy*(d*d)"),
	"Mish":      derive("t := Tanh(Softplus(x)); dy*(t + x*(1 - t*t)*Sigmoid(x))"),
	"Gelu":      gelu, "com.microsoft.Gelu": gelu, "Clip": clip, "Relu": relu, "Identity": identity,
	"Dropout": identity,
	"Cast":    castBack,

	// Products.
	"Gemm": gemm, "MatMul": matMul, "Einsum": einsum,

	// Over axes.
	"ReduceSum": over("spread(dy)"), "ReduceMean": over("spread(dy/count)"), "ReduceSumSquare": overSome("x*(2*dy)"),
	"ReduceL1": overSome("Sign(x)*dy"), "ReduceL2": overSome("x*Where(y > 0, dy/y, 0)"), // 0 where y is 0, as in torch
	"ReduceLogSum": overSome("spread(dy/Exp(y))"), "ReduceLogSumExp": overSome("dy*Exp(x - y)"),
	// shared among all elements that are the largest, or smallest, as torch's amax does
	"ReduceMax": over("t := cast(Equal(x, y)); t*(dy/total(t))"),
	"ReduceMin": over("t := cast(Equal(x, y)); t*(dy/total(t))"),
	"Softmax":   softmax, "LogSoftmax": along("dy - Exp(y)*total(dy)"),
	"LayerNormalization": layerNorm, "InstanceNormalization": instanceNorm, "LpNormalization": lpNorm,
	"CumSum": cumSum, "TopK": topK,

	// Rearrangements of the same elements.
	"Reshape": rearranged, "Flatten": rearranged, "Squeeze": rearranged, "Unsqueeze": rearranged,
	"Transpose": transpose, "Concat": concat, "Split": split, "Slice": slice, "Pad": pad, "Expand": expand,
	"Tile": tile, "Gather": gather, "GatherElements": gatherElements, "Trilu": trilu,
	"DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,

	// Windows over places.
	"Conv": conv, "ConvTranspose": convTranspose, "MaxPool": maxPool, "AveragePool": averagePool,
	"GlobalAveragePool": globalAveragePool, "GlobalMaxPool": globalMaxPool,
	"BatchNormalization": batchNorm, "LRN": lrn,
}
