package published

import (
	"winnow/datasets"
	"winnow/internal/regular"
)

// ReadListFile reads one of PRISM's lists; it returns nil if name is "".
func ReadListFile(name string) (*datasets.Dataset, error) {
	if name == "" {
		return nil, nil
	}
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readList(f, name)
}

// ReadFile reads a whole file; it returns nil if name is "".
func ReadFile(name string) (*File, error) {
	if name == "" {
		return nil, nil
	}
	data, err := regular.ReadFile(name, maxLabelFile)
	if err != nil {
		return nil, err
	}
	return &File{Name: name, Data: data}, nil
}
