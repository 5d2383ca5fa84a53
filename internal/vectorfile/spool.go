package vectorfile

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"winnow/features"
)

// floats writes values as little-endian float32, with an int32 before each row if fronted.
type floats struct {
	w       io.Writer
	front   uint32
	fronted bool
	bytes   []byte
}

// Write implements [Writer].
func (f *floats) Write(rows []Row) error {
	f.bytes = f.bytes[:0]
	for _, r := range rows {
		if f.fronted {
			f.bytes = binary.LittleEndian.AppendUint32(f.bytes, f.front)
		}
		for _, v := range r.Embedding {
			f.bytes = binary.LittleEndian.AppendUint32(f.bytes, math.Float32bits(v))
		}
	}
	_, err := f.w.Write(f.bytes)
	return err
}

// Close implements [Writer].
func (f *floats) Close() error { return nil }

// spoolValues keeps the values in a temporary file next to path until their number, which must come first, is
// known.
func spoolValues(path string, form Form, dim int, put put, kept *keeper, fill func(Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_ = os.Remove(f.Name()) // if the system can remove an open file, a killed process leaves nothing
	kept.Writer = &floats{w: f}
	if err := fill(kept); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return put(path, func(w io.Writer) error {
		return form.writeCounted(w, dim, kept.rows, func(w io.Writer) error {
			_, err := io.Copy(w, f)
			return err
		})
	})
}

// hasRowCount reports whether a form begins with the number of rows.
func (f Form) hasRowCount() bool { return f == NPY || f == npz || f == safetensors }

// writeCounted writes a file of such a form. It takes the names from rows, the values from values.
func (f Form) writeCounted(w io.Writer, dim int, rows []Row, values func(io.Writer) error) error {
	header := features.NPYHeader(len(rows), dim)
	switch f {
	case npz:
		return writeNPZ(w, rows, header, values)
	case safetensors:
		header = safetensorsHeader(len(rows), dim)
	}
	return writeAfterHeader(w, header, values)
}

func writeAfterHeader(w io.Writer, header []byte, values func(io.Writer) error) error {
	if _, err := w.Write(header); err != nil {
		return err
	}
	return values(w)
}

// safetensorsHeader returns the header of a file with one float32 tensor: the length of the following text as
// uint64, and the text, padded with spaces to a multiple of 8 bytes so that the values are aligned.
func safetensorsHeader(rows, cols int) []byte {
	text := fmt.Sprintf(`{"embeddings":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}`,
		rows, cols, 4*int64(rows)*int64(cols))
	text += strings.Repeat(" ", (8-len(text)%8)%8)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
}

// writeNPZ writes an uncompressed zip file of arrays, as numpy's savez does.
func writeNPZ(w io.Writer, rows []Row, header []byte, values func(io.Writer) error) error {
	out := zip.NewWriter(w)
	for _, member := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"embeddings", func(w io.Writer) error { return writeAfterHeader(w, header, values) }},
		{"paths", func(w io.Writer) error { return writeText(w, rows, func(r *Row) string { return r.Path }) }},
		{"labels", func(w io.Writer) error { return writeText(w, rows, func(r *Row) string { return r.Label }) }},
		{"splits", func(w io.Writer) error { return writeText(w, rows, func(r *Row) string { return r.Split }) }},
	} {
		to, err := out.CreateHeader(&zip.FileHeader{Name: member.name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := member.write(to); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeText writes a npy array of texts in UTF-32. Its width is that of the longest text; shorter ones are
// padded with zeros.
func writeText(w io.Writer, rows []Row, text func(*Row) string) error {
	width := 1
	for i := range rows {
		width = max(width, utf8.RuneCountInString(text(&rows[i])))
	}
	if _, err := w.Write(features.NPYTextHeader(len(rows), width)); err != nil {
		return err
	}
	cell := make([]byte, 0, 4*width)
	for i := range rows {
		cell = cell[:0]
		for _, r := range text(&rows[i]) {
			cell = binary.LittleEndian.AppendUint32(cell, uint32(r))
		}
		used := len(cell)
		cell = cell[:4*width]
		clear(cell[used:])
		if _, err := w.Write(cell); err != nil {
			return err
		}
	}
	return nil
}
