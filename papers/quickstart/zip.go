package quickstart

import (
	"archive/zip"
	"context"
	"io"
	"io/fs"

	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// writeZip writes files of a tree to a zip file without compression, as pictures are compressed already. The same files
// give the same bytes.
func writeZip(ctx context.Context, path string, from fs.FS, names []string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		archive := zip.NewWriter(interrupt.NewWriter(ctx, w))
		for _, name := range names {
			data, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				return err
			}
			if _, err := file.Write(data); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}
