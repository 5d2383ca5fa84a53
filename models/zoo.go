package models

// zoo are backbones of the ONNX Model Zoo. The files were not at hand: each sha256 is the object id that Git LFS records
// for the file in the zoo's repository, and the feature tensor is found in the graph.
var zoo = []Entry{
	ofZoo("resnet18-v1-7", "ResNet-18 v1 (GluonCV)", "resnet",
		"4e8f8653e7a2222b3904cc3fe8e304cd8b339ce1d05fd24688162f86fb6df52c", "imagenet", "Apache-2.0"),
	ofZoo("resnet34-v2-7", "ResNet-34 v2 (GluonCV)", "resnet",
		"17f9350e613339ffd46314bb905998f1adaaa6cf983a8c058efbb3cbc6046ca5", "imagenet", "Apache-2.0"),
	ofZoo("resnet50-v1-12", "ResNet-50 v1 (GluonCV)", "resnet",
		"ab65bdc02c5b3123eb3cdf6dac01742438517d8635d4f233913b2be1c70db3b6", "imagenet", "Apache-2.0"),
	ofZoo("resnet50-v2-7", "ResNet-50 v2 (GluonCV)", "resnet",
		"1e80e8a7c8eec8e8b20c440d7dd7f2f8590779c7c2859dc4514870dc463845d3", "imagenet", "Apache-2.0"),
	ofZoo("mobilenetv2-7", "MobileNetV2 1.0", "mobilenet",
		"c1c513582d56afceff8516c73804e484c81c6a830712ab6d682253f4a3cd042f", "imagenet", "Apache-2.0"),
	ofZoo("squeezenet1.1-7", "SqueezeNet 1.1", "squeezenet",
		"9456373b67f04e4a9cb0bb9be984f0db2d0ad141582d84d4b4ad9e84f7ec7785", "imagenet", "Apache-2.0"),
	ofZoo("googlenet-7", "BVLC GoogLeNet (Inception v1)", "inception_and_googlenet/googlenet",
		"5725ccfd90845735ce5897faf7843c3f9b13acda3c4f3bff82cb21c9337c9de8", "caffe", "BSD-3-Clause"),
	ofZoo("inception-v2-9", "Inception v2 (BN-Inception, from Caffe2; the zoo does not say how its images are prepared: Caffe's way is assumed)", "inception_and_googlenet/inception_v2",
		"37ed4aa93f817fd0d1cc19bda045ebd70f18d0887a5f51e66ecd0ed8fd5a65c2", "caffe", "MIT"),
}

// ofZoo returns a file of a folder of the zoo's vision/classification.
func ofZoo(name, title, folder, sum, preset, licence string) Entry {
	return Entry{
		Name: name, File: name + ".onnx", SHA256: sum, Preprocessing: presets[preset],
		Source:  title + " of the ONNX Model Zoo",
		Licence: licence,
		Recipe: "vision/classification/" + folder + "/model/" + name + ".onnx of the repository onnx/models, by git lfs; then put it into a folder of " +
			"WINNOW_MODEL_DIRS",
	}
}
