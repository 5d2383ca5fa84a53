package graph

// rule sets what follows for a node's outputs from what is known about its inputs. It does not change an output
// about which nothing follows.
type rule func(c *call)

// rules has one rule for each ONNX operator that winnow supports. The version of the operator set matters only
// where the rule says so. Adding an operator is one line here.
var rules = map[string]rule{
	// Element by element.
	"Relu": same, "LeakyRelu": same, "PRelu": same, "Elu": same, "Selu": same, "Celu": same, "Gelu": same,
	"Sigmoid": same, "HardSigmoid": same, "HardSwish": same, "Tanh": same, "Softplus": same, "Softsign": same,
	"Mish": same, "ThresholdedRelu": same, "Clip": same, "Erf": same, "Exp": same, "Log": same, "Sqrt": same,
	"Reciprocal": same, "Neg": arithmetic, "Abs": same, "Sign": same, "Floor": identity, "Ceil": identity,
	"Round": identity,
	"Sin":   same, "Cos": same, "Tan": same, "Asin": same, "Acos": same, "Atan": same, "Sinh": same, "Cosh": same,
	"Asinh": same, "Acosh": same, "Atanh": same, "Shrink": same, "Swish": same, "IsNaN": logic, "IsInf": logic,
	"Not": logic, "Identity": identity, "Dropout": dropout, "Cast": cast,
	"CumSum": same, "Trilu": same, "com.microsoft.Gelu": same,
	"Add": arithmetic, "Sub": arithmetic, "Mul": arithmetic, "Div": arithmetic, "Mod": arithmetic, "Pow": broadcast,
	"Max": arithmetic, "Min": arithmetic, "Sum": broadcast, "Mean": broadcast,
	"And": logic, "Or": logic, "Xor": logic, "Equal": equal, "Greater": logic, "Less": logic,
	"GreaterOrEqual": logic, "LessOrEqual": logic, "Where": where,

	// Normalisations and distributions: the first output has the first input's shape.
	"BatchNormalization": same, "InstanceNormalization": same, "LayerNormalization": layerNorm,
	"GroupNormalization": same, "RMSNormalization": same, "LRN": same, "LpNormalization": same,
	"MeanVarianceNormalization": same, "Softmax": same, "LogSoftmax": same, "Hardmax": same,
	"com.microsoft.SkipLayerNormalization": skipNorm, "com.microsoft.BiasGelu": same, "com.microsoft.FastGelu": same,
	"com.microsoft.QuickGelu": same,

	// Products and windows.
	"Gemm": gemm, "MatMul": matMul,
	"Einsum": einsum,
	"Conv":   conv, "ConvTranspose": convTranspose, "MaxPool": pool, "AveragePool": pool, "LpPool": pool,
	"GlobalAveragePool": globalPool, "GlobalMaxPool": globalPool, "GlobalLpPool": globalPool,

	// Quantised.
	"QuantizeLinear": quantise, "DequantizeLinear": dequantise, "DynamicQuantizeLinear": dynamicQuantise,
	"QLinearConv": on(conv, 0, 0, 3), "ConvInteger": on(conv, Int32, 0, 1),
	"QLinearMatMul": on(matMul, 0, 0, 3), "MatMulInteger": on(matMul, Int32, 0, 1),
	microsoft + "QGemm":      on(gemm, 0, 0, 3),
	microsoft + "QLinearAdd": on(broadcast, 0, 0, 3), microsoft + "QLinearMul": on(broadcast, 0, 0, 3),
	microsoft + "QLinearGlobalAveragePool": globalPool, microsoft + "QLinearAveragePool": pool,
	microsoft + "QLinearLeakyRelu": same, microsoft + "QLinearSigmoid": same, microsoft + "QLinearSoftmax": same,
	microsoft + "QLinearReduceMean": on(reduce, 0, 0), microsoft + "QLinearConcat": quantisedConcat,
	"com.microsoft.Attention": attention, "com.microsoft.MultiHeadAttention": multiHead,
	"com.microsoft.FusedMatMul": fusedMatMul, "com.microsoft.FusedConv": conv, "com.microsoft.FusedGemm": gemm,

	// Over axes.
	"ReduceMean": reduce, "ReduceSum": reduce, "ReduceMax": reduce, "ReduceMin": reduce, "ReduceProd": reduce,
	"ReduceL1": reduce, "ReduceL2": reduce, "ReduceLogSum": reduce, "ReduceLogSumExp": reduce,
	"ReduceSumSquare": reduce, "ArgMax": argReduce, "ArgMin": argReduce, "TopK": topK,

	// Rearrangements of the same elements.
	"Reshape": reshape, "Flatten": flatten, "Transpose": transpose, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
	"Expand": expand, "Tile": tile, "Concat": concat, "Split": split, "Slice": slice, "Gather": gather, "Pad": pad,
	"Resize": resize, "Upsample": resize, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,
	"GatherElements": gatherElements, "ScatterElements": same, "ScatterND": same, "Scatter": same,
	"ReverseSequence": same,
	"GridSample":      gridSample,

	// Shapes as values.
	"Shape": shapeValue, "Constant": constant, "ConstantOfShape": constantOfShape, "Range": countUp,
	"Size": sizeValue,

	// Drawn at random.
	"RandomNormal": drawn, "RandomUniform": drawn, "RandomNormalLike": drawnLike, "RandomUniformLike": drawnLike,
	"Bernoulli": drawnLike, "Multinomial": multinomial,
}

// key returns the name of a node's operator in rules; those of other domains include the domain.
func (n *Node) key() string {
	if IsONNX(n.Domain) {
		return n.Op
	}
	return n.Domain + "." + n.Op
}
