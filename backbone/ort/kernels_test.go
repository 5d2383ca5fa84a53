package ort

import (
	"path/filepath"
	"strings"
	"testing"
)

// A library that refuses winnow's operators is used without them, unless they are requested by name.
func TestKernelsMissing(t *testing.T) {
	kept := process.kernels
	defer func() { process.kernels = kept }()
	none := filepath.Join(t.TempDir(), "none.so")
	if err := loadKernels(none, ""); err != nil || process.kernels != nil {
		t.Errorf("%v, kernels %v: expected none, and no error", err, process.kernels)
	}
	if err := loadKernels(none, "plain"); err == nil {
		t.Error("kernels that were named are missing without a word")
	}
	if err := loadKernels(none, "sse9"); err == nil || !strings.Contains(err.Error(), `found "sse9"`) {
		t.Error(err)
	}
}
