package term

import (
	"encoding/json"
	"io"
)

// JSON writes v as indented JSON.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// First is at most n of a list.
func First[T any](list []T, n int) []T { return list[:min(max(n, 0), len(list))] }
