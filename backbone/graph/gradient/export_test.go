package gradient

import (
	"maps"
	"slices"
	"strings"
)

// Operators returns the names of ONNX's operators that have a derivative.
func Operators() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(rules)), func(op string) bool { return strings.Contains(op, ".") })
}
