package ort

import (
	"path/filepath"
	"strings"
	"testing"
)

// If a library rejects winnow's operators, it is used without them, unless a set is requested by name.
func TestKernelsMissing(t *testing.T) {
	kept := process.kernels
	defer func() { process.kernels = kept }()
	none := filepath.Join(t.TempDir(), "none.so")
	if err := loadKernels(none, ""); err != nil || process.kernels != nil {
		t.Errorf("%v, kernels %v: expected none, and no error", err, process.kernels)
	}
	if err := loadKernels(none, "plain"); err == nil {
		t.Error("missing kernels that were requested by name gave no error")
	}
	if err := loadKernels(none, "sse9"); err == nil || !strings.Contains(err.Error(), `found "sse9"`) {
		t.Error(err)
	}
}
