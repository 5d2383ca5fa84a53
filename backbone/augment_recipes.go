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

// Recipes returns the named augmentations. Sizes scale with the network: where a paper resizes to 256 and crops
// 224, a network of 112 gets 128 and 112.
//
// Sources: prism: Liu, Yu, Li, Shen, Gao, Ren, Xie, Cui, PRISM, as the paper has it; prism_released: its released code,
// the configuration for CARS-98N; adapted_triplet: Yu, Liu, Gong, Fu, Tao, Correcting the triplet selection bias for
// triplet loss, ECCV 2018; supcon: Khosla et al., Supervised contrastive learning, NeurIPS 2020, the released training
// script; imagenet: Szegedy et al., Going deeper with convolutions, CVPR 2015, section 6, in torchvision's form; cifar:
// He et al., Deep residual learning, CVPR 2016, section 4.2. digits is ours.
func Recipes() []Recipe {
	colour := [4]float64{0.4, 0.4, 0.4, 0.1}
	return []Recipe{
		{"none", "the evaluation view", Augmentation{}},
		{"flip", "the evaluation view, half of them mirrored", Augmentation{Flip: 0.5}},
		{"prism", "resized to a square of 256/224 of the network's size, cropped anywhere, half of them mirrored",
			Augmentation{Crop: cropRandom, Exact: true, Flip: 0.5}},
		{"prism_released", "a part of 20 to 100 % of the picture, half of them mirrored",
			Augmentation{Crop: cropResized, Scale: [2]float64{0.2, 1}, Flip: 0.5}},
		{"adapted_triplet", "as prism, never mirrored",
			Augmentation{Crop: cropRandom, Exact: true}},
		{"supcon",
			"a part of 20 to 100 % of the picture, half of them mirrored, colours changed in 80 %, grey in 20 %",
			Augmentation{
				Crop: cropResized, Scale: [2]float64{0.2, 1},
				Flip: 0.5, Jitter: colour, JitterP: 0.8, Grey: 0.2,
			}},
		{"imagenet", "a part of 8 to 100 % of the picture, half of them mirrored",
			Augmentation{Crop: cropResized, Flip: 0.5}},
		{"cifar", "4 pixels of black around the picture, cropped anywhere, half of them mirrored",
			Augmentation{Crop: cropRandom, Pad: 4, Flip: 0.5}},
		{"digits", "turned by up to 10 degrees, moved and zoomed by up to 10 %, never mirrored: for characters",
			Augmentation{Rotate: 10, Shift: 0.1, Zoom: 0.1}},
	}
}

// ParseAugmentation returns the augmentation of the Recipe with this name.
func ParseAugmentation(name string) (Augmentation, error) {
	r, err := catalog.Find("backbone: augmentation", name, Recipes(),
		func(r Recipe) []string { return []string{r.Name} })
	return r.Augmentation, err
}
