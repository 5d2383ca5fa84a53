package ort

import (
	"debug/elf"
	"fmt"
	"io"

	"winnow/internal/regular"
)

// whole refuses an ELF library that ends before its segments do. The system's loader maps such a file and then
// dies of a bus error. Files of other formats are left to their loaders.
func whole(path string) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != elf.ELFMAG {
		return nil // not ELF: left to the loader
	}
	library, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("the file is cut short or damaged: %w", err)
	}
	for _, p := range library.Progs {
		if end := p.Off + p.Filesz; end < p.Off || end > uint64(info.Size()) {
			return fmt.Errorf("the file is cut short: found %d bytes, expected %d or more", info.Size(), end)
		}
	}
	return nil
}

// listImports lists the libraries that a shared library names as its dependencies.
func listImports(path string) ([]string, error) {
	if err := whole(path); err != nil {
		return nil, err
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("not a shared library: %w", err)
	}
	defer file.Close()
	return file.ImportedLibraries()
}
