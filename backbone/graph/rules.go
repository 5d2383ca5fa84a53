package graph

// rule infers the types, shapes and values of a node's outputs from those of its inputs, as far as possible. It does
// not set an output about which it can infer nothing.
type rule func(c *call)

// rules maps each ONNX operator that winnow supports to its rule. A rule applies to all versions of the operator set
// unless its comment names a version. A new operator needs one line here.
var rules = map[string]rule{
	// Elementwise operators.
	"Relu": inferSame, "LeakyRelu": inferSame, "PRelu": inferSame, "Elu": inferSame, "Selu": inferSame,
	"Gelu":    inferSame,
	"Sigmoid": inferSame, "HardSigmoid": inferSame, "HardSwish": inferSame, "Tanh": inferSame, "Softplus": inferSame,
	"Softsign": inferSame,
	"Mish":     inferSame, "Clip": inferSame, "Erf": inferSame, "Exp": inferSame,
	"Log": inferSame, "Sqrt": inferSame,
	"Reciprocal": inferSame, "Neg": inferArithmetic, "Abs": inferSame, "Sign": inferSame, "Floor": inferIdentity,
	"Ceil":  inferIdentity,
	"Round": inferIdentity,
	"Sin":   inferSame, "Cos": inferSame, "Swish": inferSame,
	"IsNaN": inferLogic, "IsInf": inferLogic,
	"Not": inferLogic, "Identity": inferIdentity, "Dropout": inferDropout, "Cast": inferCast,
	"CumSum": inferSame, "LpNormalization": inferSame, "com.microsoft.Gelu": inferSame,
	"Add": inferArithmetic, "Sub": inferArithmetic, "Mul": inferArithmetic, "Div": inferArithmetic,
	"Mod": inferArithmetic, "Pow": inferBroadcast,
	"Max": inferArithmetic, "Min": inferArithmetic, "Sum": inferBroadcast, "Mean": inferBroadcast,
	"And": inferLogic, "Or": inferLogic, "Xor": inferLogic, "Equal": inferEqual, "Greater": inferLogic,
	"Less":           inferLogic,
	"GreaterOrEqual": inferLogic, "LessOrEqual": inferLogic, "Where": inferWhere,

	// Normalisations and distributions: the first output has the first input's shape.
	"BatchNormalization": inferSame, "InstanceNormalization": inferSame, "LayerNormalization": layerNorm,
	"GroupNormalization": inferSame, "RMSNormalization": inferSame, "LRN": inferSame,
	"Softmax": inferSame, "LogSoftmax": inferSame,

	// Products and windows.
	"Gemm": inferGemm, "MatMul": matMul,
	"Conv": inferConv, "MaxPool": inferPool, "AveragePool": inferPool, "LpPool": inferPool,
	"GlobalAveragePool": globalPool, "GlobalMaxPool": globalPool, "GlobalLpPool": globalPool,

	// Reductions over axes.
	"ReduceMean": inferReduce, "ReduceSum": inferReduce, "ReduceMax": inferReduce, "ReduceMin": inferReduce,
	"ReduceProd": inferReduce,
	"ReduceL1":   inferReduce, "ReduceL2": inferReduce, "ReduceLogSum": inferReduce, "ReduceLogSumExp": inferReduce,
	"ReduceSumSquare": inferReduce, "ArgMax": argReduce, "ArgMin": argReduce, "TopK": topK,

	// Rearrangements of the same elements.
	"Reshape": inferReshape, "Flatten": inferFlatten, "Transpose": inferTranspose, "Squeeze": inferSqueeze,
	"Unsqueeze": inferUnsqueeze,
	"Expand":    inferExpand, "Tile": inferTile, "Concat": inferConcat, "Split": inferSplit, "Slice": inferSlice,
	"Gather": inferGather, "Pad": inferPad,
	"Resize": inferResize, "Upsample": inferResize,

	// Operators that compute shapes.
	"Shape": shapeValue, "Constant": inferConstant, "ConstantOfShape": constantOfShape, "Range": countUp,
	"Size": sizeValue,
}

// ruleKey returns the name of a node's operator in rules. Names from other domains include the domain.
func (n *Node) ruleKey() string {
	if IsONNX(n.Domain) {
		return n.Op
	}
	return n.Domain + "." + n.Op
}
