//go:build !race

package main

// raced reports whether the race detector watches these tests.
const raced = false
