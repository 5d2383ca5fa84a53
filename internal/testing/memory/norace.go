//go:build !race

package memory

const race = false
