package interrupt

import (
	"context"
	"io"
)

// NewReader returns a reader of r that returns the error of ctx once ctx has ended, so that long reads need not check
// ctx.
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

// Writer passes bytes on until its context ends, and then returns the context's error.
type Writer struct {
	ctx     context.Context
	w       io.Writer
	refused bool
}

// NewWriter returns a Writer to w that ends with ctx.
func NewWriter(ctx context.Context, w io.Writer) *Writer { return &Writer{ctx: ctx, w: w} }

func (w *Writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		w.refused = true
		return 0, err
	}
	return w.w.Write(p)
}

// Refused reports whether a write was refused.
func (w *Writer) Refused() bool { return w.refused }

// Under returns the underlying writer.
func (w *Writer) Under() io.Writer { return w.w }
