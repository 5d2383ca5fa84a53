package ort

import (
	"fmt"
	"syscall"
	"unsafe"
)

// apiTable returns ONNX Runtime's table of functions from a loaded library.
func apiTable(library string) (unsafe.Pointer, error) {
	base, err := libraryBase(library)
	if err != nil {
		return nil, err
	}
	table, _, _ := syscall.SyscallN(base.getAPI, 1)
	if table == 0 {
		return nil, fmt.Errorf("ort: %s: no table of functions, expected ONNX Runtime's", library)
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&table)), nil
}
