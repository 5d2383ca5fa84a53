package models

import (
	_ "embed"

	"winnow/backbone"
)

// compiled holds the model files that are part of the program, by file name.
func compiled() map[string][]byte { return map[string][]byte{"glyphnet.onnx": glyphnet} }

//go:embed glyphnet.onnx
var glyphnet []byte

// presets are the ways to prepare images that --preset names.
var presets = map[string]backbone.Preprocessing{
	// ImageNet as torchvision, timm and most of the ONNX zoo have it.
	"imagenet": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
	// ImageNet as Caffe had it: bytes as they are, blue first, one mean a channel.
	"caffe": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "BGR", Scale: 1,
		Mean: [3]float32{104, 117, 123}, Std: [3]float32{1, 1, 1}},
	// CLIP's image encoders.
	"clip": {Resize: 224, Crop: 224, Interpolation: "bicubic", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.48145466, 0.4578275, 0.40821073}, Std: [3]float32{0.26862954, 0.26130258, 0.27577711}},
	// Values from -1 to 1, as TensorFlow's Inception models and many vision transformers have it.
	"inception": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.5, 0.5, 0.5}},
	// Values from 0 to 1.
	"unit": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255, Std: [3]float32{1, 1, 1}},
	// One grey channel from -2 to 2, as glyphnet has it.
	"grey": {Resize: 32, Exact: true, Crop: 32, Interpolation: "bilinear", Channels: "L", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.25, 0.25, 0.25}},
}

// known are the backbones winnow knows by itself. Adding one is an entry here, no code.
var known = []Entry{
	{
		Name: "glyphnet", File: "glyphnet.onnx", Input: "input", Output: "features",
		Preprocessing: presets["grey"],
		Source:        "trained by this project on characters that the dataset glyphs does not contain (go run ./internal/glyphnet)",
		Licence:       "Apache-2.0",
		Recipe:        "it is part of the program",
	},
	{
		Name: "googlenet-bvlc", File: "googlenet-bvlc.onnx",
		SHA256: "1f13ebfe2eda102b81da03a2281f23837755f2b4b54432ce29e589d052d551ae",
		Input:  "data", Output: "features", // pool5, 1024 numbers
		Preprocessing: presets["caffe"],
		Source:        "BVLC GoogLeNet (Inception v1), ImageNet-1k; weights as in chaosmail/caffejs at commit d161d610",
		Licence:       "weights released for unrestricted use (BVLC), conversion MIT",
		Recipe:        "any ONNX file of BVLC GoogLeNet will do: winnow models add --name my-googlenet --preset caffe FILE",
	},
	{
		Name: "mobilenetv2-features", File: "mobilenetv2-features.onnx",
		SHA256: "a1364549f2d8135a26a4076bc8efd723586c05df51a5a8915e2c420ec5e83d48",
		Input:  "input", Output: "features", // 1280 numbers
		Preprocessing: presets["imagenet"],
		Source:        "MobileNetV2 1.0 of the ONNX model zoo (mobilenetv2-7) without its classifier; weights as in ibelem/test-data at commit d9f15370",
		Licence:       "Apache-2.0",
		Recipe:        "any ONNX file of MobileNetV2 will do: winnow models add --name my-mobilenet --preset imagenet FILE",
	},
	{
		Name: "squeezenet1.1", File: "squeezenet1.1.onnx",
		SHA256: "66fe4ad96b36a696c80013f74d83645126fd4eb48252d56e017e3071725fd6a4",
		Input:  "data", Output: "features", // mean of fire9, 512 numbers
		Preprocessing: presets["imagenet"],
		Source:        "SqueezeNet 1.1 of the ONNX model zoo (GluonCV weights) as in ibelem/test-data at commit d9f15370",
		Licence:       "Apache-2.0",
		Recipe:        "any ONNX file of SqueezeNet 1.1 will do: winnow models add --name my-squeezenet --preset imagenet FILE",
	},
	{
		Name: "resnet50v2-stage3-features", File: "resnet50v2-stage3-features.onnx",
		SHA256: "a9dfb5f587c9b0bc7185419ce823bef490ed16ab063996aa4562f2782b01cfc0",
		Input:  "data", Output: "features", // 1024 numbers
		Preprocessing: presets["imagenet"],
		Source:        "ResNet-50 v2 of the ONNX model zoo (GluonCV) cut after stage 3; weights as in ibelem/test-data at commit d9f15370",
		Licence:       "Apache-2.0",
		Recipe:        "any ONNX file of ResNet-50 v2 will do: winnow models add --name my-resnet --preset imagenet FILE",
	},
	torchvision("resnet18", "ResNet-18"),
	torchvision("resnet34", "ResNet-34"),
	torchvision("resnet50", "ResNet-50"),
	{
		Name: "bn-inception", File: "bn-inception.onnx",
		Preprocessing: backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "BGR", Scale: 1,
			Mean: [3]float32{104, 117, 128}, Std: [3]float32{1, 1, 1}},
		Source:  "BN-Inception, ImageNet-1k, as ported from Caffe in the Python package pretrainedmodels",
		Licence: "BSD-3-Clause (package); weights: none stated",
		Recipe:  export("import pretrainedmodels; m = pretrainedmodels.bninception()", "bn-inception.onnx"),
	},
}

// torchvision is a ResNet of torchvision with its first ImageNet weights, those the papers used.
func torchvision(name, title string) Entry {
	return Entry{
		Name: name, File: name + ".onnx", Preprocessing: presets["imagenet"],
		Source:  title + " of torchvision, weights IMAGENET1K_V1",
		Licence: "BSD-3-Clause",
		Recipe:  export("import torchvision; m = torchvision.models."+name+"(weights='IMAGENET1K_V1')", name+".onnx"),
	}
}

// export is the command line (PyTorch 2.5 or newer) that writes a model with a free batch into one file.
func export(model, file string) string {
	return `python3 -c "import torch; ` + model + `; torch.onnx.export(m.eval(), torch.zeros(1, 3, 224, 224), '` + file +
		`', input_names=['input'], output_names=['logits'], dynamic_axes={'input': {0: 'N'}, 'logits': {0: 'N'}}, dynamo=False)"`
}
