package main

import (
	"encoding/json"
	"io"
)

// printJSON writes v as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// first is at most n of a list.
func first[T any](list []T, n int) []T { return list[:min(max(n, 0), len(list))] }
