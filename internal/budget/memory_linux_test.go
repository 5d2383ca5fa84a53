package budget

import "testing"

func TestAvailableMemory(t *testing.T) {
	if n, ok := Available(); !ok || n < 1<<20 || n > 1<<50 {
		t.Errorf("%d bytes at hand, %v", n, ok)
	}
}
