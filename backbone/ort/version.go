package ort

import (
	"strconv"
	"strings"
)

// oldestVersion is the oldest library with the interface that the wrapper needs: onnxruntime_go v1.35.0 asks
// for version 29 of the C interface, and a library supports all versions up to its own.
const oldestVersion = "1.29.0"

// atLeast compares dotted versions number by number and ignores everything after the third number. A version
// that cannot be parsed passes: the wrapper checks again at start.
func atLeast(version, oldest string) bool {
	have, ok := parseVersion(version)
	if !ok {
		return true
	}
	need, _ := parseVersion(oldest)
	for i := range need {
		if have[i] != need[i] {
			return have[i] > need[i]
		}
	}
	return true
}

func parseVersion(version string) (n [3]int, ok bool) {
	for i, part := range strings.SplitN(version, ".", 4) {
		if i == 3 {
			break
		}
		digits := part
		if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = part[:end]
		}
		v, err := strconv.Atoi(digits)
		if err != nil {
			return n, false
		}
		n[i] = v
	}
	return n, true
}
