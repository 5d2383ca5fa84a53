package models

import (
	"fmt"
	"strings"

	"winnow/backbone/graph"
)

// exports are the backbones whose files users export themselves, each with one shell command. The sha256 of such a
// file depends on the versions of the programs that write it, so it is recorded when the file is added. The
// architectures were tested with random weights (see the tests).
var exports = []Entry{
	torchvision("resnet18", "resnet18", "ResNet-18", "IMAGENET1K_V1"),
	torchvision("resnet34", "resnet34", "ResNet-34", "IMAGENET1K_V1"),
	torchvision("resnet50", "resnet50", "ResNet-50", "IMAGENET1K_V1"),
	torchvision("googlenet", "googlenet", "GoogLeNet", "IMAGENET1K_V1"),
	torchvision("mobilenetv2", "mobilenet_v2", "MobileNetV2", "IMAGENET1K_V1"),
	torchvision("squeezenet", "squeezenet1_1", "SqueezeNet 1.1", "IMAGENET1K_V1"),
	torchvision("vit-b-16", "vit_b_16", "ViT-B/16", "IMAGENET1K_V1"),
	{
		Name: "bn-inception", File: "bn-inception.onnx", Preprocessing: presets["bn-inception"],
		Source: "BN-Inception, ImageNet-1k, as ported from Caffe in the Python package pretrainedmodels: blue " +
			"first, bytes as they are, mean 104, 117, 128",
		Licence: "BSD-3-Clause (package); weights: none stated",
		Recipe:  export("import pretrainedmodels; m = pretrainedmodels.bninception()", "bn-inception.onnx", "logits"),
	},
	{
		// Its feature is the class token, as for retrieval in the paper.
		Name: "dinov2-base-registers", File: "dinov2-base-registers.onnx", Output: graph.ClassToken,
		Preprocessing: presets["dinov2"],
		Source: "DINOv2 ViT-B/14 with four registers, learned from LVD-142M without labels, weights " +
			"facebook/dinov2-with-registers-base of the Python package transformers",
		Licence: "Apache-2.0",
		Recipe: export("import transformers; m = transformers.Dinov2WithRegistersModel.from_pretrained("+
			"'facebook/dinov2-with-registers-base', attn_implementation='eager')", "dinov2-base-registers.onnx",
			"last_hidden_state", "pooler_output"),
	},
}

// torchvision describes a torchvision model with its first ImageNet weights, which the papers used.
func torchvision(name, function, title, weights string) Entry {
	return Entry{
		Name: name, File: name + ".onnx", Preprocessing: presets["imagenet"],
		Source:  fmt.Sprintf("%s of torchvision, weights %s", title, weights),
		Licence: "BSD-3-Clause",
		Recipe: export(fmt.Sprintf("import torchvision; m = torchvision.models.%s(weights='%s')", function, weights),
			name+".onnx", "logits"),
	}
}

// export returns the command line (PyTorch 2.5 or newer) that writes a model with a free batch size into one file.
func export(model, file string, outputs ...string) string {
	var free strings.Builder
	for _, name := range outputs {
		fmt.Fprintf(&free, ", '%s': {0: 'N'}", name)
	}
	return `python3 -c "import torch; ` + model + `; torch.onnx.export(m.eval(), torch.zeros(1, 3, 224, 224), '` +
		file +
		`', input_names=['input'], output_names=['` + strings.Join(outputs, "', '") +
		`'], dynamic_axes={'input': {0: 'N'}` + free.String() +
		`}, dynamo=False)"`
}
