package config

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/train"
)

// ParseBatch reads PxK, or N rows where the sampler's variant draws rows.
func ParseBatch(text, variant string) (classes, images, rows int, err error) {
	if variant == train.Shuffle {
		if rows, err = strconv.Atoi(text); err != nil {
			return 0, 0, 0, fmt.Errorf("found %q, expected a number of images, as the sampler is %s", text, variant)
		}
		return 0, 0, rows, nil
	}
	p, k, ok := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	classes, err1 := strconv.Atoi(p)
	images, err2 := strconv.Atoi(k)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, 0, fmt.Errorf("found %q, expected classes x images, for example 16x4", text)
	}
	return classes, images, 0, nil
}
