package models

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/graph"
	"winnow/internal/regular"
)

// MaxFile is the largest model file: one protobuf message cannot be larger. Data files next to it may be larger.
const MaxFile = 2 << 30

// maxWhole is the largest model whose data files are read into the model. A larger model cannot be one protobuf
// message, so the runtime reads its data files. maxWhole is a variable for tests.
var maxWhole int64 = MaxFile - 1<<20

// stored is a model as it was read from disk.
type stored struct {
	data   []byte   // the model, with the values of its data files unless they are too large
	sum    string   // checksum, see [Entry.SHA256]
	folder string   // folder of the data files that data still refers to; "": none
	beside []string // the names of the data files
	size   int64    // bytes of all files
}

// readFile reads a model and the data files that it names. A file that is too large is rejected before it is read.
func readFile(path string) (stored, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return stored{}, err
	case info.IsDir():
		return stored{}, fmt.Errorf("%s: found a folder, expected an ONNX file", path)
	case info.Size() > MaxFile:
		return stored{}, fmt.Errorf("%s: found %d bytes, expected an ONNX file of at most %d", path, info.Size(),
			int64(MaxFile))
	}
	s := stored{}
	if s.data, err = regular.ReadFile(path, MaxFile); err != nil {
		return s, err
	}
	s.sum, s.size = Sum(s.data), int64(len(s.data))
	m, err := graph.Read(s.data)
	if err != nil {
		return s, nil // using the model returns the error
	}
	refs, err := m.References()
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if len(refs) == 0 {
		return s, nil
	}
	if err := s.readBeside(path, m, refs); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// readBeside reads the data files of a model and checks them against it.
func (s *stored) readBeside(path string, m *graph.Model, refs []graph.Reference) error {
	// Use the folder of the path, not of a link's target, because the runtime does the same.
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	slices.SortStableFunc(refs, func(a, b graph.Reference) int { return cmp.Compare(a.Location, b.Location) })
	whole, files := s.size, map[string][]byte{}
	for _, r := range refs {
		if whole += r.Length; whole > maxWhole || r.Length > maxWhole {
			files, whole = nil, maxWhole // too large to be one file
		}
	}
	list := s.sum + "\n"
	for from := 0; from < len(refs); {
		end := from
		for end < len(refs) && refs[end].Location == refs[from].Location {
			end++
		}
		name := refs[from].Location
		sum, data, size, err := readData(root, refs[from:end], files != nil)
		if err != nil {
			return fmt.Errorf("data file %q: %w", name, err)
		}
		if data == nil { // the data file has many unused bytes: leave it to the runtime
			files = nil
		} else if files != nil {
			files[name] = data
		}
		s.beside, s.size = append(s.beside, name), s.size+size
		list += sum + " " + name + "\n"
		from = end
	}
	s.sum = Sum([]byte(list))
	if files == nil {
		s.folder = folder
		return nil
	}
	if err := m.Embed(files); err != nil {
		return err
	}
	s.data = m.Marshal()
	return nil
}

// readData checks a data file against the tensors that refer to it, and returns its SHA-256, its size and, if wanted,
// its contents. It opens only a regular file inside the folder.
func readData(root *os.Root, refs []graph.Reference, wanted bool) (sum string, data []byte, size int64, err error) {
	name := refs[0].Location
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `\:`) {
		return "", nil, 0, errors.New("expected a file in the model's folder or below, named without .., drive and " +
			"leading /")
	}
	f, info, err := regular.From(regular.Root(root), filepath.ToSlash(filepath.Clean(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, 0, fmt.Errorf("not in %s, expected next to the model, because it holds the weights: "+
			"copy both files into one folder", root.Name())
	}
	if err != nil {
		return "", nil, 0, fmt.Errorf("expected a regular file, or a link to one inside %s: %w", root.Name(), err)
	}
	defer f.Close()
	size = info.Size()
	for _, r := range refs {
		if err := r.Within(size); err != nil {
			return "", nil, 0, fmt.Errorf("tensor %q: %w", r.Tensor, err)
		}
	}
	sha := sha256.New()
	if wanted && size <= maxWhole {
		data = make([]byte, size)
		if _, err = io.ReadFull(f, data); err == nil {
			_, err = sha.Write(data)
		}
	} else {
		_, err = io.CopyN(sha, f, size)
	}
	if err != nil {
		return "", nil, 0, err
	}
	return hex.EncodeToString(sha.Sum(nil)), data, size, nil
}
