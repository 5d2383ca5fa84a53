package ort

import (
	"fmt"
	"path/filepath"
	"syscall"
	"unsafe"
)

// apiBase is the stable entry of ONNX Runtime's C interface: two function pointers.
type apiBase struct{ getAPI, getVersion uintptr }

func libraryBase(path string) (*apiBase, error) {
	dll, err := syscall.LoadDLL(path)
	if err != nil {
		return nil, fmt.Errorf("ort: %s: not a library this system can load: %w", path, err)
	}
	proc, err := dll.FindProc("OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("ort: %s: a library without OrtGetApiBase, expected ONNX Runtime", path)
	}
	base, _, _ := proc.Call()
	if base == 0 {
		return nil, fmt.Errorf("ort: %s: OrtGetApiBase returns nothing", path)
	}
	return *(**apiBase)(unsafe.Pointer(&base)), nil
}

// libraryVersion asks a library for its version before the wrapper, which cannot load an old one, opens it.
func libraryVersion(path string) (string, error) {
	base, err := libraryBase(path)
	if err != nil {
		return "", err
	}
	text, _, _ := syscall.SyscallN(base.getVersion)
	return text8(text), nil
}

// libraryProviders returns the execution providers that a library was built with. It uses positions 125 and 126
// of the C interface's table, which only grows at its end.
func libraryProviders(path string) ([]string, error) {
	base, err := libraryBase(path)
	if err != nil {
		return nil, err
	}
	table, _, _ := syscall.SyscallN(base.getAPI, 1)
	if table == 0 {
		return nil, nil
	}
	api := *(**[127]uintptr)(unsafe.Pointer(&table))
	var names uintptr
	var count int32
	status, _, _ := syscall.SyscallN(api[125], uintptr(unsafe.Pointer(&names)), uintptr(unsafe.Pointer(&count)))
	if status != 0 {
		return nil, fmt.Errorf("ort: %s: the list of providers cannot be read", path)
	}
	if count == 0 {
		return nil, nil
	}
	list := make([]string, count)
	for i, name := range unsafe.Slice(*(**uintptr)(unsafe.Pointer(&names)), count) {
		list[i] = text8(name)
	}
	syscall.SyscallN(api[126], names, uintptr(count))
	return list, nil
}

// text8 reads a zero-terminated string that the library owns.
func text8(p uintptr) string {
	if p == 0 {
		return ""
	}
	start := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}

// openBeside loads a library by name, from where the system finds it or else from a folder.
func openBeside(folder, name string) error {
	_, err := syscall.LoadDLL(name)
	if err == nil {
		return nil
	}
	if _, beside := syscall.LoadDLL(filepath.Join(folder, name)); beside == nil {
		return nil
	}
	return err
}
