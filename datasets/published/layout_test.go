package published

import (
	"slices"
	"testing"

	"winnow/datasets"
)

// Every file by which a folder is recognised belongs to the preset that is named.
func TestPublishedFiles(t *testing.T) {
	for file, name := range datasets.PublishedFiles {
		if p, err := Find(name); err != nil || !slices.Contains(p.Files, file) {
			t.Errorf("%s is no file of %s: %v, %v", file, name, p.Files, err)
		}
	}
}
