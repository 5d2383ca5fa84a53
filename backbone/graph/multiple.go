package graph

import (
	"strconv"
	"strings"
)

// A free size times a known number keeps a name that says so, such as "2*N". Attention merges its heads into
// the batch and splits them again, and the intermediate sizes must be distinguishable from all others.

// maxMultiple limits the factor; no real size comes near.
const maxMultiple = 1 << 40

// maxName limits the name of a multiplied size, because every product has its own name.
const maxName = 200

// splitMultiple splits the name of a free size: "2*N" is 2 times "N", "N" is 1 times "N".
func splitMultiple(name string) (factor int64, base string) {
	number, rest, found := strings.Cut(name, "*")
	if !found || rest == "" || len(number) > 13 { // an error of ParseInt would hold a copy of the text
		return 1, name
	}
	if k, err := strconv.ParseInt(number, 10, 64); err == nil && k > 0 && k <= maxMultiple {
		return k, rest
	}
	return 1, name
}

// scaleDim returns a free size times a known number, unnamed if the size is.
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

// divideDim returns a free size divided by a known number, unnamed if there is a remainder.
func divideDim(name string, by int64) Dim {
	k, base := splitMultiple(name)
	if by < 1 || k%by != 0 {
		return Free("")
	}
	return scaleDim(base, k/by)
}
