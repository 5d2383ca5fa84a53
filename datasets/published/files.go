package published

import (
	"os"

	"winnow/datasets"
)

// ReadListFile reads one of PRISM's lists, nil for no name.
func ReadListFile(name string) (*datasets.Dataset, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadList(f, name)
}

// ReadFile reads a file whole, nil for no name.
func ReadFile(name string) (*File, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &File{Name: name, Data: data}, nil
}
