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

// View is one of the versions of an image that become vectors. A view depends only on the image and the view's name,
// not on when and where it is made or on other images.
type View struct {
	Name         string // "center", "flip", or e.g. "prism.2@7": the second view by the recipe prism with seed 7
	Augmentation Augmentation
}

// CenterName is the name of the view used in evaluation.
const CenterName = "center"

// centreView returns the evaluation view, which is the first of all views.
func centreView() View { return View{Name: CenterName} }

// ParseViews parses a list of views: parts joined by +. Each part is "center", "flip" (the centre view, mirrored) or
// N*RECIPE (N random views by one of the [Recipes], drawn with seed). The centre is always the first view, even if it
// is not named.
func ParseViews(text string, seed uint64) ([]View, error) {
	list := []View{centreView()}
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
				return nil, fmt.Errorf("backbone: views %q: %s appears twice", text, part)
			}
		}
		list = append(list, more...)
	}
	if len(list) > features.MaxViews {
		return nil, fmt.Errorf("backbone: views %q: %d views, expected at most %d", text, len(list), features.MaxViews)
	}
	return list, nil
}

// parseViews parses one part of a list of views.
func parseViews(part string, seed uint64) ([]View, error) {
	switch part {
	case CenterName:
		return []View{centreView()}, nil
	case "flip":
		return []View{{Name: part, Augmentation: Augmentation{Flip: 1}}}, nil
	}
	count, recipe, ok := strings.Cut(part, "*")
	if !ok {
		return nil, fmt.Errorf("backbone: view %q is unknown, expected center, flip or N*RECIPE, for example 4*prism",
			part)
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > features.MaxViews {
		return nil, fmt.Errorf("backbone: views %q: found %q, expected a number of views, 1 to %d",
			part, count, features.MaxViews)
	}
	a, err := ParseAugmentation(recipe)
	if err != nil {
		return nil, err
	}
	if a == (Augmentation{Flip: a.Flip}) {
		return nil, fmt.Errorf("backbone: views %q: %s is not random, "+
			"expected center, center+flip or another recipe", part, recipe)
	}
	list := make([]View, n)
	for i := range list {
		list[i] = View{Name: fmt.Sprintf("%s.%d@%d", recipe, i+1, seed), Augmentation: a}
	}
	return list, nil
}

// ViewNames returns the names of cfg's views. They are part of a store's key.
func (cfg ExtractConfig) ViewNames() []string {
	views := cfg.configuredViews()
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = v.Name
	}
	return names
}

// newViewRand returns the random generator for this view of one image, or nil if the view uses no random numbers. The
// generator is a PCG, seeded by a hash of the image's path and the view's name, which includes the seed.
func (v View) newViewRand(path string) *rand.Rand {
	if v.Augmentation == (Augmentation{}) {
		return nil
	}
	sum := sha256.Sum256([]byte("view\x00" + v.Name + "\x00" + path))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}
