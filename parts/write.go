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

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/interrupt"
	"winnow/internal/regular"
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

// Begin makes ready for a part that is a folder, whose files the caller writes before [Finish], and reports what was there: nothing is
// to do for one that is Present; what was torn is removed. With overwrite parts of another job do not matter, otherwise they are an error.
func Begin(ctx context.Context, out string, h Header, overwrite bool) (State, error) {
	own := Part{State: Missing}
	if !overwrite {
		var err error
		if own, err = stand(ctx, out, h); err != nil || own.State == Present {
			return own.State, err
		}
	}
	path := Path(out, h.Shard, h.Of)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return own.State, fmt.Errorf("parts: %w", err)
	}
	if err := writeHeader(path, sealed{Header: h}); err != nil {
		return own.State, err
	}
	if own.State != Torn {
		return own.State, nil
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries { // what is damaged is made again
		if err == nil && contents(e) {
			err = os.Remove(filepath.Join(path, e.Name()))
		}
	}
	return own.State, err
}

// contents reports whether an entry of a folder's part is one of its files.
func contents(e fs.DirEntry) bool {
	return e.Name() != headerFile && e.Name()[0] != '.' && e.Type().IsRegular()
}

// Finish seals a folder's part: it lists its files with their sums. Files whose names begin with a dot are left out.
func Finish(ctx context.Context, out string, h Header) error {
	path := Path(out, h.Shard, h.Of)
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("parts: %w", err)
	}
	all := sealed{Header: h, Files: []file{}}
	for _, e := range entries {
		if !contents(e) {
			continue
		}
		n, sum, err := digest(ctx, filepath.Join(path, e.Name()))
		if err != nil {
			return err
		}
		all.Files = append(all.Files, file{e.Name(), n, sum})
	}
	return writeHeader(path, all)
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
	f, err := regular.Open(path)
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
	w, err := Look(out)
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
	if own.State == Present {
		if err := own.verify(ctx); ctx.Err() != nil {
			return own, ctx.Err()
		} else if err != nil {
			own.State, own.Why = Torn, err.Error()
		}
	}
	return own, nil
}
