package datasets

import (
	"context"
)

// boxForms are the forms of files of boxes.
var boxForms = []*annotations{&yolo, &voc, &labelMe}

// boxes reads the labelled boxes of a folder, or returns nil if there are none.
func (t *listing) boxes(ctx context.Context, at, name string, opts ReadOptions) (*Dataset, error) {
	b, err := t.boxFilesAt(at)
	if b == nil || err != nil {
		return nil, err
	}
	return t.readBoxes(ctx, b, name, opts)
}

// boxFilesAt returns the files of boxes of a folder, or nil if there are none.
func (t *listing) boxFilesAt(at string) (*boxFiles, error) {
	return t.sidecarsOf(at)
}
