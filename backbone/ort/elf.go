package ort

import (
	"debug/elf"
	"fmt"
)

// listImports lists the libraries that a shared library names as its dependencies.
func listImports(path string) ([]string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("not a shared library: %w", err)
	}
	defer file.Close()
	return file.ImportedLibraries()
}
