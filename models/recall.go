package models

import (
	"cmp"
	"errors"
	"fmt"
	"os"
)

// ErrNoBackbone means that no known file has the SHA-256.
var ErrNoBackbone = errors.New("no model file with this sha256 is known here")

// Recall finds the backbone with this SHA-256 among the entries of the registry and then at the paths. Its error
// describes the first file that should have this SHA-256 but does not.
func (r *Registry) Recall(sum string, paths ...string) (*Backbone, error) {
	var missing error
	for _, e := range r.Entries() {
		if e.SHA256 != sum && e.SHA256 != "" {
			continue
		}
		b, err := r.openEntry(e)
		if err == nil && b.SHA256 == sum {
			return b, nil
		}
		if err != nil && e.SHA256 == sum {
			missing = err
		}
	}
	for _, path := range paths {
		b, _, err := r.loadBackbone(path)
		if err == nil && b.SHA256 == sum {
			return b, nil
		}
		if _, gone := os.Stat(path); gone == nil {
			missing = cmp.Or(missing, err)
		}
	}
	if missing != nil {
		return nil, missing
	}
	return nil, fmt.Errorf("models: %s: %w", sum, ErrNoBackbone)
}

// Match reads the backbone of a name or path. It is an error if its sha256 differs from sum.
func (r *Registry) Match(name, sum string) (*Backbone, error) {
	b, _, err := r.loadBackbone(name)
	if err != nil {
		return nil, err
	}
	if b.SHA256 != sum {
		return nil, fmt.Errorf("models: %q: found sha256 %s, expected %s", name, b.SHA256, sum)
	}
	return b, nil
}
