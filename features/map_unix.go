//go:build unix

package features

import (
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped holds all mappings.
var mapped struct {
	sync.Mutex
	list [][]byte
}

// MapFloats maps the first size bytes of a file as float32, without reading them. It returns nil if the system refuses
// or uses another byte order than the file. The file may grow in the meantime but must not become smaller than size.
func MapFloats(f *os.File, size int64) ([]float32, func() error) {
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) != 1 || int64(int(size)) != size {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil
	}
	mapped.Lock()
	defer mapped.Unlock()
	mapped.list = append(mapped.list, data)
	return unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), size/4), func() error {
		mapped.Lock()
		defer mapped.Unlock()
		mapped.list = slices.DeleteFunc(mapped.list, func(m []byte) bool { return &m[0] == &data[0] })
		return unix.Munmap(data)
	}
}

// ReleasePages removes the pages of all mapped files from the program's resident memory. The system reads them again,
// usually from its cache, when they are used.
func ReleasePages() {
	mapped.Lock()
	defer mapped.Unlock()
	for _, data := range mapped.list {
		_ = unix.Madvise(data, unix.MADV_DONTNEED) // otherwise the pages stay
	}
}
