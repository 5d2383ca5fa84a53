package backbone

import (
	"winnow/internal/catalog"
)

// Recipe is an augmentation with a name.
type Recipe struct {
	Name         string
	About        string // one line
	Augmentation Augmentation
}

// Recipes returns the named augmentations. Sizes scale with the network's input: where a paper resizes to 256 and
// crops 224, a network with an input of 112 resizes to 128 and crops 112.
//
// Sources: prism: Liu, Yu, Li, Shen, Gao, Ren, Xie, Cui, PRISM, the paper; prism_released: the code released with
// PRISM, configuration for CARS-98N; adapted_triplet: Yu, Liu, Gong, Fu, Tao, Correcting the triplet selection bias
// for triplet loss, ECCV 2018; supcon: Khosla et al., Supervised contrastive learning, NeurIPS 2020, the released
// training script; imagenet: Szegedy et al., Going deeper with convolutions, CVPR 2015, section 6, as in torchvision;
// cifar: He et al., Deep residual learning, CVPR 2016, section 4.2; digits: winnow's own.
func Recipes() []Recipe {
	colour := [4]float64{0.4, 0.4, 0.4, 0.1}
	return []Recipe{
		{"none", "the evaluation view", Augmentation{}},
		{"flip", "the evaluation view, mirrored with probability 1/2", Augmentation{Flip: 0.5}},
		{"prism", "resized to a square of 256/224 of the network's size, random crop, mirrored with probability 1/2",
			Augmentation{Crop: cropRandom, Exact: true, Flip: 0.5}},
		{"prism_released", "a random part of 20 to 100 % of the image, mirrored with probability 1/2",
			Augmentation{Crop: cropResized, Scale: [2]float64{0.2, 1}, Flip: 0.5}},
		{"adapted_triplet", "like prism, but never mirrored",
			Augmentation{Crop: cropRandom, Exact: true}},
		{"supcon",
			"a random part of 20 to 100 % of the image; mirrored in 50 %, colours changed in 80 %, grey in 20 %",
			Augmentation{
				Crop: cropResized, Scale: [2]float64{0.2, 1},
				Flip: 0.5, Jitter: colour, JitterP: 0.8, Grey: 0.2,
			}},
		{"imagenet", "a random part of 8 to 100 % of the image, mirrored with probability 1/2",
			Augmentation{Crop: cropResized, Flip: 0.5}},
		{"cifar", "4 black pixels added at each edge, random crop, mirrored with probability 1/2",
			Augmentation{Crop: cropRandom, Pad: 4, Flip: 0.5}},
		{"digits", "for characters: rotated by up to 10 degrees, shifted and zoomed by up to 10 %, never mirrored",
			Augmentation{Rotate: 10, Shift: 0.1, Zoom: 0.1}},
	}
}

// ParseAugmentation returns the augmentation of the Recipe with this name.
func ParseAugmentation(name string) (Augmentation, error) {
	r, err := catalog.Find("backbone: augmentation", name, Recipes(),
		func(r Recipe) []string { return []string{r.Name} })
	return r.Augmentation, err
}
