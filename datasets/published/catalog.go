package published

// Catalog lists the datasets that winnow knows, by name. Adding one means adding a file with its Preset and a line
// here.
func Catalog() []Preset {
	return []Preset{
		caltech101,
		caltech256,
		cars196,
		cars98N,
		cifar10,
		cifar100,
		cifar100N,
		cifar10N,
		cub200,
		fashionMNIST,
		flowers102,
		food101,
		food101N,
		imageNet,
		iNat2017,
		iNat2018,
		inShop,
		mnistDigits,
		pets,
		places365,
		sop,
	}
}
