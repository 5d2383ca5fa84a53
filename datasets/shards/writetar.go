package shards

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"winnow/internal/atomicfile"
)

// TarFile is a file to be written into a tar file. Its content is Data or, if that is nil, Size bytes read from Open.
type TarFile struct {
	Name string
	Data []byte
	Size int64
	Open func() (io.ReadCloser, error)
}

func (f *TarFile) countContentBytes() int64 {
	if f.Data != nil {
		return int64(len(f.Data))
	}
	return f.Size
}

func (f *TarFile) newTarHeader() *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     f.Name,
		Size:     f.countContentBytes(),
		Mode:     0o444,
		ModTime:  time.Unix(0, 0),
	}
}

// Length returns how many bytes a file takes in a tar file.
func (f *TarFile) Length() (int64, error) {
	var head bytes.Buffer
	if err := tar.NewWriter(&head).WriteHeader(f.newTarHeader()); err != nil {
		return 0, err
	}
	return int64(head.Len()) + (f.countContentBytes()+tarBlock-1)/tarBlock*tarBlock, nil
}

// WriteTar writes a tar file of the given files atomically.
func WriteTar(ctx context.Context, name string, files []TarFile) error {
	return atomicfile.Write(name, func(w io.Writer) error {
		out := tar.NewWriter(w)
		for i := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := files[i].writeToTar(out); err != nil {
				return err
			}
		}
		return out.Close()
	})
}

func (f *TarFile) writeToTar(out *tar.Writer) error {
	if err := out.WriteHeader(f.newTarHeader()); err != nil {
		return err
	}
	if f.Data != nil {
		_, err := out.Write(f.Data)
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	n, err := io.Copy(out, in)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n != f.Size {
		err = fmt.Errorf("%s: no longer has the %d bytes it had before: it is being changed", f.Name, f.Size)
	}
	return errors.Join(err, in.Close())
}
