package features

import (
	"context"
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

	"winnow/internal/interrupt"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// Files of a store. A finished store has the first three, an unfinished one the last two.
const (
	VectorsFile  = "features.npy"      // n×d or n×views×d, float32 or float16, C order; numpy can map it
	pathsFile    = "paths.txt"         // line i is the image of row i, see EncodePaths
	storeFile    = "store.json"        // written last: its presence marks a complete store
	partFile     = "features.npy.part" // grows by whole batches
	progressFile = "progress.json"     // number of rows in the part that are safely on disk
)

// Versions of a store. Programs that support only the first version reject the second by its number.
const (
	plainVersion = 1 // n×d of float32
	storeVersion = 2 // several views, or float16
)

// storeVersion returns the version of a store with this key.
func (k Key) storeVersion() int {
	if k.isPlainKey() {
		return plainVersion
	}
	return storeVersion
}

// Bad is an image that could not be read. Its row contains zeros.
type Bad struct {
	Row    int    `json:"row"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Info is the content of store.json. Batch and Device affect only the last bits of the features; they are stored so
// that an interrupted run continues with the same values.
type Info struct {
	Version int    `json:"version"`
	Key     Key    `json:"key"`
	Rows    int    `json:"rows"`
	Dim     int    `json:"dim"`
	Batch   int    `json:"batch"`
	Device  string `json:"device"`
	Winnow  string `json:"winnow"`          // version of the program that wrote the store
	Bad     []Bad  `json:"bad"`             // unreadable images, in ascending order of rows
	Sum     string `json:"features_sha256"` // sha256 of features.npy

	ModelFile string `json:"model_file,omitempty"` // path of the model; "" if it is built into the program
}

// Store is a finished feature store: a folder with one vector for each view of each listed image, without labels.
type Store struct {
	Info
	Dir   string
	Paths []string // image of each row

	rows   map[string]int // first row of each path
	offset int64          // offset of the first value in features.npy
	mean   bool           // whether Read averages the views
	sums   *blockSums     // checksums of features.npy
}

// Open opens a finished store and checks that its files match; the vectors stay on disk.
func Open(dir string) (*Store, error) { return openStore(&Store{Dir: dir}) }

// openStoreFile opens one of the store's files.
func (s *Store) openStoreFile(name string) (fs.File, error) {
	return regular.Open(filepath.Join(s.Dir, name))
}

func (s *Store) readFile(name string) ([]byte, error) {
	return regular.ReadFile(filepath.Join(s.Dir, name), regular.Most)
}

var (
	errNone       = errors.New("no feature store: found no " + storeFile + " in it")
	errUnfinished = errors.New("unfinished store")
)

// Advice returns what to do about a store that cannot be opened.
func Advice(err error) string {
	switch {
	case errors.Is(err, errNone):
		return "extract the features first: winnow extract"
	case errors.Is(err, errUnfinished):
		return "repeat the extraction, which will continue"
	}
	return "give the folder of a complete store, restore it, or extract the features again: winnow extract"
}

func openStore(s *Store) (*Store, error) {
	dir := s.Dir
	data, err := s.readFile(storeFile)
	if errors.Is(err, fs.ErrNotExist) {
		if p, perr := readProgress(filepath.Join(dir, progressFile)); perr == nil {
			return nil, fmt.Errorf("features: %s: %w: %d of %d rows", dir, errUnfinished, p.Rows, p.Total)
		}
		return nil, fmt.Errorf("features: %s: %w", dir, errNone)
	}
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	if err := s.Info.unmarshalInfo(data); err != nil {
		return nil, fmt.Errorf("features: %s: %w", filepath.Join(dir, storeFile), err)
	}
	if err := s.readPaths(); err != nil {
		return nil, err
	}
	if err := s.checkMatrix(); err != nil {
		return nil, err
	}
	s.rows = make(map[string]int, len(s.Paths))
	for row, path := range s.Paths {
		if _, known := s.rows[path]; !known {
			s.rows[path] = row
		}
	}
	return s, nil
}

// Files returns the names of the store's files.
func (s *Store) Files() []string {
	return []string{filepath.Join(s.Dir, VectorsFile), filepath.Join(s.Dir, pathsFile),
		filepath.Join(s.Dir, sumsFile), filepath.Join(s.Dir, storeFile)}
}

func (info *Info) unmarshalInfo(data []byte) error {
	if err := seal.Unmarshal(data, info); err != nil {
		return err
	}
	if err := info.Key.checkKey(); err != nil {
		return err
	}
	if expected := info.Key.storeVersion(); info.Version != expected {
		return fmt.Errorf("store version %d, expected %d", info.Version, expected)
	}
	if info.Rows < 1 || info.Dim < 1 {
		return fmt.Errorf("%d rows of %d values, expected at least one of each", info.Rows, info.Dim)
	}
	for _, b := range info.Bad {
		if b.Row < 0 || b.Row >= info.Rows {
			return fmt.Errorf("bad row %d, expected 0 to %d", b.Row, info.Rows-1)
		}
	}
	return nil
}

func (s *Store) readPaths() error {
	name := filepath.Join(s.Dir, pathsFile)
	f, err := s.openStoreFile(pathsFile)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	var all strings.Builder // the paths are substrings of this text
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		all.Grow(int(info.Size()))
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(hash, &all), f); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != s.Key.Images {
		return fmt.Errorf("features: %s: sha256 %.12s…, expected %.12s… as in %s", name, sum, s.Key.Images, storeFile)
	}
	s.Paths = DecodePaths(all.String())
	if len(s.Paths) != s.Rows {
		return fmt.Errorf("features: %s: %d paths, expected %d", name, len(s.Paths), s.Rows)
	}
	return nil
}

// checkMatrix compares the header and size of features.npy with store.json.
func (s *Store) checkMatrix() error {
	name := filepath.Join(s.Dir, VectorsFile)
	f, err := s.openStoreFile(VectorsFile)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	offset, err := checkMatrixFile(f, s.Key, s.Rows, s.Dim)
	if err != nil {
		return fmt.Errorf("features: %s: %w", name, err)
	}
	s.offset = offset
	stat, err := f.Stat()
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return s.readBlockSums(stat.Size())
}

// checkMatrixFile checks that f is the complete matrix of a store with this key, and returns the offset of its data.
func checkMatrixFile(f fs.File, key Key, rows, dim int) (int64, error) {
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	h, err := readNPYHeader(f)
	if err != nil {
		return 0, err
	}
	if shape := key.matrixShape(rows, dim); h.descr != key.numpyDescr() || !slices.Equal(h.shape, shape) {
		return 0, fmt.Errorf("%s of shape %v, expected %s of %v", h.descr, h.shape, key.numpyDescr(), shape)
	}
	if _, err := h.checkNpySize(stat.Size()); err != nil {
		return 0, err
	}
	return h.size, nil
}

// Row returns the first row of a path, or -1 if the path is not in the store.
func (s *Store) Row(path string) int {
	if row, ok := s.rows[path]; ok {
		return row
	}
	return -1
}

// Lookup returns the row of each path. A path that is not in the store is listed in missing and has the row -1.
func (s *Store) Lookup(paths []string) (rows []int, missing []string) {
	rows = make([]int, len(paths))
	for i, p := range paths {
		if rows[i] = s.Row(p); rows[i] < 0 {
			missing = append(missing, p)
		}
	}
	return rows, missing
}

// BadRows returns the reason for each row of an unreadable image; these rows contain zeros.
func (s *Store) BadRows() map[int]string {
	bad := make(map[int]string, len(s.Bad))
	for _, b := range s.Bad {
		bad[b.Row] = b.Reason
	}
	return bad
}

// Verify compares the sha256 of features.npy with store.json.
func (s *Store) Verify(ctx context.Context) error {
	name := filepath.Join(s.Dir, VectorsFile)
	sum, err := hashFile(ctx, name)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if sum != s.Sum {
		return fmt.Errorf("features: %s: sha256 %.12s…, expected %.12s…: the file has changed since it was written",
			name, sum, s.Sum)
	}
	return nil
}

// Standing opens the finished store in a folder and verifies its vectors. It returns nil if there is no finished store,
// a *[KeyError] for a store with another key, and a *[DamageError] for an unreadable store.
func Standing(ctx context.Context, dir string, key Key) (*Store, error) {
	if _, err := os.Stat(filepath.Join(dir, storeFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("features: %w", err) // an error about the folder
	}
	s, err := Open(dir)
	if err != nil {
		return nil, &DamageError{Err: err}
	}
	if why := s.Key.Differs(key); why != "" {
		return nil, &KeyError{dir, why}
	}
	if err = s.Verify(ctx); err != nil {
		return nil, &DamageError{Err: err}
	}
	return s, nil
}

func hashFile(ctx context.Context, name string) (string, error) {
	f, err := regular.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, interrupt.NewReader(ctx, f)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
