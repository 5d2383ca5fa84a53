package interrupt

import (
	"context"
	"io"
)

// NewReader returns r until ctx ends, then the error of ctx: what reads much needs no look at ctx of its own.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Writer hands bytes on until its context ends. From then on it refuses them.
type Writer struct {
	ctx     context.Context
	w       io.Writer
	refused bool
}

// NewWriter returns a writer to w that ends with ctx.
func NewWriter(ctx context.Context, w io.Writer) *Writer { return &Writer{ctx: ctx, w: w} }

func (w *Writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		w.refused = true
		return 0, err
	}
	return w.w.Write(p)
}

// Refused reports whether something was to be written after the end.
func (w *Writer) Refused() bool { return w.refused }

// Under returns the writer that bytes are handed to.
func (w *Writer) Under() io.Writer { return w.w }
