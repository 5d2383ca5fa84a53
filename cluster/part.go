package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/interrupt"
	"winnow/internal/regular"
)

// A part's folder contains headerFile, which lists the other files once the part is complete.
const (
	headerFile = "part.json"
	maxHeader  = 1 << 20
)

// State is the degree to which a part is complete.
type State string

const (
	Missing State = "missing"
	Begun   State = "begun"   // being filled, or interrupted
	Torn    State = "torn"    // truncated or changed
	Present State = "present" // complete by the file lengths; Whole.Verify also checks the content
)

// sealed is the content of headerFile.
type sealed struct {
	Header
	Files []file `json:"files"` // nil: the part is not complete
}

type file struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Part describes the part of a shard, whether or not it exists.
type Part struct {
	sealed // only Shard and Of if headerFile cannot be read
	Path   location.Source
	State  State
	Why    string // reason for the state Torn
}

// Whole describes all parts of an output.
type Whole struct {
	Out    location.Source
	Header        // values common to all parts; Job is "" if no header can be read
	Parts  []Part // parts of all shards, in order
}

// lookForParts finds the parts of an output and reads their headers and file lengths. out is the output or the folder
// of its parts. It returns an error if the parts belong to different jobs, and fs.ErrNotExist if there are no parts.
func lookForParts(out location.Source) (*Whole, error) {
	dir := Dir(out)
	entries, err := os.ReadDir(dir.Path())
	if err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	w := &Whole{Out: Out(out)}
	for _, e := range entries {
		index, of, ok := parseName(e.Name())
		if !ok {
			continue
		}
		if w.Parts == nil {
			w.Of, w.Parts = of, make([]Part, of)
			for i := range w.Parts {
				w.Parts[i] = Part{sealed: sealed{Header: Header{Shard: i + 1, Of: of}}, Path: Path(out, i+1, of),
					State: Missing}
			}
		}
		if of != w.Of {
			return nil, fmt.Errorf("parts: %s: some parts are of %d, others of %d, expected one number", dir, w.Of, of)
		}
		p := &w.Parts[index-1]
		p.readPart()
		if p.Job == "" {
			continue
		}
		if w.Job == "" {
			w.Header = p.Header
		}
		if why := w.diffHeader(p.Header); why != "" {
			return nil, fmt.Errorf("parts: %s cannot be joined with the others: %s", p.Path, why)
		}
	}
	if w.Parts == nil {
		return nil, fmt.Errorf("parts: %s: contains no parts: %w", dir, fs.ErrNotExist)
	}
	w.Header.Shard, w.First, w.End = 0, 0, 0
	return w, nil
}

// readPart reads the header and determines the state of an existing part.
func (p *Part) readPart() {
	data, err := regular.ReadFile(p.Path.Join(headerFile).Path(), maxHeader)
	if errors.Is(err, fs.ErrNotExist) {
		p.State = Begun
		return
	}
	var s sealed
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&s)
	}
	if err == nil {
		err = s.checkHeader()
	}
	if err == nil && (s.Shard != p.Shard || s.Of != p.Of) {
		err = fmt.Errorf("is the part of shard %v", s.Header)
	}
	if err != nil {
		p.State, p.Why = Torn, err.Error()
		return
	}
	p.sealed, p.State = s, Present
	if s.Files == nil {
		p.State = Begun
	}
	for _, f := range s.Files {
		if info, err := os.Lstat(filepath.Join(p.Path.Path(), filepath.Base(f.Name))); err != nil ||
			info.Size() != f.Bytes {
			p.State, p.Why = Torn, fmt.Sprintf("file %s is missing or truncated", f.Name)
		}
	}
}

// listAgain returns the shards to run again, ascending: missing, begun and torn parts.
func (w *Whole) listAgain() (list []int) {
	for _, p := range w.Parts {
		if p.State != Present {
			list = append(list, p.Shard)
		}
	}
	return list
}

// Verify reads all parts and marks a part as torn if its checksums differ. It returns an error unless all parts are
// complete.
func (w *Whole) Verify(ctx context.Context) error {
	for i := range w.Parts {
		if p := &w.Parts[i]; p.State == Present {
			if err := p.verifyPart(ctx); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				p.State, p.Why = Torn, err.Error()
			}
		}
	}
	return w.checkComplete()
}

// checkComplete returns an error unless all parts are complete. The error lists the shards to run again.
func (w *Whole) checkComplete() error {
	again := w.listAgain()
	if len(again) == 0 {
		return nil
	}
	var why []string
	for _, p := range w.Parts {
		if p.State != Present && len(why) < 10 {
			why = append(why, strings.TrimSpace(fmt.Sprintf("%d %s %s", p.Shard, p.State, p.Why)))
		}
	}
	return hint.With(fmt.Errorf("parts: %s: %d of %d parts are missing: %s", Dir(w.Out), len(again), w.Of,
		strings.Join(why, ", ")), "run the same command again with --shard %d/%d and so on, or run tasks %s of the "+
		"array", again[0], w.Of, formatRanges(again))
}

// verifyPart reads the part and compares its checksums.
func (p *Part) verifyPart(ctx context.Context) error {
	for _, f := range p.Files {
		n, sum, err := digestFile(ctx, filepath.Join(p.Path.Path(), filepath.Base(f.Name)))
		if err == nil && (n != f.Bytes || sum != f.SHA256) {
			err = fmt.Errorf("file %s has changed since it was written", f.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteStatus writes the number of complete parts of an output, and returns an error unless all are complete.
func WriteStatus(w io.Writer, out location.Source) error {
	all, err := lookForParts(out)
	if err != nil {
		return hint.With(err, "give the --out of a command that runs with --shard, from the folder where it runs")
	}
	fmt.Fprintf(w, "%s: %d of %d parts of winnow %s complete\n", all.Out, all.Of-len(all.listAgain()), all.Of, all.Job)
	return all.checkComplete()
}

// Made describes the part that a machine made.
type Made struct {
	Part, Out location.Source // Out: the joined output
	Shard     string          // i/n
	Complete  bool            // the part existed already
}

// makePart makes the part h unless a complete part exists; fill writes the files. An unfinished part is continued; the
// files of a torn part are removed first.
func makePart(ctx context.Context, out location.Source, h Header, overwrite bool, fill func(at string) error) (Made,
	error) {
	m := Made{Part: Path(out, h.Shard, h.Of), Out: Out(out), Shard: h.String()}
	if out.IsRemote() {
		return m, hint.Misused("parts: %s: expected a path on a volume that all machines see", out)
	}
	at, state := m.Part.Path(), Missing
	if !overwrite {
		own, err := findStanding(ctx, out, h)
		if m.Complete = err == nil && own.State == Present; err != nil || m.Complete {
			return m, err
		}
		state = own.State
	}
	err := os.MkdirAll(at, 0o755)
	if err == nil {
		err = writeHeader(at, sealed{Header: h})
	}
	if err == nil && state == Torn { // any file may be damaged
		err = eachContent(at, func(path string) error { return os.Remove(path) })
	}
	if err != nil {
		return m, fmt.Errorf("parts: %w", err)
	}
	if err := fill(at); err != nil {
		return m, err
	}
	all := sealed{Header: h, Files: []file{}}
	if err := eachContent(at, func(path string) error {
		n, sum, err := digestFile(ctx, path)
		all.Files = append(all.Files, file{filepath.Base(path), n, sum})
		return err
	}); err != nil {
		return m, fmt.Errorf("parts: %w", err)
	}
	return m, writeHeader(at, all)
}

// eachContent calls do for the files in a part's folder, except the header and hidden files (names with a leading dot).
func eachContent(at string, do func(path string) error) error {
	entries, err := os.ReadDir(at)
	for _, e := range entries {
		if err == nil && e.Name() != headerFile && e.Name()[0] != '.' && e.Type().IsRegular() {
			err = do(filepath.Join(at, e.Name()))
		}
	}
	return err
}

func writeHeader(path string, s sealed) error {
	content, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(path, headerFile), append(content, '\n'))
}

// digestFile returns a file's length and sha256.
func digestFile(ctx context.Context, path string) (int64, string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, interrupt.NewReader(ctx, f))
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// findStanding returns the existing part h. It returns an error if other parts in the folder belong to another job.
func findStanding(ctx context.Context, out location.Source, h Header) (Part, error) {
	w, err := lookForParts(out)
	if errors.Is(err, fs.ErrNotExist) {
		return Part{State: Missing}, nil
	}
	if err == nil && w.Of != h.Of {
		err = fmt.Errorf("%s: contains one of %d parts, expected one of %d", Dir(out), w.Of, h.Of)
	}
	if err == nil && w.Job != "" { // all parts agree
		if why := w.diffHeader(h); why != "" {
			err = fmt.Errorf("%s: contains parts of another job: %s", Dir(out), why)
		}
	}
	if err != nil {
		return Part{}, hint.With(err, "name another --out, repeat the same settings, or remove %s", Dir(out))
	}
	own := w.Parts[h.Shard-1]
	if own.State == Present {
		if err := own.verifyPart(ctx); ctx.Err() != nil {
			return own, ctx.Err()
		} else if err != nil {
			own.State, own.Why = Torn, err.Error()
		}
	}
	return own, nil
}
