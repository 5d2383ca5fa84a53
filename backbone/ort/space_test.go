package ort

import (
	"errors"
	"strings"
	"testing"
)

func TestShort(t *testing.T) {
	for text, want := range map[string]bool{
		"Error creating ORT environment: Exception caught: std::bad_alloc":               true,
		"libonnxruntime.so.1: failed to map segment from shared object":                  true,
		"pthread_create failed, error code: 12 error msg: Cannot allocate memory":        true,
		"libonnxruntime.so.1: cannot open shared object file: No such file or directory": false,
		"libonnxruntime.so.1: invalid ELF header":                                        false,
	} {
		if Short(errors.New(text)) != want {
			t.Errorf("%s: found %v", text, !want)
		}
	}
	if Short(nil) {
		t.Error("no error is short of memory")
	}
}

func TestShortOfSpace(t *testing.T) {
	if err := shortOfSpace(0, 64); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if err := shortOfSpace(3<<30, 2); err != nil {
		t.Errorf("enough: %v", err)
	}
	err := shortOfSpace(1900<<20, 2)
	if !Short(err) || !strings.Contains(err.Error(),
		"limited to 1900 MiB (ulimit -v), expected 2560 MiB or more for 2 threads") {
		t.Errorf("too little: %v", err)
	}
}
