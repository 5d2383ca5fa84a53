package interrupt

import (
	"context"
	"io/fs"
)

// FS returns a file system whose calls return the error of ctx once ctx has ended, also those that wait for a file: a
// share that does not answer, a disk that hangs. A call left waiting may still fill its buffer, so buffers must not be
// used again after ctx has ended. Each call costs about 1 µs.
func FS(ctx context.Context, fsys fs.FS) fs.FS { return files{ctx, fsys} }

type files struct {
	ctx context.Context
	of  fs.FS
}

// Open implements [fs.FS].
func (f files) Open(name string) (fs.File, error) {
	in, err := awaitResult(f.ctx, func() (fs.File, error) { return f.of.Open(name) },
		func(late fs.File) { _ = late.Close() }) // only read
	if err != nil {
		return nil, err
	}
	return file{f.ctx, in}, nil
}

// Stat implements [fs.StatFS].
func (f files) Stat(name string) (fs.FileInfo, error) {
	return awaitResult(f.ctx, func() (fs.FileInfo, error) { return fs.Stat(f.of, name) }, nil)
}

// OnlyFiles reports whether the file system says that it has only files and folders.
func (f files) OnlyFiles() bool {
	t, ok := f.of.(interface{ OnlyFiles() bool })
	_, stats := f.of.(fs.StatFS)
	return ok && t.OnlyFiles() || !stats // without Stat, asking means opening twice
}

type file struct {
	ctx context.Context
	of  fs.File
}

func (f file) Stat() (fs.FileInfo, error) { return awaitResult(f.ctx, f.of.Stat, nil) }

func (f file) Read(b []byte) (int, error) {
	return awaitResult(f.ctx, func() (int, error) { return f.of.Read(b) }, nil)
}

func (f file) Close() error {
	_, err := awaitResult(f.ctx, func() (struct{}, error) { return struct{}{}, f.of.Close() }, nil)
	return err
}

// awaitResult does something that may wait, until ctx ends. What comes after that is given to late, unless it is an
// error.
func awaitResult[T any](ctx context.Context, do func() (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	default:
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := do()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		if late != nil {
			go func() {
				if a := <-answers; a.err == nil {
					late(a.value)
				}
			}()
		}
		return none, ctx.Err()
	}
}
