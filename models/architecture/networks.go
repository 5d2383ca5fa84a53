package architecture

import (
	"fmt"

	"winnow/backbone"
)

// networks are the networks that winnow knows.
var networks = []Network{
	// The residual network for CIFAR of He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, section
	// 4.2, with 2 or 1 blocks a stage; the classifier is left to the head. Where the size changes the shortcut is a 1×1
	// convolution with normalisation (their option B; the paper's CIFAR networks pad with zeros). Each pixel is
	// normalised by the training set's mean and deviation; the paper subtracts the mean of every pixel.
	{Name: "cifar_resnet", About: "ResNet-14 for 32×32 colour pictures, 16, 32 and 64 channels", Channels: 3, Side: 32,
		Preprocessing: cifar, Layers: func(p *Plan) { residualLayers(p, 2) }},
	{Name: "cifar_resnet8", About: "ResNet-8 for 32×32 colour pictures, 16, 32 and 64 channels", Channels: 3, Side: 32,
		Preprocessing: cifar, Layers: func(p *Plan) { residualLayers(p, 1) }},

	// The four-block network of few-shot learning on Omniglot (Vinyals et al., "Matching Networks for One Shot
	// Learning", NeurIPS 2016, section 4.1; Snell et al., "Prototypical Networks", NeurIPS 2017): each block a 3×3
	// convolution of 64 channels, batch normalisation, rectifier and maximum over 2×2; 28×28 becomes 64 numbers.
	{Name: "convnet4", About: "four blocks of 64 channels for 28×28 characters, as used on Omniglot", Channels: 1,
		Side: 28, Preprocessing: greyOf(28, 1./255, 0.5, 0.5), Layers: func(p *Plan) {
			for i := range 4 {
				p.Stage(fmt.Sprint("block", i+1), func() {
					normalisedConv(p, 64, 3, 1)
					p.MaxPool(2, 2, 0)
				})
			}
			p.Flatten()
		}},

	// The shipped backbone of the embedded dataset glyphs (models/glyphnet.md), untrained: five convolutions, each with
	// batch normalisation and a rectifier, averaged over the last 4×4 places.
	{Name: "glyphnet", About: "five convolutions for 32×32 characters, as the shipped glyphnet", Channels: 1, Side: 32,
		Preprocessing: greyOf(32, 1./255, 0.5, 0.25), Layers: func(p *Plan) {
			for i, c := range [][3]int{{24, 5, 2}, {48, 3, 2}, {96, 3, 1}, {128, 3, 2}, {192, 3, 1}} {
				p.Stage(fmt.Sprint("block", i+1), func() { normalisedConv(p, c[0], c[1], c[2]) })
			}
			p.GlobalAverage()
		}},

	// The network of Yu et al., "Correcting the triplet selection bias for triplet loss", ECCV 2018, section 4.1: "a
	// modified LeNet. More specifically, we use 3×3 filters in all convolutional layers and replace all activation
	// layers with the PReLU layer", with embeddings of 64 numbers. The last linear layer, to those 64, is winnow's head
	// (--dim 64), so the network ends one layer before it.
	//
	// Not stated, and taken from Caffe's LeNet for MNIST, as the paper works with Caffe: 20 and 50 channels without
	// padding, 500 hidden units, maximum over 2×2, weights after Caffe's "xavier", biases 0, slopes 0.25, bytes times
	// 1/256 without a mean. The place of the activations is also not stated; here they follow every layer with weights,
	// because the paper uses the plural (Caffe's LeNet has one, after the 500 units). Caffe rounds the size of a pooled
	// map up (6×6 after the second pooling), this network rounds down (5×5).
	{Name: "lenet", About: "LeNet with 3×3 filters and PReLU, for 28×28 digits (Yu et al., ECCV 2018)", Channels: 1,
		Side: 28, Preprocessing: greyOf(28, 1./256, 0, 1), Init: LecunUniform, Layers: func(p *Plan) {
			for _, out := range []int{20, 50} {
				p.Conv(out, 3, 1, 0, true)
				p.PRelu()
				p.MaxPool(2, 2, 0)
			}
			p.Flatten()
			p.Linear(500)
			p.PRelu()
		}},

	// LeNet as Caffe ships it for MNIST: 5×5 filters and one rectifier (after LeCun et al., "Gradient-based learning
	// applied to document recognition", Proc. IEEE 1998). Its last layer, 500 to 10, is left to the head.
	{Name: "lenet5", About: "Caffe's LeNet for 28×28 digits, 5×5 filters", Channels: 1, Side: 28,
		Preprocessing: greyOf(28, 1./256, 0, 1), Init: LecunUniform, Layers: func(p *Plan) {
			for _, out := range []int{20, 50} {
				p.Conv(out, 5, 1, 0, true)
				p.MaxPool(2, 2, 0)
			}
			p.Flatten()
			p.Linear(500)
			p.Relu()
		}},
}

// normalisedConv adds a convolution with padding, a batch normalisation and a rectifier.
func normalisedConv(p *Plan, out, kernel, stride int) {
	p.Conv(out, kernel, stride, kernel/2, false)
	p.BatchNorm()
	p.Relu()
}

// residualLayers adds a stem and three stages of residual blocks.
func residualLayers(p *Plan, blocks int) {
	p.Stage("stem", func() { normalisedConv(p, 16, 3, 1) })
	for i, out := range []int{16, 32, 64} {
		p.Stage(fmt.Sprint("stage", i+1), func() {
			for block := range blocks {
				ResidualBlock(p, out, i > 0 && block == 0)
			}
		})
	}
	p.GlobalAverage()
}

// ResidualBlock adds a block that sums two convolutions and their input, and a rectifier. With halve, it halves the
// side of the maps.
func ResidualBlock(p *Plan, out int, halve bool) {
	stride, shortcut := 1, func() {}
	if halve {
		stride, shortcut = 2, func() {
			p.Conv(out, 1, 2, 0, false)
			p.BatchNorm()
		}
	}
	p.Residual(func() {
		normalisedConv(p, out, 3, stride)
		p.Conv(out, 3, 1, 1, false)
		p.BatchNorm()
	}, shortcut)
	p.Relu()
}

var cifar = backbone.Preprocessing{Resize: 32, Exact: true, Crop: 32, Interpolation: "bilinear", Channels: "RGB",
	Scale: 1. / 255, Mean: [3]float32{0.4914, 0.4822, 0.4465}, Std: [3]float32{0.2470, 0.2435, 0.2616}, EXIF: true}

// greyOf returns the preprocessing that converts the whole image to grey and resizes it to side × side.
func greyOf(side int, scale, mean, std float32) backbone.Preprocessing {
	return backbone.Preprocessing{Resize: side, Exact: true, Crop: side, Interpolation: "bilinear", Channels: "L",
		Scale: scale, Mean: [3]float32{mean, mean, mean}, Std: [3]float32{std, std, std}, EXIF: true}
}
