package shards

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// TarMember is a file in a tar file.
type TarMember struct {
	Name string // slash-separated, without a leading ./
	At   int64  // offset of its first byte
	Size int64
}

// tarBlock is the unit in which tar files are written.
const tarBlock = 512

// isTar reports whether a file with this beginning is a tar file: the checksum of its first header is right.
func isTar(head []byte) bool {
	if len(head) < tarBlock {
		return false
	}
	const at, end = 148, 156 // of the checksum, whose own bytes count as spaces
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

// WalkTar visits the regular files of a tar file in order; content reads the visited one. Folders and links are
// skipped. An error of visit stops the walk and is returned unchanged.
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
			return explainBrokenTar(err, at.at, last)
		}
		last = h.Name
		if h.Typeflag != tar.TypeReg || strings.HasSuffix(h.Name, "/") || isSparse(h) {
			continue
		}
		name, ok := cleanName(h.Name)
		if !ok {
			return fmt.Errorf("holds a file called %.200q, expected names within the archive", h.Name)
		}
		m := TarMember{Name: name, At: at.at, Size: h.Size}
		if m.Size > size-m.At {
			return explainBrokenTar(io.ErrUnexpectedEOF, size, last)
		}
		if err := visit(m, in); err != nil {
			return err
		}
	}
}

// explainBrokenTar says where a tar file is broken; last is the name of the last file before that.
func explainBrokenTar(err error, at int64, last string) error {
	where := "at its beginning"
	if last != "" {
		where = fmt.Sprintf("in or behind %.200q", last)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends early, %s: the file is cut short, or a size stated in it is wrong", where)
	}
	return fmt.Errorf("holds no tar header before byte %d, %s: %w", at, where, err)
}

// isSparse reports whether a file is stored with gaps.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// cleanName returns a name in its simplest form, and whether it stays within the archive.
func cleanName(name string) (string, bool) {
	if path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", false
	}
	name = path.Clean(name)
	return name, name != "." && fs.ValidPath(strings.ToValidUTF8(name, "?"))
}

// tarWindow buffers reads, so that small pieces far apart take few reads.
type tarWindow struct {
	src   io.ReaderAt
	size  int64
	at    int64
	ahead [8 * tarBlock]byte
	start int64 // offset of what ahead holds
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
		return 0, errors.New("seeks before the beginning")
	}
	w.at = offset
	return offset, nil
}

// tarIndex finds the files of a tar file by name.
type tarIndex struct {
	names []byte // all names, concatenated
	files []tarPlace
}

// tarPlace locates a file's name and bytes.
type tarPlace struct {
	name   uint32 // offset in names
	length uint32
	at     int64
	size   int64
}

func (x *tarIndex) nameBytes(p tarPlace) []byte { return x.names[p.name : p.name+p.length] }

// mostNames bounds the names of a file, in bytes.
const mostNames = 1 << 31

// readTarIndex builds the index of a tar file. It takes 24 bytes of memory plus the name for each file.
func readTarIndex(src io.ReaderAt, size int64) (*tarIndex, error) {
	x := &tarIndex{}
	err := WalkTar(src, size, func(m TarMember, _ io.Reader) error {
		if len(x.names)+len(m.Name) > mostNames {
			return fmt.Errorf("holds names of more than %d bytes together", mostNames)
		}
		x.files = append(x.files, tarPlace{uint32(len(x.names)), uint32(len(m.Name)), m.At, m.Size})
		x.names = append(x.names, m.Name...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(x.files, func(a, b tarPlace) int { return bytes.Compare(x.nameBytes(a), x.nameBytes(b)) })
	for i := range max(len(x.files), 1) - 1 {
		if a, b := x.nameBytes(x.files[i]), x.nameBytes(x.files[i+1]); bytes.Equal(a, b) {
			return nil, RefuseTwice(string(a))
		}
	}
	return x, nil
}

// RefuseTwice returns the error for a name that two files have.
func RefuseTwice(name string) error {
	return fmt.Errorf("holds two files called %.200q, expected one", name)
}

// findMember returns the location of a file's bytes.
func (x *tarIndex) findMember(name string) (at, size int64, ok bool) {
	i, ok := slices.BinarySearchFunc(x.files, name, func(p tarPlace, name string) int {
		return strings.Compare(string(x.nameBytes(p)), name)
	})
	if !ok {
		return 0, 0, false
	}
	return x.files[i].at, x.files[i].size, true
}
