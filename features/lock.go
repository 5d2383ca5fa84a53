package features

import (
	"io"
	"os"
	"path/filepath"
)

// Lock holds a folder for one writer, until it is closed or the process ends.
func Lock(dir string) (io.Closer, error) {
	f, err := lockFolder(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	return held{f}, nil
}

type held struct{ file *os.File }

func (h held) Close() error {
	unlockFolder(h.file)
	return nil
}
