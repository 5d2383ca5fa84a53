package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Renaming changes each label independently with probability Rate to the class that To assigns to it. Classes missing
// in To keep their labels (asymmetric noise, METHODS 14.4).
type Renaming struct {
	Rate float64
	To   map[string]string // class name → class name
}

// Corrupt implements Noise.
func (r Renaming) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	id := make(map[string]int, len(classes))
	for k, name := range classes {
		id[name] = k
	}
	to := make([]int, len(classes))
	moved := 0
	for k, name := range classes {
		target, ok := id[r.To[name]]
		if to[k] = k; ok && target != k {
			to[k] = target
			moved++
		}
	}
	if moved == 0 {
		return nil, fmt.Errorf("datasets: this noise model renames none of the %d classes (%q, …) to another of them",
			len(classes), classes[0])
	}
	out := slices.Clone(labels)
	for i, label := range labels {
		if rng.Float64() < r.Rate {
			out[i] = to[label]
		}
	}
	return out, nil
}

// cifaR10 returns the usual asymmetric noise for CIFAR-10: truck → automobile, bird → airplane, cat ↔ dog, deer →
// horse. The map contains the classes both by name and by number, 0 to 9.
func cifaR10() map[string]string {
	names := []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
	return withNumbers(names, map[string]string{"truck": "automobile", "bird": "airplane", "cat": "dog", "dog": "cat",
		"deer": "horse"})
}

// cifaR100 returns the usual asymmetric noise for CIFAR-100: every class becomes the next class in its superclass of
// five, and the last becomes the first. The map contains the classes both by name and by number, 0 to 99.
func cifaR100() map[string]string {
	to := make(map[string]string)
	var names []string
	for _, five := range superclasses {
		for k, name := range five {
			to[name] = five[(k+1)%len(five)]
			names = append(names, name)
		}
	}
	slices.Sort(names) // CIFAR-100 numbers its classes in this order
	return withNumbers(names, to)
}

// withNumbers adds to a map between class names the same map between class numbers.
func withNumbers(names []string, to map[string]string) map[string]string {
	for k, name := range names {
		if target, ok := to[name]; ok {
			to[strconv.Itoa(k)] = strconv.Itoa(slices.Index(names, target))
		}
	}
	return to
}

// superclasses lists the classes of CIFAR-100's superclasses, each in the order of the class numbers.
var superclasses = [20][5]string{
	{"beaver", "dolphin", "otter", "seal", "whale"},
	{"aquarium_fish", "flatfish", "ray", "shark", "trout"},
	{"orchid", "poppy", "rose", "sunflower", "tulip"},
	{"bottle", "bowl", "can", "cup", "plate"},
	{"apple", "mushroom", "orange", "pear", "sweet_pepper"},
	{"clock", "keyboard", "lamp", "telephone", "television"},
	{"bed", "chair", "couch", "table", "wardrobe"},
	{"bee", "beetle", "butterfly", "caterpillar", "cockroach"},
	{"bear", "leopard", "lion", "tiger", "wolf"},
	{"bridge", "castle", "house", "road", "skyscraper"},
	{"cloud", "forest", "mountain", "plain", "sea"},
	{"camel", "cattle", "chimpanzee", "elephant", "kangaroo"},
	{"fox", "porcupine", "possum", "raccoon", "skunk"},
	{"crab", "lobster", "snail", "spider", "worm"},
	{"baby", "boy", "girl", "man", "woman"},
	{"crocodile", "dinosaur", "lizard", "snake", "turtle"},
	{"hamster", "mouse", "rabbit", "shrew", "squirrel"},
	{"maple_tree", "oak_tree", "palm_tree", "pine_tree", "willow_tree"},
	{"bicycle", "bus", "motorcycle", "pickup_truck", "train"},
	{"lawn_mower", "rocket", "streetcar", "tank", "tractor"},
}
