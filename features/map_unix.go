//go:build unix

package features

import (
	"os"
	"syscall"
	"unsafe"
)

// MapFloats maps the first size bytes of a file as float32, without reading them. It returns nil if the system refuses
// or uses another byte order than the file. The file may grow in the meantime but must not become smaller than size.
func MapFloats(f *os.File, size int64) ([]float32, func() error) {
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) != 1 || int64(int(size)) != size {
		return nil, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), size/4), func() error { return syscall.Munmap(data) }
}
