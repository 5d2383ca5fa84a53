package term

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"syscall"

	"winnow/internal/seal"
)

// adviseByKind returns what to do about an error for which the rooms have no hint, by its kind, or "". An error of a
// room that may import no hints says it by a method Advice.
func adviseByKind(err error) string {
	for _, kind := range kinds {
		for _, is := range kind.is {
			if errors.Is(err, is) {
				return kind.advice
			}
		}
	}
	var advised interface {
		error
		Advice() string
	}
	if errors.As(err, &advised) {
		return advised.Advice()
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return restore
	}
	return ""
}

const restore = "restore it from a copy, or make it again with the command that wrote it"

var kinds = []struct {
	is     []error
	advice string
}{
	{[]error{seal.ErrChanged, seal.ErrShort, io.ErrUnexpectedEOF}, restore},
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "free some space, or write elsewhere: the same command can be repeated"},
	{[]error{syscall.EROFS}, "write elsewhere: nothing can be written there"},
	{[]error{syscall.ENAMETOOLONG}, "give a shorter name: most systems allow 255 bytes"},
	{[]error{syscall.ELOOP}, "fix the links: they lead in a circle"},
	{[]error{syscall.EMFILE, syscall.ENFILE}, "allow more open files (ulimit -n), or end other programs"},
	{[]error{fs.ErrPermission}, "run as who owns it, or allow it with chmod"},
	{[]error{syscall.ENOTDIR, syscall.EISDIR}, "give another name, or move what is there out of the way"},
	{[]error{syscall.EIO}, "check the disk: the system could not read or write it"},
}
