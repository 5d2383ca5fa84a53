package shards

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// TarMember is a file in a tar file.
type TarMember struct {
	Name string // slash-separated, without a leading ./
	At   int64  // offset of the content in the tar file
	Size int64
}

// tarBlock is the block size of tar files, in bytes.
const tarBlock = 512

// isTar reports whether a file that starts with head is a tar file, which means that the checksum of its first header
// is right.
func isTar(head []byte) bool {
	if len(head) < tarBlock {
		return false
	}
	const at, end = 148, 156 // position of the checksum, which is computed with spaces in its place
	text := strings.Trim(string(head[at:end]), " \x00")
	stated, err := strconv.ParseInt(text, 8, 64)
	sum := int64((end - at) * ' ')
	for i, b := range head[:tarBlock] {
		if i < at || i >= end {
			sum += int64(b)
		}
	}
	return err == nil && sum == stated
}

// WalkTar calls visit for each regular file of a tar file in order; content reads the file. Folders and links are
// skipped. If visit returns an error, WalkTar stops and returns that error unchanged.
func WalkTar(src io.ReaderAt, size int64, visit func(m TarMember, content io.Reader) error) error {
	at := &tarWindow{src: src, size: size}
	in := tar.NewReader(at)
	last := ""
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("byte %d, after %.200q: %w", at.at, last, err)
		}
		last = h.Name
		if h.Typeflag != tar.TypeReg || strings.HasSuffix(h.Name, "/") || isSparse(h) {
			continue
		}
		name, ok := cleanName(h.Name)
		if !ok {
			return fmt.Errorf("contains the name %.200q, expected relative names inside the archive", h.Name)
		}
		m := TarMember{Name: name, At: at.at, Size: h.Size}
		if m.Size > size-m.At {
			return fmt.Errorf("%.200q: %w", last, io.ErrUnexpectedEOF)
		}
		if err := visit(m, in); err != nil {
			return err
		}
	}
}

// isSparse reports whether a file is stored as a sparse file.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// cleanName returns the shortest form of a name, and whether the name stays inside the archive.
func cleanName(name string) (string, bool) {
	if path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", false
	}
	name = path.Clean(name)
	return name, name != "." && fs.ValidPath(strings.ToValidUTF8(name, "?"))
}

// tarWindow buffers reads, so that small, distant pieces need few reads.
type tarWindow struct {
	src   io.ReaderAt
	size  int64
	at    int64
	ahead [8 * tarBlock]byte
	start int64 // offset of ahead in the file
	held  int
}

// Read implements io.Reader.
func (w *tarWindow) Read(p []byte) (int, error) {
	if w.at >= w.size {
		return 0, io.EOF
	}
	if w.at < w.start || w.at >= w.start+int64(w.held) {
		n, err := w.src.ReadAt(w.ahead[:min(int64(len(w.ahead)), w.size-w.at)], w.at)
		if n == 0 {
			return 0, cmp.Or(err, io.ErrUnexpectedEOF)
		}
		w.start, w.held = w.at, n
	}
	n := copy(p, w.ahead[w.at-w.start:w.held])
	w.at += int64(n)
	return n, nil
}

// Seek implements io.Seeker, which lets archive/tar skip the contents of files.
func (w *tarWindow) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += w.at
	case io.SeekEnd:
		offset += w.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of the file")
	}
	w.at = offset
	return offset, nil
}

// tarIndex finds the files of a tar file by name.
type tarIndex map[string]struct{ at, size int64 }

// readTarIndex builds the index of a tar file.
func readTarIndex(src io.ReaderAt, size int64) (tarIndex, error) {
	x := tarIndex{}
	return x, WalkTar(src, size, func(m TarMember, _ io.Reader) error {
		if _, twice := x[m.Name]; twice {
			return RefuseTwice(m.Name)
		}
		x[m.Name] = struct{ at, size int64 }{m.At, m.Size}
		return nil
	})
}

// RefuseTwice returns the error for a name that occurs twice.
func RefuseTwice(name string) error {
	return fmt.Errorf("holds two files called %.200q, expected one", name)
}
