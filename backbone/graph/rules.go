package graph

// rule infers what it can about a node's outputs from what is known about its inputs. It leaves an output unchanged
// if it can infer nothing about it.
type rule func(c *call)

// rules has one rule for each ONNX operator that winnow supports. The version of the operator set matters only
// where the rule says so. Adding an operator is one line here.
var rules = map[string]rule{
	// Element by element.
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

	// Over axes.
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

	// Shapes as values.
	"Shape": shapeValue, "Constant": inferConstant, "ConstantOfShape": constantOfShape, "Range": countUp,
	"Size": sizeValue,
}

// ruleKey returns the name of a node's operator in rules; those of other domains include the domain.
func (n *Node) ruleKey() string {
	if IsONNX(n.Domain) {
		return n.Op
	}
	return n.Domain + "." + n.Op
}
