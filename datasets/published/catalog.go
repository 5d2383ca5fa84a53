package published

// Catalog lists the datasets that winnow knows, by name. A new one is a file with its Preset and a line here.
func Catalog() []Preset {
	return []Preset{
		cars196,
		cifar10,
		cifar100,
		cub200,
		fashionMNIST,
		flowers102,
		mnistDigits,
	}
}
