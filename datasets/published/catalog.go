package published

// Catalog lists the datasets that winnow knows, by name. A new one is a file with its Preset and a line here.
func Catalog() []Preset {
	return []Preset{
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
		inShop,
		mnistDigits,
		sop,
	}
}
