package exported

import "winnow/internal/testing/vits"

// List returns the networks of the table.
func List() []Network {
	const unit, raw = "--preset unit --resize 12 --crop 12", " --scale 1 --mean 0,0,0 --std 1,1,1 --resize 12 --crop 12"
	unknown := func(f form) form {
		if f.name == "" && f.batch == 0 {
			f.name = "N"
		}
		return f
	}
	var list []Network
	add := func(exporter, words, flags string, f form) {
		list = append(list, unknown(f).network(exporter, words, flags))
	}
	const torch = "PyTorch, traced (torch.onnx.export before 2.9)"
	add(torch, "classifier, dynamic batch, norms folded", unit, form{opset: 17, input: "input", name: "batch_size"})
	add(torch, "classifier, norms as nodes, operator set 11", unit, form{opset: 11, input: "input.1", norm: true})
	add(torch, "weights listed as inputs, operator set 9", unit, form{opset: 9, input: "input", inputs: true,
		norm: true})
	add(torch, "batch fixed at 1, Reshape [1,8]", unit, form{opset: 13, input: "input", batch: 1, pool: "reshape"})
	add(torch, "dynamic batch of the input, but Reshape [1,8]", unit, form{opset: 13, input: "input", batch: 1,
		freeInput: true, pool: "reshape"})
	add(torch, "batch fixed at 1, flattened map", unit, form{opset: 13, input: "x", batch: 1, flat: true})
	add(torch, "batch fixed at 8", unit, form{opset: 17, input: "images", batch: 8, pool: "reshape"})
	add(torch, "batch fixed at 1 by a loop over images", unit, form{opset: 17, input: "x", batch: 1, unrolled: true})
	add(torch, "batch fixed at 8 by a loop over images", unit, form{opset: 17, input: "x", batch: 8, unrolled: true})
	add(torch, "features alone (num_classes=0)", unit, form{opset: 17, input: "x", classifier: "none"})
	add(torch, "features beside the classes", unit, form{opset: 17, input: "x", both: true})
	add(torch, "MobileNetV3: HardSwish", unit, form{opset: 14, input: "input", activation: "hardswish"})
	add(torch, "MobileNetV2: Clip from 0 to 6, operator set 10", unit, form{opset: 10, input: "input",
		activation: "relu6", pool: "mean"})
	add(torch, "EfficientNet: SiLU in parts", unit, form{opset: 17, input: "x", activation: "silu", pool: "mean"})
	add(torch, "ConvNeXt: Gelu in parts by Erf", unit, form{opset: 17, input: "x", activation: "gelu", pool: "mean"})
	add(torch, "height and width open", unit, form{opset: 17, input: "x", openSize: true})
	add(torch, "person re-identification, 24×12", "--preset unit --size 24x12 --resize squash", form{opset: 12,
		input: "input", high: 24, wide: 12, classifier: "none", embedding: true})
	add(torch, "strips of 6×40", "--preset unit --size 6x40 --resize squash", form{opset: 12, input: "x",
		high: 6, wide: 40})
	add(torch, "one grey channel", "--preset unit --resize 12 --crop 12 --channels L", form{opset: 12, input: "x",
		grey: true})
	const dynamo = "PyTorch, torch.export (the default since 2.9)"
	add(dynamo, "weights in network.onnx.data, batch fixed at 1", unit, form{opset: 18, input: "x", batch: 1,
		pool: "mean kept", outside: true})
	add(dynamo, "weights in network.onnx.data, dynamic batch", unit, form{opset: 18, input: "x", name: "s77",
		pool: "mean kept", outside: true})
	add(dynamo, "batch and size dynamic, operator set 20", unit, form{opset: 20, input: "pixel_values", name: "batch",
		openSize: true, pool: "mean by input", activation: "silu"})
	const tensorflow = "tf2onnx"
	add(tensorflow, "Keras classifier, NHWC, softmax", unit, form{opset: 13, input: "input_1", name: "unk__616",
		last: true, pad: true, pool: "transposed", classifier: "matmul", end: "Softmax", activation: "relu6"})
	add(tensorflow, "NHWC, batch fixed at 1", unit, form{opset: 15, input: "input_1", batch: 1, last: true, pad: true,
		pool: "transposed", classifier: "matmul", end: "Softmax"})
	add(tensorflow, "--inputs-as-nchw, constants as nodes", unit, form{opset: 11, input: "image", pad: true,
		nodes: true, pool: "squeeze", classifier: "matmul"})
	add("keras2onnx", "NHWC, norms as nodes, operator set 11", unit, form{opset: 11, input: "input_1", last: true,
		norm: true, pool: "squeeze", classifier: "matmul", end: "Softmax"})
	add("Keras 3 (model.export)", "NHWC, operator set 17", unit, form{opset: 17, input: "keras_tensor", last: true,
		pad: true, norm: true, pool: "transposed", classifier: "matmul", end: "Softmax", activation: "hardsigmoid"})
	add("MXNet, GluonCV", "weights as inputs, dropout, operator set 7", unit, form{opset: 7, input: "data",
		inputs: true, norm: true, idle: true})
	add("Caffe (ONNX Model Zoo)", "LRN, softmax, weights as inputs", unit, form{opset: 8, input: "data_0", inputs: true,
		lrn: true, idle: true, pool: "reshape", batch: 1, end: "Softmax"})
	add("Caffe2", "softmax, batch fixed at 1, operator set 9", unit, form{opset: 9, input: "gpu_0/data_0", batch: 1,
		inputs: true, norm: true, pool: "average", output: "gpu_0/softmax_1", end: "Softmax"})
	add("Paddle2ONNX", "size open, HardSwish in parts, softmax", unit, form{opset: 11, input: "x", name: "batch",
		openSize: true, norm: true, activation: "hardswish in parts", output: "softmax_0.tmp_0", end: "Softmax"})
	add("MATLAB (exportONNXNetwork)", "the mean subtracted inside", "--channels RGB"+raw, form{opset: 9,
		input: "data", inside: "mean", scale: 1, pool: "average", end: "Softmax",
		inputs: true})
	add("Windows ML, Custom Vision", "scaled inside, softmax", "--channels BGR"+raw, form{opset: 9, input: "data",
		inside: "scale", scale: 1, bgr: true, output: "loss", end: "Softmax"})
	add("Ultralytics (-cls)", "SiLU, softmax, batch fixed at 1", unit, form{opset: 19, input: "images", batch: 1,
		activation: "silu", output: "output0", end: "Softmax"})
	add("InsightFace", "PRelu, flattened, a dense layer and a norm", "--channels RGB --scale 0.0078125 --mean 1,1,1 "+
		"--std 1,1,1 --resize 12 --crop 12", form{opset: 11, input: "input.1", scale: 1. / 128, mean: 1,
		activation: "prelu", norm: true, flat: true,
		embedding: true, classifier: "none", output: "683"})
	add("Darknet converters", "LeakyRelu, convolution as classifier", unit, form{opset: 9, input: "000_net",
		activation: "leaky", pool: "map", classifier: "conv", end: "Softmax"})
	add("onnxsim", "constants as nodes, identities left", unit, form{opset: 17, input: "x", nodes: true, idle: true})
	add("onnxconverter-common", "float16 between float32 ends", unit, form{opset: 13, input: "x", half: "inside"})
	add("onnxconverter-common", "float16 with ends", unit, form{opset: 13, input: "x", half: "ends"})
	add("ONNX Runtime, optimiser", "FusedConv of com.microsoft", unit, form{opset: 17, input: "x", fused: true,
		activation: "none"})
	add("ONNX Runtime, quantisation", "QDQ, unsigned bytes", unit, form{opset: 13, input: "x", quantised: "QDQ"})
	for _, k := range vits.Kinds() {
		name := map[vits.Kind]string{vits.DINOv2: "DINOv2", vits.DINOv3: "DINOv3", vits.CLIP: "CLIP",
			vits.SigLIP2: "SigLIP 2"}[k]
		list = append(list,
			ofTransformer("Optimum", name+", operator set 17", vits.Form{Kind: k}),
			ofTransformer("Optimum", name+", norms and Gelu in parts, size open", vits.Form{Kind: k, Parts: true,
				Free: true}),
			ofTransformer("ONNX Runtime, optimiser", name+", fused attention and norms", vits.Form{Kind: k, Fused: true,
				Free: true}))
	}
	for _, name := range []string{"cifar_resnet8", "convnet4", "glyphnet", "lenet", "lenet5"} {
		list = append(list, ofArchitecture(name))
	}
	return list
}
