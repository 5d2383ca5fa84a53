//go:build race

package main

// raced reports whether the race detector watches these tests, which makes them some ten times slower.
const raced = true
