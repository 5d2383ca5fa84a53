package graph

import (
	"strconv"
	"strings"
)

// The product of a free size and a known number has a name that shows both, such as "2*N". Attention merges its heads
// into the batch and splits them again, so the sizes in between must be distinguishable from other sizes.

// maxMultiple limits the factor; real sizes are far smaller.
const maxMultiple = 1 << 40

// maxName limits the length of a product's name, because every product has its own name.
const maxName = 200

// splitMultiple splits the name of a free size: "2*N" gives 2 and "N", "N" gives 1 and "N".
func splitMultiple(name string) (factor int64, base string) {
	number, rest, found := strings.Cut(name, "*")
	if !found || rest == "" || len(number) > 13 { // longer numbers are rejected: ParseInt's error would copy the text
		return 1, name
	}
	if k, err := strconv.ParseInt(number, 10, 64); err == nil && k > 0 && k <= maxMultiple {
		return k, rest
	}
	return 1, name
}

// scaleDim returns the product of a free size and a known number; the product of an unnamed size is unnamed.
func scaleDim(name string, by int64) Dim {
	k, base := splitMultiple(name)
	switch {
	case base == "" || len(base) > maxName || by < 1 || by > maxMultiple/k:
		return Free("")
	case k*by == 1:
		return Free(base)
	}
	return Free(strconv.FormatInt(k*by, 10) + "*" + base)
}

// divideDim returns the quotient of a free size and a known number; the result is unnamed if there is a remainder.
func divideDim(name string, by int64) Dim {
	k, base := splitMultiple(name)
	if by < 1 || k%by != 0 {
		return Free("")
	}
	return scaleDim(base, k/by)
}
