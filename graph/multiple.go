package graph

import (
	"strconv"
	"strings"
)

// A free size times a known number keeps a name that says so, "2*N": attention folds its heads into the batch
// and takes them out again, and the sizes on the way must still be told apart from any others.

// maxMultiple bounds the factor; no real size comes near.
const maxMultiple = 1 << 40

// maxName bounds the name of a size that is multiplied, as every product has a name of its own.
const maxName = 200

// multiple splits the name of a free size: "2*N" is 2 times "N", "N" once.
func multiple(name string) (factor int64, base string) {
	number, rest, found := strings.Cut(name, "*")
	if !found || rest == "" || len(number) > 13 { // an error of ParseInt holds a copy of what is no number
		return 1, name
	}
	if k, err := strconv.ParseInt(number, 10, 64); err == nil && k > 0 && k <= maxMultiple {
		return k, rest
	}
	return 1, name
}

// scaled returns a free size times a known number, without a name where it has none to begin with.
func scaled(name string, by int64) Dim {
	k, base := multiple(name)
	switch {
	case base == "" || len(base) > maxName || by < 1 || by > maxMultiple/k:
		return Free("")
	case k*by == 1:
		return Free(base)
	}
	return Free(strconv.FormatInt(k*by, 10) + "*" + base)
}

// divided returns a free size divided by a known number, without a name where that leaves a remainder.
func divided(name string, by int64) Dim {
	k, base := multiple(name)
	if by < 1 || k%by != 0 {
		return Free("")
	}
	return scaled(base, k/by)
}
