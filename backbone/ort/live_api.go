//go:build !windows

package ort

/*
typedef const void *const *(*winnow_get_api)(unsigned int version);
static const void *winnow_table(const void *base) {
	return ((winnow_get_api)(*(void *const *)base))(1);
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// apiTable returns ONNX Runtime's table of functions from a loaded library.
func apiTable(library string) (unsafe.Pointer, error) {
	base, err := libraryBase(library)
	if err != nil {
		return nil, err
	}
	table := C.winnow_table(unsafe.Pointer(base))
	if table == nil {
		return nil, fmt.Errorf("ort: %s: no table of functions, expected ONNX Runtime's", library)
	}
	return unsafe.Pointer(table), nil
}
