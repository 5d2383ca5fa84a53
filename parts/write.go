package parts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/interrupt"
)

// A part that is a file is a line of JSON, the header; what the job wrote; and the seal: the sha256 of all before it, its length in
// 8 bytes, the lowest last, and endMark. A part that is a folder holds headerFile, which lists the other files when it is whole.
const (
	endMark    = "wnw-end\n"
	sealBytes  = sha256.Size + 8 + len(endMark)
	headerFile = "part.json"
	maxHeader  = 1 << 20
)

// sealed is headerFile's content.
type sealed struct {
	Header
	Files []file `json:"files"` // nil: begun
}

type file struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Made is what a machine's part came to, for people and as JSON.
type Made struct {
	Part     string `json:"part"`
	Out      string `json:"out"` // of the whole
	Job      string `json:"job"`
	Shard    string `json:"shard"`
	First    int    `json:"first"`
	End      int    `json:"end"`
	Total    int    `json:"total"`
	Unit     string `json:"unit"`
	Complete bool   `json:"complete"`       // it was there already: nothing was done
	Then     string `json:"then,omitempty"` // what is to do when all parts are joined
}

// Write implements [Result].
func (m Made) Write(w io.Writer) error {
	done := ""
	if m.Complete {
		done = ", was complete: nothing to do"
	}
	then := ""
	if m.Then != "" {
		then = "\n" + m.Then
	}
	_, err := fmt.Fprintf(w, "%s: %s %d to %d of %d%s\nshard %s: when all are there: winnow join %s%s\n", m.Part, m.Unit, m.First+1, m.End, m.Total, done, m.Shard, m.Out, then)
	return err
}

// Make writes the part h of the output out, unless that is there already, whole and of the same job: then write is not
// called. A torn one is replaced. Parts of another job beside it are an error, before anything is computed.
func Make(ctx context.Context, out string, h Header, write func(io.Writer) error) (Made, error) {
	m := Made{Part: Path(out, h.Shard, h.Of), Out: Out(out), Job: h.Job, Shard: h.String(), First: h.First, End: h.End, Total: h.Total, Unit: h.Unit}
	own, err := stand(ctx, out, h)
	if err != nil || own.State == Present {
		m.Complete = err == nil
		return m, err
	}
	if location.At(out).IsRemote() {
		return m, hint.Misused("parts: %s: expected a path on this machine: parts of winnow %s are files, and of those in object stores only folders are written, by winnow extract", out, h.Job)
	}
	if err := os.MkdirAll(Dir(out), 0o755); err != nil {
		return m, fmt.Errorf("parts: %w", err)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return m, err
	}
	err = atomicfile.Write(Path(out, h.Shard, h.Of), func(w io.Writer) error {
		counted := &sum{to: w, hash: sha256.New()}
		if _, err := counted.Write(append(head, '\n')); err != nil {
			return err
		}
		if err := write(counted); err != nil {
			return err
		}
		seal := counted.hash.Sum(nil)
		seal = binary.BigEndian.AppendUint64(seal, uint64(counted.n))
		_, err := w.Write(append(seal, endMark...))
		return err
	})
	return m, err
}

// Done reports whether the part h of the output out is there, whole and of the same job. Parts of another job beside it are an error.
func Done(ctx context.Context, out string, h Header) (bool, error) {
	own, err := stand(ctx, out, h)
	return err == nil && own.State == Present, err
}

// sum counts and sums what is written.
type sum struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

func (s *sum) Write(b []byte) (int, error) {
	s.hash.Write(b)
	s.n += int64(len(b))
	return s.to.Write(b)
}

// Begin makes ready for a part that is a folder, whose files the caller writes into the folder at before [Finish], and reports what was
// there: nothing is to do for one that is Present; what was torn is removed. With overwrite parts of another job do not matter, otherwise
// they are an error. Of an output in an object store the folder lies in that of temporary files, the same for the same part, so that what
// was begun goes on there.
func Begin(ctx context.Context, out string, h Header, overwrite bool) (at string, s State, err error) {
	own := Part{State: Missing}
	if !overwrite {
		if own, err = stand(ctx, out, h); err != nil || own.State == Present {
			return Path(out, h.Shard, h.Of), own.State, err
		}
	}
	if location.At(out).IsRemote() {
		at, err = workplace(out, h)
		return at, own.State, err
	}
	at = Path(out, h.Shard, h.Of)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return at, own.State, fmt.Errorf("parts: %w", err)
	}
	if err := writeHeader(at, sealed{Header: h}); err != nil {
		return at, own.State, err
	}
	if own.State != Torn {
		return at, own.State, nil
	}
	entries, err := os.ReadDir(at)
	for _, e := range entries { // what is damaged is made again
		if err == nil && contents(e) {
			err = os.Remove(filepath.Join(at, e.Name()))
		}
	}
	return at, own.State, err
}

// workplace makes the folder in which a part of an object store is filled; nobody else may have made it.
func workplace(out string, h Header) (string, error) {
	h.Winnow = ""
	text, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(Out(out)+"\n"), text...))
	at := filepath.Join(os.TempDir(), fmt.Sprintf("winnow-part-%x", sum[:8]))
	if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("parts: %w", err)
	}
	info, err := os.Lstat(at)
	if err != nil {
		return "", fmt.Errorf("parts: %w", err)
	}
	if !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("parts: %s: found %v, expected a folder that nobody else can open: remove it, or set TMPDIR", at, info.Mode())
	}
	return at, nil
}

// contents reports whether an entry of a folder's part is one of its files.
func contents(e fs.DirEntry) bool {
	return e.Name() != headerFile && e.Name()[0] != '.' && e.Type().IsRegular()
}

// Finish seals a folder's part, which was filled at the place that [Begin] named: it lists its files with their sums. Files whose names begin
// with a dot are left out. Of an output in an object store the files are put there, the list of them last, and removed here.
func Finish(ctx context.Context, out string, h Header, at string) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return fmt.Errorf("parts: %w", err)
	}
	all := sealed{Header: h, Files: []file{}}
	for _, e := range entries {
		if !contents(e) {
			continue
		}
		n, sum, err := digest(ctx, filepath.Join(at, e.Name()))
		if err != nil {
			return err
		}
		all.Files = append(all.Files, file{e.Name(), n, sum})
	}
	if err := writeHeader(at, all); err != nil || !location.At(out).IsRemote() {
		return err
	}
	names := []string{}
	for _, f := range all.Files {
		names = append(names, f.Name)
	}
	if err := PutFolder(ctx, Path(out, h.Shard, h.Of), at, append(names, headerFile)...); err != nil {
		return hint.With(fmt.Errorf("parts: %w", err), "run the same command again: what was made lies in %s", at)
	}
	return os.RemoveAll(at)
}

// PutFolder puts files of a folder into one of an object store, so that the last of them stands there only while all others do: what stands
// under its name is removed first.
func PutFolder(ctx context.Context, to, from string, names ...string) error {
	if err := location.At(to).Join(names[len(names)-1]).Remove(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := location.At(to).Join(name).Put(ctx, filepath.Join(from, name)); err != nil {
			return err
		}
	}
	return nil
}

func writeHeader(path string, s sealed) error {
	content, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(path, headerFile), append(content, '\n'))
}

// digest returns a file's length and sha256.
func digest(ctx context.Context, path string) (int64, string, error) {
	f, err := location.At(path).Open(ctx)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, interrupt.NewReader(ctx, f))
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// stand looks at the part h and those beside it.
func stand(ctx context.Context, out string, h Header) (Part, error) {
	w, err := Look(ctx, out)
	if errors.Is(err, fs.ErrNotExist) {
		return Part{State: Missing}, nil
	}
	advice := "name another --out, ask for the same again, or remove " + Dir(out)
	if err != nil {
		return Part{}, hint.With(err, "%s", advice)
	}
	if w.Job != "" { // the others are like it
		if why := w.Header.Differs(h); why != "" {
			return Part{}, hint.With(fmt.Errorf("%s: holds parts of another job: %s", Dir(out), why), "%s", advice)
		}
	} else if w.Of != h.Of {
		return Part{}, hint.With(fmt.Errorf("%s: holds one of %d parts, asked for one of %d", Dir(out), w.Of, h.Of), "%s", advice)
	}
	own := w.Parts[h.Shard-1]
	if own.State == Present && !location.At(own.Path).IsRemote() { // there its sizes must do: what was put was checked
		if err := own.verify(ctx, ""); ctx.Err() != nil {
			return own, ctx.Err()
		} else if err != nil {
			own.State, own.Why = Torn, err.Error()
		}
	}
	return own, nil
}
