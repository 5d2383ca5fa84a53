package interrupt_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"winnow/internal/interrupt"
)

func TestStreams(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out strings.Builder
	r, w := interrupt.NewReader(ctx, strings.NewReader("all of it")), interrupt.NewWriter(ctx, &out)
	some := make([]byte, 3)
	if n, err := r.Read(some); n != 3 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if _, err := w.Write(some); err != nil || w.Refused() || out.String() != "all" {
		t.Errorf("%v, %q", err, out.String())
	}
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
	if _, err := w.Write(some); !errors.Is(err, context.Canceled) || !w.Refused() || out.String() != "all" {
		t.Errorf("wrote after the end: %v, %q", err, out.String())
	}
}
