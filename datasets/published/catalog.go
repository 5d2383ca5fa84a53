package published

// Catalog lists the datasets that winnow knows, by name. A new one is a file with its Preset and a line here.
func Catalog() []Preset {
	return []Preset{
		cars98N,
		cifar10,
		cifar100,
		cifar100N,
		cifar10N,
		fashionMNIST,
		food101,
		food101N,
		inShop,
		mnistDigits,
		sop,
	}
}
