package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseSeeds parses a number of repetitions, or a list such as 1,3,7-9. It returns no seeds for "".
func ParseSeeds(given string) (seeds []uint64, err error) {
	if given == "" {
		return nil, nil
	}
	text := given
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 1000 {
		text = fmt.Sprintf("1-%d", n)
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), "-")
		if !span {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || a < 1 || b < a || b-a >= 1000 {
			return nil, fmt.Errorf("found %q, expected a number of repetitions, or a list such as 1,3,7-9", given)
		}
		for s := a; s <= b; s++ {
			seeds = append(seeds, s)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(seeds))), nil
}
