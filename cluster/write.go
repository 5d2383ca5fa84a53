package cluster

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

// A part's file is the header, a line of JSON; then what the job wrote; then the seal: the sha256 of all before it, its
// length in 8 bytes, big-endian, and endMark. A part's folder holds headerFile, which lists the other files once the
// part is complete.
const (
	endMark    = "wnw-end\n"
	sealBytes  = sha256.Size + 8 + len(endMark)
	headerFile = "part.json"
	maxHeader  = 1 << 20
)

// sealed is headerFile's content.
type sealed struct {
	Header
	Files []file `json:"files"` // nil: the part is not complete
}

type file struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Made describes the part that a machine made.
type Made struct {
	Part     location.Source `json:"part"`
	Out      location.Source `json:"out"` // of the whole
	Job      string          `json:"job"`
	Shard    string          `json:"shard"`
	First    int             `json:"first"`
	End      int             `json:"end"`
	Total    int             `json:"total"`
	Unit     string          `json:"unit"`
	Complete bool            `json:"complete"` // it existed: nothing was done
}

// Write implements [Result].
func (m Made) Write(w io.Writer) error {
	done := ""
	if m.Complete {
		done = ", was complete: nothing to do"
	}
	_, err := fmt.Fprintf(w, "%s: %s %d to %d of %d%s\nshard %s: when all are there: winnow join %s\n",
		m.Part, m.Unit, m.First+1, m.End, m.Total, done, m.Shard, m.Out)
	return err
}

// describeMade describes the part.
func (h Header) describeMade(out location.Source) Made {
	return Made{Part: Path(out, h.Shard, h.Of), Out: Out(out), Job: h.Job, Shard: h.String(), First: h.First,
		End: h.End, Total: h.Total, Unit: h.Unit}
}

// writeShardPart makes the part h, a file, unless it exists and is complete. A torn one is replaced.
func writeShardPart(ctx context.Context, out location.Source, h Header, fill func(io.Writer) error) (Made, error) {
	m := h.describeMade(out)
	own, err := findStanding(ctx, out, h)
	if err != nil || own.State == Present {
		m.Complete = err == nil
		return m, err
	}
	if out.IsRemote() {
		return m, hint.Misused("parts: %s: expected a path on this machine: parts of winnow %s are files, and of "+
			"those in object stores only folders are written, by winnow extract", out, h.Job)
	}
	if err := os.MkdirAll(Dir(out).Path(), 0o755); err != nil {
		return m, fmt.Errorf("parts: %w", err)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return m, err
	}
	err = atomicfile.Write(m.Part.Path(), func(w io.Writer) error {
		counted := &sum{to: w, hash: sha256.New()}
		if _, err := counted.Write(append(head, '\n')); err != nil {
			return err
		}
		if err := fill(counted); err != nil {
			return err
		}
		seal := counted.hash.Sum(nil)
		seal = binary.BigEndian.AppendUint64(seal, uint64(counted.n))
		_, err := w.Write(append(seal, endMark...))
		return err
	})
	return m, err
}

// sum hashes and counts what is written.
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

// preparePart prepares the folder at for the part h and returns the part's state. If that is Present, nothing needs to
// be done and at is "". The files of a torn part are removed.
func preparePart(ctx context.Context, out location.Source, h Header, overwrite bool) (at string, s State, err error) {
	own := Part{State: Missing}
	if !overwrite {
		if own, err = findStanding(ctx, out, h); err != nil || own.State == Present {
			return "", own.State, err
		}
	}
	if out.IsRemote() {
		at, err = makeWorkplace(out, h)
		return at, own.State, err
	}
	at = Path(out, h.Shard, h.Of).Path()
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
	for _, e := range entries { // any of them may be damaged
		if err == nil && isContent(e) {
			err = os.Remove(filepath.Join(at, e.Name()))
		}
	}
	return at, own.State, err
}

// makeWorkplace makes the folder in which a part for an object store is filled. A folder that others can open is an
// error.
func makeWorkplace(out location.Source, h Header) (string, error) {
	h.Winnow = ""
	text, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(Out(out).String()+"\n"), text...))
	at := filepath.Join(os.TempDir(), fmt.Sprintf("winnow-part-%x", sum[:8]))
	if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("parts: %w", err)
	}
	info, err := os.Lstat(at)
	if err != nil {
		return "", fmt.Errorf("parts: %w", err)
	}
	if !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("parts: %s: found %v, expected a folder that nobody else can open: remove it, or "+
			"set TMPDIR", at, info.Mode())
	}
	return at, nil
}

// isContent reports whether an entry of a part's folder is one of its files.
func isContent(e fs.DirEntry) bool {
	return e.Name() != headerFile && e.Name()[0] != '.' && e.Type().IsRegular()
}

// finishPart completes the folder of a part: it lists the files with their sums, except those whose names begin with a
// dot. If the output is in an object store, it puts the files there, the list last, and removes them here.
func finishPart(ctx context.Context, out location.Source, h Header, at string) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return fmt.Errorf("parts: %w", err)
	}
	all := sealed{Header: h, Files: []file{}}
	for _, e := range entries {
		if !isContent(e) {
			continue
		}
		n, sum, err := digestFile(ctx, location.At(filepath.Join(at, e.Name())))
		if err != nil {
			return err
		}
		all.Files = append(all.Files, file{e.Name(), n, sum})
	}
	if err := writeHeader(at, all); err != nil || !out.IsRemote() {
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

// PutFolder copies files of a folder into an object store. It removes the last file first and writes it last, so that
// all others exist while it does.
func PutFolder(ctx context.Context, to location.Source, from string, names ...string) error {
	if err := to.Join(names[len(names)-1]).Remove(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := to.Join(name).Put(ctx, filepath.Join(from, name)); err != nil {
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

// digestFile returns a file's length and sha256.
func digestFile(ctx context.Context, at location.Source) (int64, string, error) {
	f, err := at.Open(ctx)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, interrupt.NewReader(ctx, f))
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// findStanding returns the existing part h, and an error if the parts next to it are of another job.
func findStanding(ctx context.Context, out location.Source, h Header) (Part, error) {
	w, err := lookForParts(ctx, out)
	if errors.Is(err, fs.ErrNotExist) {
		return Part{State: Missing}, nil
	}
	advice := "name another --out, ask for the same again, or remove " + Dir(out).String()
	if err != nil {
		return Part{}, hint.With(err, "%s", advice)
	}
	if w.Job != "" { // all parts agree
		if why := w.Header.diffHeader(h); why != "" {
			return Part{}, hint.With(fmt.Errorf("%s: holds parts of another job: %s", Dir(out), why), "%s", advice)
		}
	} else if w.Of != h.Of {
		return Part{}, hint.With(fmt.Errorf("%s: holds one of %d parts, asked for one of %d", Dir(out), w.Of, h.Of),
			"%s", advice)
	}
	own := w.Parts[h.Shard-1]
	if own.State == Present && !own.Path.IsRemote() { // in object stores sizes suffice: uploads are checked
		if err := own.verifyPart(ctx, ""); ctx.Err() != nil {
			return own, ctx.Err()
		} else if err != nil {
			own.State, own.Why = Torn, err.Error()
		}
	}
	return own, nil
}
