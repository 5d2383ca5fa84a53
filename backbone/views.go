package backbone

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"winnow/features"
)

// View is one of the pictures that are made of each image. What it shows is a function of the image and of the
// view's name, so that it does not matter when, where and beside which other images it is made.
type View struct {
	Name         string // "center", "flip", or for example "prism.2@7": the second by the recipe prism with seed 7
	Augmentation Augmentation
}

// CenterName names the view that evaluation looks at.
const CenterName = "center"

// Center returns the evaluation view, the first of all views.
func Center() View { return View{Name: CenterName} }

// ParseViews reads what views are asked for: parts with + between them, each "center", "flip" (the centre, mirrored) or
// N*RECIPE, N random pictures by one of the [Recipes], drawn by seed. The centre is always there and first, whether
// it is named or not.
func ParseViews(text string, seed uint64) ([]View, error) {
	list := []View{Center()}
	for i, part := range strings.Split(text, "+") {
		if i == 0 && part == CenterName {
			continue
		}
		more, err := parseViews(part, seed)
		if err != nil {
			return nil, err
		}
		for _, v := range more {
			if slices.ContainsFunc(list, func(w View) bool { return w.Name == v.Name }) {
				return nil, fmt.Errorf("backbone: views %q: %s is there twice", text, part)
			}
		}
		list = append(list, more...)
	}
	if len(list) > features.MaxViews {
		return nil, fmt.Errorf("backbone: views %q: %d views, expected at most %d", text, len(list), features.MaxViews)
	}
	return list, nil
}

// parseViews reads one part.
func parseViews(part string, seed uint64) ([]View, error) {
	switch part {
	case CenterName:
		return []View{Center()}, nil
	case "flip":
		return []View{{Name: part, Augmentation: Augmentation{Flip: 1}}}, nil
	}
	count, recipe, ok := strings.Cut(part, "*")
	if !ok {
		return nil, fmt.Errorf("backbone: view %q is unknown, expected center, flip or N*RECIPE, for example 4*prism", part)
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > features.MaxViews {
		return nil, fmt.Errorf("backbone: views %q: found %q, expected how many, 1 to %d", part, count, features.MaxViews)
	}
	a, err := ParseAugmentation(recipe)
	if err != nil {
		return nil, err
	}
	if a == (Augmentation{Flip: a.Flip}) {
		return nil, fmt.Errorf("backbone: views %q: %s draws nothing that center and flip do not show, expected center, center+flip or another recipe", part, recipe)
	}
	list := make([]View, n)
	for i := range list {
		list[i] = View{Name: fmt.Sprintf("%s.%d@%d", recipe, i+1, seed), Augmentation: a}
	}
	return list, nil
}

// ViewNames returns the names of cfg's views as a store's key has them.
func (cfg ExtractConfig) ViewNames() []string {
	views := cfg.views()
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = v.Name
	}
	return names
}

// draw returns the random source of the view of one image, nil where nothing is drawn: PCG seeded by a hash of the
// view's name, which holds the seed, and the image's path.
func (v View) draw(path string) *rand.Rand {
	if v.Augmentation == (Augmentation{}) {
		return nil
	}
	sum := sha256.Sum256([]byte("view\x00" + v.Name + "\x00" + path))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}
