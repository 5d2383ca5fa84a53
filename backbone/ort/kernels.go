package ort

/*
#cgo CFLAGS: -O3

int winnow_instructions(void);
void *winnow_kernels(void *const *api, int lanes, void **domain);
void *winnow_add_kernels(void *const *api, void *options, void *domain);
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	ortgo "github.com/yalue/onnxruntime_go"
)

// lanes is the number of floats in a vector register of each instruction set.
var lanes = map[string]int{"plain": 4, "avx2": 8, "avx512": 16}

// loadKernels registers winnow's operators with the library, once per process. If the library rejects them, they are
// not used; it is an error only if instructions name a set.
func loadKernels(library, instructions string) error {
	if instructions == "none" {
		return nil
	}
	most := int(C.winnow_instructions())
	width, ok := lanes[instructions]
	if instructions == "" {
		width = most
	} else if !ok || width > most {
		return fmt.Errorf("ort: kernels: found %q, expected none, plain, or, if the processor has them, avx2 or avx512",
			instructions)
	}
	err := register(library, width)
	if err != nil {
		process.kernels = nil
	}
	if instructions == "" {
		return nil
	}
	return err
}

// register creates the operators' domain, with vectors of width floats.
func register(library string, width int) error {
	m, err := newStatus(library)
	if err != nil {
		return err
	}
	options := reflect.TypeFor[ortgo.SessionOptions]()
	if inner, ok := options.FieldByName("o"); !ok || inner.Type.Kind() != reflect.Pointer {
		return errors.New("ort: kernels: this version of onnxruntime_go stores its options in an unexpected way")
	}
	return m.check(C.winnow_kernels(m.api, C.int(width), &process.kernels))
}

// addKernels makes the operators available to the models of a session.
func addKernels(library string, opts *ortgo.SessionOptions, domain unsafe.Pointer) error {
	m, err := newStatus(library)
	if err != nil {
		return err
	}
	inner := reflect.ValueOf(opts).Elem().FieldByName("o").UnsafePointer()
	return m.check(C.winnow_add_kernels(m.api, inner, domain))
}

// newStatus returns a memory of which only the function table and check are used.
func newStatus(library string) (*memory, error) {
	table, err := apiTable(library)
	return &memory{api: (*unsafe.Pointer)(table)}, err
}
