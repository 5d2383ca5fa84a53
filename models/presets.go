package models

import "winnow/backbone"

// presets are the preprocessings that --preset names. All turn images by their EXIF orientation, so that every command
// embeds an image in the same way.
var presets = turnUpright(map[string]backbone.Preprocessing{
	// ImageNet as in torchvision, timm and most of the ONNX zoo.
	"imagenet": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
	// ImageNet as in Caffe: raw bytes, blue first, one mean per channel.
	"caffe": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "BGR", Scale: 1,
		Mean: [3]float32{104, 117, 123}, Std: [3]float32{1, 1, 1}},
	// BN-Inception as the metric-learning papers use it, from Caffe: another mean for red.
	"bn-inception": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "BGR", Scale: 1,
		Mean: [3]float32{104, 117, 128}, Std: [3]float32{1, 1, 1}},
	// DINOv2's evaluation: ImageNet's means, cubic interpolation.
	"dinov2": {Resize: 256, Crop: 224, Interpolation: "bicubic", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
	// CLIP's image encoders.
	"clip": {Resize: 224, Crop: 224, Interpolation: "bicubic", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.48145466, 0.4578275, 0.40821073}, Std: [3]float32{0.26862954, 0.26130258, 0.27577711}},
	// SigLIP's image encoders: all of the picture, values from -1 to 1. Bilinear as SigLIP 2's image processor; the
	// first SigLIP's is bicubic.
	"siglip": {Resize: 224, Exact: true, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.5, 0.5, 0.5}},
	// Values from -1 to 1, as in TensorFlow's Inception models and many vision transformers.
	"inception": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.5, 0.5, 0.5}},
	// EfficientNet-Lite: bytes minus 127, divided by 128.
	"efficientnet-lite": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1,
		Mean: [3]float32{127, 127, 127}, Std: [3]float32{128, 128, 128}},
	// Values from 0 to 1.
	"unit": {Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Std: [3]float32{1, 1, 1}},
	// One grey channel from -2 to 2, as in glyphnet.
	"grey": {Resize: 32, Exact: true, Crop: 32, Interpolation: "bilinear", Channels: "L", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.25, 0.25, 0.25}},
})

func turnUpright(presets map[string]backbone.Preprocessing) map[string]backbone.Preprocessing {
	for name, p := range presets {
		p.EXIF = true
		presets[name] = p
	}
	return presets
}
