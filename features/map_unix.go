//go:build unix

package features

import (
	"os"
	"syscall"
	"unsafe"
)

// MapFloats views the first size bytes of a file as float32 without reading them. It returns nil if the system
// refuses or has another byte order than the file. The file may grow meanwhile but must not shrink below size.
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
