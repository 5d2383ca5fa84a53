package ort

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// The two stable functions of ONNX Runtime's C interface. OrtApi is a table of function pointers that grows only at
// its end; the numbers below are indices in the table, valid since version 1.
typedef struct {
	const void *const *(*GetApi)(uint32_t version);
	const char *(*GetVersionString)(void);
} ort_base;
typedef const ort_base *(*get_base)(void);
enum { ORT_GET_ERROR_MESSAGE = 2, ORT_RELEASE_STATUS = 93, ORT_GET_PROVIDERS = 125, ORT_RELEASE_PROVIDERS = 126 };

static const ort_base *base_of(void *handle) {
	get_base get = (get_base)dlsym(handle, "OrtGetApiBase");
	return get ? get() : NULL;
}

static const void *table_of(const ort_base *base) { return base->GetApi(1); }

static const char *version_of(const ort_base *base) { return base->GetVersionString(); }

static void *providers_of(const ort_base *base, char ***names, int *count) {
	const void *const *api = base->GetApi(1);
	if (!api) { *count = 0; return NULL; }
	return ((void *(*)(char ***, int *))api[ORT_GET_PROVIDERS])(names, count);
}

static void release_providers(const ort_base *base, char **names, int count) {
	((void *(*)(char **, int))base->GetApi(1)[ORT_RELEASE_PROVIDERS])(names, count);
}

static void release_status(const ort_base *base, void *status) {
	((void (*)(void *))base->GetApi(1)[ORT_RELEASE_STATUS])(status);
}
*/
import "C"

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unsafe"
)

// open loads a library into the process permanently. Its symbols are not visible to other libraries.
func open(name string) (unsafe.Pointer, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	C.dlerror()
	handle := C.dlopen(cname, C.RTLD_LAZY|C.RTLD_LOCAL)
	if handle == nil {
		return nil, fmt.Errorf("%s", C.GoString(C.dlerror()))
	}
	return handle, nil
}

// libraryBase opens a library and returns its entry point, or an error that explains why the file is not ONNX Runtime.
func libraryBase(path string) (*C.ort_base, error) {
	if err := checkWhole(path); err != nil {
		return nil, err
	}
	handle, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("ort: %s: not a library this system can load: %w", path, err)
	}
	base := C.base_of(handle)
	if base == nil {
		return nil, fmt.Errorf("ort: %s: a library without OrtGetApiBase, expected ONNX Runtime", path)
	}
	return base, nil
}

// checkWhole rejects a library whose file is truncated, because loading it would crash the process. The section table
// of an ELF file is at its end.
func checkWhole(path string) error {
	f, err := elf.Open(path)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ort: %s: the file is cut short: install it again", path)
	}
	if err == nil {
		return f.Close()
	}
	return nil // dlopen reports what is wrong with other files
}

// libraryVersion reads the version of a library before the wrapper opens it, because the wrapper cannot load old
// versions.
func libraryVersion(path string) (string, error) {
	base, err := libraryBase(path)
	if err != nil {
		return "", err
	}
	return C.GoString(C.version_of(base)), nil
}

// libraryProviders returns the execution providers that a library was built with. The wrapper has no function for this.
func libraryProviders(path string) ([]string, error) {
	base, err := libraryBase(path)
	if err != nil {
		return nil, err
	}
	var names **C.char
	var count C.int
	if status := C.providers_of(base, &names, &count); status != nil {
		C.release_status(base, status)
		return nil, fmt.Errorf("ort: %s: the list of providers cannot be read", path)
	}
	list := make([]string, count)
	for i, name := range unsafe.Slice(names, int(count)) {
		list[i] = C.GoString(name)
	}
	if count > 0 {
		C.release_providers(base, names, count)
	}
	return list, nil
}

// openBeside loads a library by name, from where the system finds it or otherwise from a folder. Libraries that depend
// on it by name then find it loaded, so one folder with all libraries suffices.
func openBeside(folder, name string) error {
	_, err := open(name)
	if err == nil {
		return nil
	}
	if _, beside := open(filepath.Join(folder, name)); beside == nil {
		return nil
	}
	return err
}

// apiTable returns ONNX Runtime's function table from a loaded library.
func apiTable(library string) (unsafe.Pointer, error) {
	base, err := libraryBase(library)
	if err != nil {
		return nil, err
	}
	table := C.table_of(base)
	if table == nil {
		return nil, fmt.Errorf("ort: %s: no table of functions, expected ONNX Runtime's", library)
	}
	return unsafe.Pointer(table), nil
}
