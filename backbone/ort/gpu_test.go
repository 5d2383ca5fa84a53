package ort

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The names and values are those of ONNX Runtime's documentation of the CUDA provider. Only a GPU can show whether the
// provider accepts them.
func TestGPUOptions(t *testing.T) {
	for name, c := range map[string]struct {
		gpu   GPU
		index int
		want  map[string]string
		marks string
	}{
		"default": {GPU{}, 0, map[string]string{"device_id": "0", "cudnn_conv_algo_search": "HEURISTIC",
			"use_tf32": "0"}, ""},
		"all": {GPU{Memory: 6 << 30, TF32: true}, 1, map[string]string{"device_id": "1",
			"cudnn_conv_algo_search": "HEURISTIC", "use_tf32": "1", "gpu_mem_limit": "6442450944",
			"arena_extend_strategy": "kSameAsRequested"}, "+tf32"},
	} {
		if err := c.gpu.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, c.gpu.cudaOptions(c.index)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, device := range []Device{{}, {CUDA: true, Index: c.index}} {
			want := device.String()
			if device.CUDA {
				want += c.marks
			}
			if got := (&Runtime{device: device, gpu: c.gpu}).Where(); got != want {
				t.Errorf("%s on %v: made on %q, expected %q", name, device, got, want)
			}
		}
	}
	for _, bad := range []GPU{{Memory: -1}, {Memory: 4}, {Memory: math.MinInt64}} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
		if _, err := Load(Config{Library: "no such library", GPU: bad}); err == nil ||
			!strings.Contains(err.Error(), "expected") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
