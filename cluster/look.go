package cluster

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"winnow/datasets/location"
)

// State says how complete a part is.
type State string

const (
	Missing State = "missing"
	Begun   State = "begun"   // a folder that is being filled, or whose machine stopped
	Torn    State = "torn"    // cut short or changed
	Present State = "present" // complete by its length; Whole.Verify reads all of it
)

// Part is the part of a shard, whether it exists or not.
type Part struct {
	Header                 // only Shard and Of, if it cannot be read
	Path   location.Source `json:"path"`
	State  State           `json:"state"`
	Why    string          `json:"why,omitempty"` // torn: how

	ctx context.Context // ends requests to an object store
}

// Whole is the state of an output's parts.
type Whole struct {
	Out    location.Source
	Header        // common to all parts; Job is "" if no header can be read
	Parts  []Part // of every shard, in order
}

// ApartError reports two parts of different jobs.
type ApartError struct {
	A, B location.Source
	Why  string
}

func (e *ApartError) Error() string {
	return fmt.Sprintf("parts: %s and %s cannot be joined: %s", e.A, e.B, e.Why)
}

// lookForParts finds the parts of an output and reads their headers and lengths. out is the output or the folder of its
// parts. The error is an *ApartError if the parts are of different jobs, and fs.ErrNotExist if there are none.
func lookForParts(ctx context.Context, out location.Source) (*Whole, error) {
	dir := Dir(out)
	entries, err := dir.ReadDir(ctx)
	if err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	w := &Whole{Out: Out(out)}
	var like *Part         // the first with a header
	var at location.Source // the first of all
	for _, e := range entries {
		index, of, ok := parseName(e.Name())
		if !ok {
			continue
		}
		path := dir.Join(e.Name())
		if at.IsZero() {
			at, w.Of = path, of
			w.Parts = make([]Part, of)
			for i := range w.Parts {
				w.Parts[i] = Part{Header: Header{Shard: i + 1, Of: of}, Path: Path(out, i+1, of), State: Missing,
					ctx: ctx}
			}
		}
		if of != w.Of {
			return nil, &ApartError{at, path, fmt.Sprintf("one of %d parts and one of %d", w.Of, of)}
		}
		p := &w.Parts[index-1]
		p.inspectPart(e.IsDir())
		switch {
		case p.Job == "":
		case like == nil:
			like = p
			w.Header = p.Header
		default:
			if why := like.diffHeader(p.Header); why != "" {
				return nil, &ApartError{like.Path, p.Path, why}
			}
		}
	}
	if at.IsZero() {
		return nil, fmt.Errorf("parts: %s: holds no part: %w", dir, fs.ErrNotExist)
	}
	w.Header.Shard, w.First, w.End = 0, 0, 0
	return w, nil
}

// In returns the shards in a state, in rising order.
func (w *Whole) In(s State) []int {
	var list []int
	for _, p := range w.Parts {
		if p.State == s {
			list = append(list, p.Shard)
		}
	}
	return list
}

// listAgain returns the shards to run again, in rising order: those missing, begun or torn.
func (w *Whole) listAgain() []int {
	var list []int
	for _, p := range w.Parts {
		if p.State != Present {
			list = append(list, p.Shard)
		}
	}
	return list
}

// formatRanges formats rising numbers as ranges, as Slurm takes them: 1-3,7.
func formatRanges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if fmt.Fprint(&b, numbers[i]); j > i {
			fmt.Fprintf(&b, "-%d", numbers[j])
		}
		i = j + 1
	}
	return b.String()
}

// inspectPart reads the header and the state of a part that exists.
func (p *Part) inspectPart(dir bool) {
	h, state, err := p.readPartState(dir)
	if err == nil && h.Job != "" && (h.Shard != p.Shard || h.Of != p.Of) {
		err = fmt.Errorf("says that it is shard %v", h)
		h = Header{}
	}
	if h.Job != "" {
		p.Header = h
	}
	if p.State = state; err != nil {
		p.State, p.Why = Torn, err.Error()
	}
}

func (p *Part) readPartState(dir bool) (Header, State, error) {
	if dir {
		return p.lookFolder()
	}
	f, err := p.Path.Open(p.ctx)
	if err != nil {
		return Header{}, Torn, err
	}
	defer f.Close()
	h, _, err := readHead(f)
	if err != nil {
		return h, Torn, err
	}
	_, err = readSeal(f)
	return h, Present, err
}

// readHead reads the header, the first line, and returns its length.
func readHead(r io.Reader) (h Header, n int64, err error) {
	line, err := bufio.NewReaderSize(io.LimitReader(r, maxHeader), 1<<12).ReadBytes('\n')
	if err != nil {
		return h, 0, errors.New("its header is cut short")
	}
	if err := parseHeader(line, &h, &h); err != nil {
		return Header{}, 0, err
	}
	return h, int64(len(line)), nil
}

// readSeal returns the sum at the end of a part's file and checks the file's length.
func readSeal(f location.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	seal := make([]byte, sealBytes)
	if info.Size() < int64(sealBytes) {
		return nil, errors.New("is cut short")
	}
	if _, err := f.ReadAt(seal, info.Size()-int64(sealBytes)); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(seal[sha256.Size:])
	if string(seal[sha256.Size+8:]) != endMark || n != uint64(info.Size()-int64(sealBytes)) {
		return nil, errors.New("is cut short")
	}
	return seal[:sha256.Size], nil
}

// sealedFolder reads the header and the list of files of a part that is a folder.
func (p *Part) sealedFolder() (s sealed, err error) {
	f, err := p.Path.Join(headerFile).Open(p.ctx)
	if err != nil {
		return s, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxHeader))
	if err != nil {
		return s, err
	}
	return s, parseHeader(content, &s, &s.Header)
}

func (p *Part) lookFolder() (Header, State, error) {
	s, err := p.sealedFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return Header{}, Begun, nil
	}
	if err != nil {
		return Header{}, Torn, err
	}
	if s.Files == nil {
		return s.Header, Begun, nil
	}
	entries, err := p.Path.ReadDir(p.ctx)
	if err != nil {
		return s.Header, Torn, err
	}
	sizes := map[string]int64{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sizes[e.Name()] = info.Size()
		}
	}
	for _, f := range s.Files {
		switch size, ok := sizes[f.Name]; {
		case !ok:
			return s.Header, Torn, fmt.Errorf("is without %s", f.Name)
		case size != f.Bytes:
			return s.Header, Torn, fmt.Errorf("has a %s of %d bytes, expected %d", f.Name, size, f.Bytes)
		}
	}
	return s.Header, Present, nil
}

// readContent calls read with what the job wrote into a part's file.
func (p *Part) readContent(read func(io.Reader) error) error {
	f, err := p.Path.Open(p.ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	_, head, err := readHead(f)
	if err != nil {
		return fmt.Errorf("parts: %s %w", p.Path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := read(bufio.NewReaderSize(io.NewSectionReader(f, head, info.Size()-head-int64(sealBytes)),
		1<<16)); err != nil {
		return fmt.Errorf("parts: %s: %w", p.Path, err)
	}
	return nil
}
