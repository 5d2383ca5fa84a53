package models

import (
	_ "embed"
	"slices"
)

// compiled holds the model files that are part of the program, by file name.
func compiled() map[string][]byte { return map[string][]byte{"glyphnet.onnx": glyphnet} }

//go:embed glyphnet.onnx
var glyphnet []byte

// known are the backbones that winnow knows: those tested with their files, those that it can fetch, and those that
// users export themselves. Adding one means adding an entry, no code.
var known = slices.Concat(seen, fetched, exports)

// seen are the backbones whose entries were tested with exactly these files.
var seen = []Entry{
	{
		Name: "glyphnet", File: "glyphnet.onnx", Input: "input", Output: "features",
		Preprocessing: presets["grey"],
		Source: "trained by this project on characters that the dataset glyphs does not contain (go run " +
			"./internal/glyphnet)",
		Licence: "Apache-2.0",
		Recipe:  "part of the program",
	},
	{
		Name: "googlenet-bvlc", File: "googlenet-bvlc.onnx",
		SHA256: "1f13ebfe2eda102b81da03a2281f23837755f2b4b54432ce29e589d052d551ae",
		Input:  "data", Output: "features", // pool5, 1024 numbers
		Preprocessing: presets["caffe"],
		Source:        "BVLC GoogLeNet (Inception v1), ImageNet-1k; weights as in chaosmail/caffejs at commit d161d610",
		Licence:       "weights released for unrestricted use (BVLC), conversion MIT",
		Recipe: "any ONNX file of BVLC GoogLeNet will do: winnow models add --name my-googlenet --preset " +
			"caffe FILE",
	},
	{
		Name: "mobilenetv2-features", File: "mobilenetv2-features.onnx",
		SHA256: "a1364549f2d8135a26a4076bc8efd723586c05df51a5a8915e2c420ec5e83d48",
		Input:  "input", Output: "features", // 1280 numbers
		Preprocessing: presets["imagenet"],
		Source: "MobileNetV2 1.0 of the ONNX model zoo (mobilenetv2-7) without its classifier; weights as " +
			"in ibelem/test-data at commit d9f15370",
		Licence: "Apache-2.0",
		Recipe: "any ONNX file of MobileNetV2 will do: winnow models add --name my-mobilenet --preset " +
			"imagenet FILE",
	},
	{
		Name: "squeezenet1.1", File: "squeezenet1.1.onnx",
		SHA256: "66fe4ad96b36a696c80013f74d83645126fd4eb48252d56e017e3071725fd6a4",
		Input:  "data", Output: "features", // mean of fire9, 512 numbers
		Preprocessing: presets["imagenet"],
		Source: "SqueezeNet 1.1 of the ONNX model zoo (GluonCV weights) as in ibelem/test-data at commit " +
			"d9f15370",
		Licence: "Apache-2.0",
		Recipe: "any ONNX file of SqueezeNet 1.1 will do: winnow models add --name my-squeezenet --preset " +
			"imagenet FILE",
	},
	{
		Name: "resnet50v2-stage3-features", File: "resnet50v2-stage3-features.onnx",
		SHA256: "a9dfb5f587c9b0bc7185419ce823bef490ed16ab063996aa4562f2782b01cfc0",
		Input:  "data", Output: "features", // 1024 numbers
		Preprocessing: presets["imagenet"],
		Source: "ResNet-50 v2 of the ONNX model zoo (GluonCV) cut after stage 3; weights as in " +
			"ibelem/test-data at commit d9f15370",
		Licence: "Apache-2.0",
		Recipe: "any ONNX file of ResNet-50 v2 will do: winnow models add --name my-resnet --preset " +
			"imagenet FILE",
	},
}
