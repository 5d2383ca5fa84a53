package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/internal/atomicfile"
)

// AddNew writes a model that the program made and adds it to the user's registry. Without a path the file is stored
// next to the registry under the entry's name. An existing file is never replaced unless it is identical. Nothing
// is written if the name is taken or the model cannot be cut to a feature vector.
func (r *Registry) AddNew(e Entry, data []byte, path string) (*Backbone, *Prepared, error) {
	if err := r.checkNameFree(e); err != nil {
		return nil, nil, err
	}
	path = cmp.Or(path, filepath.Join(filepath.Dir(r.path), e.Name+".onnx"))
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("models: %w", err)
	}
	e.File, e.SHA256 = path, Sum(data)
	b := &Backbone{Entry: e, Path: path, Data: data, Size: int64(len(data))}
	p, err := Prepare(b, "")
	if err != nil {
		return nil, nil, err
	}
	if err := writeNew(path, data); err != nil {
		return nil, nil, err
	}
	return b, p, r.addEntry(e)
}

// checkNameFree returns an error if add would reject the entry's name; it is called before the file is written.
func (r *Registry) checkNameFree(e Entry) error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	if _, taken := r.Entry(e.Name); taken {
		return fmt.Errorf("models: name %q is taken: choose another, or remove an entry of your own first (winnow "+
			"models remove %s)", e.Name, e.Name)
	}
	return nil
}

// writeNew writes a file. It is an error if the file exists with other bytes.
func writeNew(path string, data []byte) error {
	old, err := readFile(path)
	switch {
	case err == nil && old.sum == Sum(data):
		return nil
	case err == nil:
		return fmt.Errorf("models: %s: exists with sha256 %s, the new model has %s: remove it or name another file",
			path, old.sum, Sum(data))
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("models: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if err := atomicfile.WriteBytes(path, data); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
