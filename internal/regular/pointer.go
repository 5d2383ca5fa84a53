package regular

import (
	"bytes"
	"errors"
)

// errPointer is the error for a file that Git LFS has not fetched.
var errPointer = errors.New("this is a Git LFS pointer, not the file itself: fetch the file with git lfs pull")

// Pointer returns an error if head, the first bytes of a file, is a Git LFS pointer instead of the file's content.
func Pointer(head []byte) error {
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")) {
		return errPointer
	}
	return nil
}
