package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
)

// counting is a job over counted.
var (
	counting = Job[[]string]{Name: "count", Unit: "rows"}
	counted  = Rows{Total: 20, Batch: 1, Inputs: map[string]string{"list": "abc"},
		Settings: map[string]string{"k": "5"}, Winnow: "v1"}
)

func header(t testing.TB, i, of int) Header {
	t.Helper()
	h, err := counting.partHeader(Shard{Index: i, Of: of}, counted)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func content(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func filled(t testing.TB, of int) (out location.Source) {
	t.Helper()
	out = location.At(filepath.Join(t.TempDir(), "out.csv"))
	for i := 1; i <= of; i++ {
		if m, err := writeShardPart(t.Context(), out, header(t, i, of), content(strings.Repeat("x\n",
			i))); err != nil ||
			m.Complete {
			t.Fatal(m, err)
		}
	}
	return out
}

// A part is written once, found, and read as it was written.
func TestWrite(t *testing.T) {
	out := filled(t, 3)
	m, err := writeShardPart(
		t.Context(),
		out,
		header(t, 2, 3),
		func(io.Writer) error { return errors.New("was called") },
	)
	if err != nil || !m.Complete {
		t.Error(m, err)
	}
	var told bytes.Buffer
	if err := m.Write(&told); err != nil || told.String() != out.String()+".parts/2-of-3: rows 7 to 13 of 20, was "+
		"complete: nothing to do\nshard 2/3: when all are there: winnow join "+out.String()+"\n" {
		t.Errorf("%s, %v", told.String(), err)
	}
	for _, name := range []string{"", ".parts", ".parts/"} {
		w, err := lookForParts(t.Context(), out.With(out.Path()+name))
		if err != nil {
			t.Fatal(err)
		}
		if w.Out != out || w.Job != "count" || w.Of != 3 || len(w.listAgain()) != 0 ||
			!slices.Equal(w.In(Present), []int{1, 2, 3}) {
			t.Errorf("found %+v", w)
		}
		if err := w.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		for i, p := range w.Parts {
			var b []byte
			if err := p.readContent(func(r io.Reader) (err error) { b, err = io.ReadAll(r); return err }); err != nil ||
				string(b) != strings.Repeat("x\n", i+1) {
				t.Errorf("%q, %v", b, err)
			}
		}
	}
	if _, err := writeShardPart(t.Context(), out, header(t, 1, 2), content("")); err == nil ||
		!strings.Contains(err.Error(), "one of 3 parts and one of 2") {
		t.Error(err)
	}
	failed := errors.New("no")
	if _, err := writeShardPart(t.Context(), location.At(filepath.Join(t.TempDir(), "o")), header(t, 1, 2),
		func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := writeShardPart(ctx, out, header(t, 1, 3), content("")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A part damaged by a crash or a disk is reported as torn and made again.
func TestTorn(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"only its header": func(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] },
		"half a header":   func(b []byte) []byte { return b[:20] },
		"a byte short":    func(b []byte) []byte { return b[:len(b)-1] },
		"a byte more":     func(b []byte) []byte { return append(b, 0) },
		"a line less":     func(b []byte) []byte { i := bytes.IndexByte(b, '\n'); return slices.Delete(b, i+1, i+3) },
		"another byte":    func(b []byte) []byte { b[bytes.IndexByte(b, '\n')+1] = 'y'; return b },
		"another version": func(b []byte) []byte { return bytes.Replace(b, []byte(`"v1"`), []byte(`"v2"`), 1) },
		"another format":  func(b []byte) []byte { return bytes.Replace(b, []byte(`part":1`), []byte(`part":2`), 1) },
		"another shard": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"shard":2`), []byte(`"shard":3`), 1)
		},
		"no JSON": func(b []byte) []byte { b[0] = 'x'; return b },
	} {
		out := filled(t, 3)
		path := Path(out, 2, 3).Path()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, spoil(b), 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := lookForParts(t.Context(), out)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := w.Verify(t.Context()); err == nil || !strings.Contains(err.Error(),
			"1 of 3 parts cannot be joined: torn: 2; "+path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := writeShardPart(t.Context(), out, header(t, 2, 3), content("x\nx\n")); err != nil || m.Complete {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if w, err = lookForParts(t.Context(), out); err != nil || w.Verify(t.Context()) != nil {
			t.Errorf("%s: still torn: %v", name, err)
		}
	}
}

func TestMissing(t *testing.T) {
	out := filled(t, 8)
	for _, i := range []int{2, 3, 4, 8} {
		if err := os.Remove(Path(out, i, 8).Path()); err != nil {
			t.Fatal(err)
		}
	}
	w, err := lookForParts(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(t.Context()); err == nil || !strings.Contains(err.Error(),
		"4 of 8 parts cannot be joined: missing: 2-4,8") {
		t.Error(err)
	}
	nothing := location.At(filepath.Join(t.TempDir(), "nothing"))
	if _, err := lookForParts(t.Context(), nothing); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Parts of different jobs are never joined, and a new one is refused before it is computed.
func TestApart(t *testing.T) {
	for want, change := range map[string]func(*Header){
		"made by winnow count and by winnow tell": func(h *Header) { h.Job = "tell" },
		"of 20 rows and of 30":                    func(h *Header) { h.Total = 30 },
		`input "list": sha256 abc… and abd…`:      func(h *Header) { h.Inputs = map[string]string{"list": "abd"} },
		`input "list" is in only one of them`:     func(h *Header) { h.Inputs = nil },
		`input "more" is in only one of them`: func(h *Header) {
			h.Inputs = map[string]string{"list": "abc", "more": "x"}
		},
		`setting "k": 5 and 6`:        func(h *Header) { h.Settings = map[string]string{"k": "6"} },
		"one of 3 parts and one of 4": func(h *Header) { h.Of = 4 },
	} {
		out, other := filled(t, 3), location.At(filepath.Join(t.TempDir(), "other"))
		h := header(t, 2, 3)
		change(&h)
		if _, err := writeShardPart(t.Context(), out, h, content("")); err == nil ||
			!strings.Contains(err.Error(), "holds parts of another job: "+want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := writeShardPart(t.Context(), other, h, content("")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(Path(other, 2, h.Of).Path(), Path(out, 2, h.Of).Path()); err != nil {
			t.Fatal(err)
		}
		_, err := lookForParts(t.Context(), out)
		if _, ok := errors.AsType[*ApartError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A part that is a folder is begun until it is finished, and torn if a file is lost or changed.
func TestFolder(t *testing.T) {
	out := location.At(filepath.Join(t.TempDir(), "store"))
	h := header(t, 1, 1)
	path := Path(out, 1, 1).Path()
	fill := func() {
		t.Helper()
		if err := os.WriteFile(filepath.Join(path, "a"), []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	state := func() State {
		t.Helper()
		w, err := lookForParts(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Verify(t.Context())
		return w.Parts[0].State
	}
	begun := func(want State) {
		t.Helper()
		at, s, err := preparePart(t.Context(), out, h, false)
		if err != nil || s != want || s != Present && at != path {
			t.Fatalf("%s, %s, %v, expected %s", at, s, err, want)
		}
	}
	begun(Missing)
	if s := state(); s != Begun {
		t.Error(s)
	}
	fill()
	begun(Begun)
	if err := finishPart(t.Context(), out, h, path); err != nil {
		t.Fatal(err)
	}
	begun(Present)
	if s := state(); s != Present {
		t.Error(s)
	}
	for name, spoil := range map[string]func() error{
		"shorter": func() error { return os.Truncate(filepath.Join(path, "a"), 3) },
		"other":   func() error { return os.WriteFile(filepath.Join(path, "a"), []byte("12346"), 0o644) },
		"gone":    func() error { return os.Remove(filepath.Join(path, "a")) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if s := state(); s != Torn {
			t.Errorf("%s: %s", name, s)
		}
		begun(Torn)
		if _, err := os.Stat(filepath.Join(path, "a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the damaged file is still there", name)
		}
		fill()
		if err := finishPart(t.Context(), out, h, path); err != nil {
			t.Fatal(err)
		}
	}
	other := h
	other.Settings = nil
	if _, _, err := preparePart(t.Context(), out, other, false); err == nil {
		t.Error("another job's part is begun")
	}
	if _, _, err := preparePart(t.Context(), out, other, true); err != nil {
		t.Error(err)
	}
}

// FuzzPart reads arbitrary bytes as a part.
func FuzzPart(f *testing.F) {
	out := filled(f, 1)
	b, err := os.ReadFile(Path(out, 1, 1).Path())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := location.At(filepath.Join(t.TempDir(), "o"))
		if err := os.MkdirAll(Dir(out).Path(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(Path(out, 1, 1).Path(), b, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := lookForParts(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		if w.Verify(t.Context()) == nil {
			if err := w.Parts[0].readContent(func(r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			}); err != nil {
				t.Errorf("verified, but %v", err)
			}
		}
	})
}
