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

	"winnow/internal/lock"
)

// missingShards is an error: the list of shards has gaps.
type missingShards struct {
	Of      int
	Missing []int // rising
}

func (e *missingShards) Error() string {
	names := make([]string, len(e.Missing))
	for i, n := range e.Missing {
		names[i] = Shard{Index: n, Of: e.Of}.String()
	}
	return fmt.Sprintf("features: join: %d of %d shards are missing: %s", len(e.Missing), e.Of,
		strings.Join(names, ", "))
}

// ShardError is an error: the vectors of a shard are not those that were written.
type ShardError struct {
	Dir string
	Err error
}

func (e *ShardError) Error() string { return fmt.Sprintf("%s: %v", e.Dir, e.Err) }

func (e *ShardError) Unwrap() error { return e.Err }

// Join combines all shards of an image list, in any order, into a store in dir. The result equals, byte for
// byte, the store made in one run with the same batches on the same device. Join checks that the shards have
// the same list, model, tensor, preprocessing and views, that none is missing or given twice, that no file has
// changed since it was written (*ShardError), and that the paths together are the whole list. Rows are copied
// unchanged, whatever their type.
//
// If dir holds a store, finished or begun, Join returns ErrComplete if it is the same and a *KeyError
// otherwise. With overwrite it is replaced; the old one stays whole until the last moment.
func Join(dirs []string, dir string, overwrite bool, progress func(done, total int)) (*Store, error) {
	shards := make([]*Store, len(dirs))
	for i, from := range dirs {
		var err error
		if shards[i], err = Open(from); err != nil {
			return nil, err
		}
	}
	return JoinStores(shards, dir, overwrite, progress)
}

// JoinStores is [Join] for open shards, including those opened by [OpenIn]. It releases their paths.
func JoinStores(given []*Store, dir string, overwrite bool, progress func(done, total int)) (*Store, error) {
	shards, err := order(given)
	if err != nil {
		return nil, err
	}
	j := &joiner{dir: dir, shards: shards, info: joinedInfo(shards), progress: progress}
	for _, s := range shards { // the names dominate the memory of large lists: keep them once
		j.paths = append(slices.Grow(j.paths, j.info.Rows-len(j.paths)), s.Paths...)
		s.Paths, s.rows = nil, nil
	}
	if HashPaths(j.paths) != j.info.Key.Images {
		return nil, fmt.Errorf("features: join: the paths of the shards are not those of their image list %s",
			short(j.info.Key.Images))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	if err := j.apart(); err != nil {
		return nil, err
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	defer held.Close()
	if !overwrite {
		if err := j.checkStanding(); err != nil {
			return nil, err
		}
	}
	if err := j.write(); err != nil {
		return nil, err
	}
	j.paths = nil
	return Open(dir)
}

// order sorts shards.
func order(given []*Store) ([]*Store, error) {
	if len(given) == 0 {
		return nil, fmt.Errorf("features: join: no shard is given")
	}
	var ordered []*Store
	for _, s := range given {
		if s.Shard == nil {
			return nil, fmt.Errorf("features: join: %s: holds a whole image list, expected a shard", s.Dir)
		}
		if ordered == nil {
			ordered = make([]*Store, s.Shard.Of)
		}
		if err := fits(ordered, s); err != nil {
			return nil, err
		}
		ordered[s.Shard.Index-1] = s
	}
	var missing []int
	for i, s := range ordered {
		if s == nil {
			missing = append(missing, i+1)
		}
	}
	if missing != nil {
		return nil, &missingShards{len(ordered), missing}
	}
	next := 0
	for _, s := range ordered {
		if s.Shard.First != next {
			return nil, fmt.Errorf("features: join: %s: shard %v begins at image %d, expected %d", s.Dir, *s.Shard,
				s.Shard.First, next)
		}
		next += len(s.Paths)
	}
	return ordered, nil
}

// fits returns an error if a shard cannot be combined with those already there.
func fits(ordered []*Store, s *Store) error {
	at := slices.IndexFunc(ordered, func(o *Store) bool { return o != nil })
	if at < 0 {
		return nil
	}
	other := ordered[at]
	apart := func(format string, args ...any) error {
		return fmt.Errorf("features: join: %s and %s cannot be joined: %s", other.Dir, s.Dir,
			fmt.Sprintf(format, args...))
	}
	if *s.Shard == *other.Shard {
		return apart("both are shard %v", *s.Shard)
	}
	if s.Shard.Of != other.Shard.Of || s.Shard.Images != other.Shard.Images || s.Shard.Total != other.Shard.Total {
		return apart("shard %v of the image list %s, shard %v of %s", *other.Shard, short(other.Shard.Images), *s.Shard,
			short(s.Shard.Images))
	}
	if twin := ordered[s.Shard.Index-1]; twin != nil {
		return fmt.Errorf("features: join: %s and %s are both shard %v", twin.Dir, s.Dir, *s.Shard)
	}
	key := s.Key
	key.Images = other.Key.Images
	if why := other.Key.Differs(key); why != "" {
		return apart("%s", why)
	}
	if s.Batch != other.Batch || s.Dim != other.Dim {
		return apart("batches of %d with %d values a row, batches of %d with %d", other.Batch, other.Dim,
			s.Batch, s.Dim)
	}
	return nil
}

// joinedInfo returns store.json of the whole, except the checksum. Where shards were made by several machines,
// it names all of them.
func joinedInfo(shards []*Store) Info {
	info := shards[0].Info
	info.Key.Images, info.Shard = info.Shard.Images, nil
	info.Rows, info.Bad = 0, []Bad{}
	var devices, versions []string
	for _, s := range shards {
		for _, b := range s.Bad {
			b.Row += info.Rows
			info.Bad = append(info.Bad, b)
		}
		info.Rows += s.Rows
		devices, versions = append(devices, s.Device), append(versions, s.Winnow)
	}
	info.Device, info.Winnow = eachOnce(devices), eachOnce(versions)
	return info
}

// eachOnce lists distinct texts, sorted.
func eachOnce(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}

// joiner writes one store.
type joiner struct {
	dir    string
	shards []*Store
	paths  []string
	info   Info

	progress func(done, total int) // rows; may be nil
}

func (j *joiner) path(name string) string { return filepath.Join(j.dir, name) }

// apart returns an error if the destination is one of the sources.
func (j *joiner) apart() error {
	to, err := os.Stat(j.dir)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	for _, s := range j.shards {
		if from, err := os.Stat(s.Dir); err == nil && os.SameFile(from, to) {
			return fmt.Errorf("features: join: %s: is shard %v itself, expected another folder for the whole",
				j.dir, *s.Shard)
		}
	}
	return nil
}

// checkStanding checks what the folder holds already.
func (j *joiner) checkStanding() error {
	if p, err := readProgress(j.path(progressFile)); err == nil && p.Rows > 0 {
		return &KeyError{j.dir, fmt.Sprintf("an extraction was begun here: %d of %d rows", p.Rows, p.Total)}
	}
	if _, err := os.Stat(j.path(storeFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	old, err := Open(j.dir)
	if err != nil {
		return &DamageError{Err: err}
	}
	if why := old.Differs(j.info.Key, nil); why != "" {
		return &KeyError{j.dir, why}
	}
	if err := old.Verify(context.Background()); err != nil {
		return &DamageError{Err: err}
	}
	return ErrComplete
}

// write writes the files, store.json last.
func (j *joiner) write() error {
	// The part is overwritten.
	if err := os.Remove(j.path(progressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("features: %w", err)
	}
	if err := j.writeMatrix(); err != nil {
		return errors.Join(err, os.Remove(j.path(partFile)))
	}
	if err := removeInfo(j.dir); err != nil {
		return err
	}
	if err := os.Rename(j.path(partFile), j.path(VectorsFile)); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return writeInfo(j.dir, j.info, j.paths)
}

// writeMatrix copies the rows of all shards after one header and computes the checksum of the whole.
func (j *joiner) writeMatrix() (err error) {
	part, err := os.Create(j.path(partFile))
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	sum := sha256.New()
	to := io.MultiWriter(part, sum)
	var like npyHeader
	before := 0
	for i, s := range j.shards {
		copied, of := 0, int64(1)
		if f, err := s.file(VectorsFile); err == nil {
			if info, err := f.Stat(); err == nil {
				of = max(info.Size(), 1)
			}
			_ = f.Close() // only read
		}
		counted := writerFunc(func(b []byte) {
			if copied += len(b); j.progress != nil {
				j.progress(before+int(min(float64(copied)/float64(of), 1)*float64(s.Rows)), j.info.Rows)
			}
		})
		if err := copyRows(io.MultiWriter(to, counted), s, i == 0, &like, j.info.Rows); err != nil {
			return fmt.Errorf("features: join: %w", err)
		}
		if before += s.Rows; j.progress != nil {
			j.progress(before, j.info.Rows)
		}
	}
	j.info.Sum = hex.EncodeToString(sum.Sum(nil))
	if err := part.Sync(); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}

// copyRows appends the rows of a shard, after the header of the whole if it is the first, and verifies the
// shard's checksum on the way. like is the first shard's header: the others must have rows of the same type and
// shape.
func copyRows(to io.Writer, s *Store, first bool, like *npyHeader, rows int) error {
	f, err := s.file(VectorsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	damaged := func(format string, args ...any) error { return &ShardError{s.Dir, fmt.Errorf(format, args...)} }
	sum := sha256.New()
	from := io.TeeReader(f, sum)
	h, err := readNPYHeader(from)
	if err != nil {
		return damaged("%w", err)
	}
	if h.shape[0] != s.Rows {
		return damaged("%d rows, expected %d as %s says", h.shape[0], s.Rows, storeFile)
	}
	if first {
		*like = h
		if _, err := to.Write(encodeNPYHeader(h.descr, append([]int{rows}, h.shape[1:]...)...)); err != nil {
			return err
		}
	}
	if h.descr != like.descr || !slices.Equal(h.shape[1:], like.shape[1:]) {
		return damaged("rows of %s %v, expected %s %v as in the first shard", h.descr, h.shape[1:], like.descr,
			like.shape[1:])
	}
	if _, err := io.CopyBuffer(onlyWriter{to}, from, make([]byte, 1<<20)); err != nil {
		return fmt.Errorf("%s: %w", s.Dir, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != s.Sum {
		return damaged("%s: sha256 %s, expected %s: the file has changed since it was written", VectorsFile, short(got),
			short(s.Sum))
	}
	return nil
}

// writerFunc is called with everything written.
type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// onlyWriter hides the other methods of a writer, so that copying uses the given buffer.
type onlyWriter struct{ io.Writer }
