package ort

import "fmt"

// oldestVersion is the oldest library that supports the wrapper's interface: onnxruntime_go v1.35.0 requests version
// 29 of the C interface, and a library supports all versions up to its own.
const oldestVersion = "1.29.0"

// atLeast reports whether version is at least oldest, comparing the first two numbers. It returns true for a version
// that it cannot parse, because the wrapper checks again at start.
func atLeast(version, oldest string) bool {
	var have, need [2]int
	if _, err := fmt.Sscanf(version, "%d.%d", &have[0], &have[1]); err != nil {
		return true
	}
	_, _ = fmt.Sscanf(oldest, "%d.%d", &need[0], &need[1]) // a constant
	return have[0] > need[0] || have[0] == need[0] && have[1] >= need[1]
}
