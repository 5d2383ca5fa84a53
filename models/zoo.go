package models

// zooFile is a backbone of the ONNX Model Zoo. Its sha256 and size are those that Git LFS records in the zoo's
// repository onnx/models, read from the pointer file at path of the commit. The files themselves were not available
// here; the feature tensor is found in the graph.
type zooFile struct {
	name, title, path, commit string
	sum                       string
	size                      int64
	preset, licence           string
	replaced                  bool // the zoo now has another version under this name
	assumed                   bool // the zoo does not document the preprocessing
}

var zooFiles = []zooFile{
	{name: "resnet18-v1-7", title: "ResNet-18 v1 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet18-v1-7.onnx",
		commit: "5372b0b46b4a0cafcaf5f9f924e7494a088ffa86",
		sum:    "4e8f8653e7a2222b3904cc3fe8e304cd8b339ce1d05fd24688162f86fb6df52c", size: 46_820_737,
		preset:  "imagenet",
		licence: "Apache-2.0"},
	{name: "resnet18-v2-7", title: "ResNet-18 v2 (GluonCV)",
		path:   "validated/vision/classification/resnet/model/resnet18-v2-7.onnx",
		commit: "2a67a85e670e61bf9819e9df6dae3771974552ff",
		sum:    "3b4d048057854022232aa20bf68262e31718ab7119a17f920b8a2dc1433f824b", size: 46_806_737,
		preset:  "imagenet",
		licence: "Apache-2.0"},
	// ResNet-34 v1 has no stored pointer: its sum and size are from the zoo's machine-readable list,
	// ONNX_HUB_MANIFEST.json.
	{name: "resnet34-v1-7", title: "ResNet-34 v1 (GluonCV)",
		path: "validated/vision/classification/resnet/model/resnet34-v1-7.onnx", commit: "main",
		sum: "883a41b2e30ddc2e422c108b091b5e70b92d37dc5c345a2c563dcae27971e2cc", size: 87_302_588, preset: "imagenet",
		licence: "Apache-2.0"},
	{name: "resnet34-v2-7", title: "ResNet-34 v2 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet34-v2-7.onnx",
		commit: "13fcb614fdedcc09864c0691c080ccf82ca3b85b",
		sum:    "17f9350e613339ffd46314bb905998f1adaaa6cf983a8c058efbb3cbc6046ca5", size: 87_288_585,
		preset:  "imagenet",
		licence: "Apache-2.0", replaced: true},
	{name: "resnet50-v1-12", title: "ResNet-50 v1 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet50-v1-12.onnx",
		commit: "652f4e4af7975c8e7a505c4b6e0f8ac72d8260ea",
		sum:    "ab65bdc02c5b3123eb3cdf6dac01742438517d8635d4f233913b2be1c70db3b6", size: 102_576_419,
		preset: "imagenet", licence: "Apache-2.0", replaced: true},
	{name: "resnet50-v2-7", title: "ResNet-50 v2 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet50-v2-7.onnx",
		commit: "b9a54e89508f101a1611cd64f4ef56b9cb62c7cf",
		sum:    "1e80e8a7c8eec8e8b20c440d7dd7f2f8590779c7c2859dc4514870dc463845d3", size: 102_442_450,
		preset: "imagenet", licence: "Apache-2.0", replaced: true},
	{name: "resnet101-v1-7", title: "ResNet-101 v1 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet101-v1-7.onnx",
		commit: "e8feddcd242650ccf821323cac6fdfb38fd09a05",
		sum:    "760702f6ec0138f71ebac66f4e95d1c72dc9267a8544f4d4667a53075fd0497c", size: 178_914_043,
		preset: "imagenet", licence: "Apache-2.0"},
	{name: "resnet101-v2-7", title: "ResNet-101 v2 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet101-v2-7.onnx",
		commit: "96d633069ed74096408061accc3b728672802890",
		sum:    "b610c141f3b26bf8324dcbd13532779cceedffac5213dbcc3ad0047b489ce304", size: 178_682_299,
		preset: "imagenet", licence: "Apache-2.0", replaced: true},
	{name: "resnet152-v1-7", title: "ResNet-152 v1 (GluonCV)",
		path:   "validated/vision/classification/resnet/model/resnet152-v1-7.onnx",
		commit: "4c46cd00fbdb7cd30b6c1c17ab54f2e1f4f7b177",
		sum:    "b0ec92437bf8c9d0739bf9bafdea9638e13f9e3c1e2fb766ad546cc182fd3f6d", size: 241_816_206,
		preset: "imagenet", licence: "Apache-2.0"},
	{name: "resnet152-v2-7", title: "ResNet-152 v2 (GluonCV)",
		path:   "vision/classification/resnet/model/resnet152-v2-7.onnx",
		commit: "652f4e4af7975c8e7a505c4b6e0f8ac72d8260ea",
		sum:    "40fb3f6dd313ba786a2c8077a0ef7d7b4afeda5d037365400d3a7fbc2b1bee64", size: 241_503_848,
		preset: "imagenet", licence: "Apache-2.0"},
	{name: "mobilenetv2-7", title: "MobileNetV2 1.0",
		path:   "vision/classification/mobilenet/model/mobilenetv2-7.onnx",
		commit: "13fcb614fdedcc09864c0691c080ccf82ca3b85b",
		sum:    "c1c513582d56afceff8516c73804e484c81c6a830712ab6d682253f4a3cd042f", size: 14_246_826,
		preset:  "imagenet",
		licence: "Apache-2.0"},
	{name: "squeezenet1.1-7", title: "SqueezeNet 1.1",
		path:   "vision/classification/squeezenet/model/squeezenet1.1-7.onnx",
		commit: "9ef45be2139eb080c239f596837ac0748050df46",
		sum:    "1eeff551a67ae8d565ca33b572fc4b66e3ef357b0eb2863bb9ff47a918cc4088", size: 4_956_208, preset: "imagenet",
		licence: "Apache-2.0"},
	// EfficientNet-Lite4 comes from the zoo too, with the name of its feature tensor. It takes single images with
	// channels last, which is changed when it is read.
	{name: "efficientnet-lite4-11", title: "EfficientNet-Lite4",
		path: "validated/vision/classification/efficientnet-lite4/model/efficientnet-lite4-11.onnx", commit: "main",
		sum: "d111689907c06eea7c82e4833ddef758da6453b9d4cf60b7e99ca05c7cbd9c12", size: 51_946_641,
		preset: "efficientnet-lite", licence: "MIT"},
	{name: "googlenet-7", title: "BVLC GoogLeNet (Inception v1)",
		path:   "validated/vision/classification/inception_and_googlenet/googlenet/model/googlenet-7.onnx",
		commit: "4c46cd00fbdb7cd30b6c1c17ab54f2e1f4f7b177",
		sum:    "5725ccfd90845735ce5897faf7843c3f9b13acda3c4f3bff82cb21c9337c9de8", size: 28_020_232, preset: "caffe",
		licence: "BSD-3-Clause"},
	{name: "inception-v2-9", title: "Inception v2 (BN-Inception, from Caffe2; the zoo does not say how its images " +
		"are prepared: Caffe's way is assumed)",
		path:   "vision/classification/inception_and_googlenet/inception_v2/model/inception-v2-9.onnx",
		commit: "13fcb614fdedcc09864c0691c080ccf82ca3b85b",
		sum:    "37ed4aa93f817fd0d1cc19bda045ebd70f18d0887a5f51e66ecd0ed8fd5a65c2", size: 45_042_799, preset: "caffe",
		licence: "MIT", assumed: true},
}
