package eval

import "testing"

func TestKeepShare(t *testing.T) {
	kept := KeepShare([]float64{0.5, 0.1, 0.1, 0.9}, 0.5)
	for i, want := range []bool{true, false, false, true} {
		if kept[i] != want {
			t.Fatalf("kept %v", kept)
		}
	}
}
