package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/internal/testing/killed"
)

// counting is a job with the rows counted.
var (
	counting = Job{Name: "count", Unit: "rows"}
	counted  = Rows{Total: 20, Batch: 1, Inputs: map[string]string{"list": "abc"},
		Settings: map[string]string{"k": "5"}, Winnow: "v1"}
)

// makeTextPart makes a part whose file contains a text.
func makeTextPart(t testing.TB, out location.Source, i, of int, rows Rows, text string) (Made, error) {
	t.Helper()
	return counting.Fill(t.Context(), out, Shard{Index: i, Of: of}, rows, false, func(at string) error {
		return os.WriteFile(filepath.Join(at, "a"), []byte(text), 0o644)
	})
}

func filled(t testing.TB, of int) (out location.Source) {
	t.Helper()
	out = location.At(filepath.Join(t.TempDir(), "out.csv"))
	for i := 1; i <= of; i++ {
		if m, err := makeTextPart(t, out, i, of, counted, strings.Repeat("x", i)); err != nil || m.Complete {
			t.Fatal(m, err)
		}
	}
	return out
}

func lookFor(t testing.TB, out location.Source) *Whole {
	t.Helper()
	w, err := lookForParts(out)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A part is made only once, and is found by the name of the output and by the folder of the parts.
func TestMake(t *testing.T) {
	out := filled(t, 3)
	m, err := counting.Fill(t.Context(), out, Shard{Index: 2, Of: 3}, counted, false, func(string) error {
		return errors.New("was called")
	})
	if err != nil || !m.Complete {
		t.Error(m, err)
	}
	for _, name := range []string{"", ".parts", ".parts/"} {
		w := lookFor(t, out.With(out.Path()+name))
		if err := w.Verify(t.Context()); w.Out != out || w.Job != "count" || w.Of != 3 || err != nil {
			t.Errorf("found %+v, %v", w, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := counting.Fill(ctx, out, Shard{Index: 1, Of: 3}, counted, false, nil); !errors.Is(
		err,
		context.Canceled,
	) {
		t.Error(err)
	}
}

// A part that was damaged is torn, and is made again.
func TestTorn(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"shorter":       func(dir string) error { return os.Truncate(filepath.Join(dir, "a"), 1) },
		"another byte":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("xy"), 0o644) },
		"gone":          func(dir string) error { return os.Remove(filepath.Join(dir, "a")) },
		"no header":     func(dir string) error { return os.Remove(filepath.Join(dir, headerFile)) },
		"half a header": func(dir string) error { return os.Truncate(filepath.Join(dir, headerFile), 20) },
		"another shard": func(dir string) error {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "3-of-3", headerFile))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, headerFile), data, 0o644))
		},
	} {
		out := filled(t, 3)
		if err := spoil(Path(out, 2, 3).Path()); err != nil {
			t.Fatal(err)
		}
		if err := lookFor(t, out).Verify(t.Context()); err == nil || !strings.Contains(err.Error(),
			"1 of 3 parts are missing: 2 ") {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := makeTextPart(t, out, 2, 3, counted, "xx"); err != nil || m.Complete {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if err := lookFor(t, out).Verify(t.Context()); err != nil {
			t.Errorf("%s: still torn: %v", name, err)
		}
	}
}

func TestStatus(t *testing.T) {
	out := filled(t, 8)
	var b strings.Builder
	if err := WriteStatus(&b, out); err != nil || !strings.Contains(b.String(), "8 of 8 parts") {
		t.Errorf("%v: %s", err, b.String())
	}
	for _, i := range []int{2, 3, 4, 8} {
		if err := os.RemoveAll(Path(out, i, 8).Path()); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteStatus(&b, out); err == nil ||
		!strings.Contains(err.Error(), "4 of 8 parts are missing: 2 missing,") {
		t.Error(err)
	}
	if got := formatRanges(lookFor(t, out).listAgain()); got != "2-4,8" {
		t.Error(got)
	}
	if err := WriteStatus(&b, location.At(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Parts of different jobs are never joined, and a part of another job is rejected before it is computed.
func TestApart(t *testing.T) {
	for want, change := range map[string]func(*Rows, *int){
		"rows":             func(r *Rows, _ *int) { r.Total = 30 },
		`input list`:       func(r *Rows, _ *int) { r.Inputs = map[string]string{"list": "abd"} },
		"different inputs": func(r *Rows, _ *int) { r.Inputs = map[string]string{"list": "abc", "more": "x"} },
		`setting k`:        func(r *Rows, _ *int) { r.Settings = map[string]string{"k": "6"} },
		"one of 3 parts,":  func(_ *Rows, of *int) { *of = 4 },
	} {
		out, other, of, rows := filled(t, 3), location.At(filepath.Join(t.TempDir(), "other")), 3, counted
		change(&rows, &of)
		if _, err := makeTextPart(t, out, 2, of, rows, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := makeTextPart(t, other, 2, of, rows, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(Path(out, 2, of).Path()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(Path(other, 2, of).Path(), Path(out, 2, of).Path()); err != nil {
			t.Fatal(err)
		}
		if _, err := lookForParts(out); err == nil {
			t.Errorf("%s: no error for parts of different jobs", want)
		}
	}
}

// killedOut names the output for which TestKilledChild makes a part in another process.
const killedOut = "WINNOW_TEST_KILLED_PART"

// TestKilledChild is a helper process, not a test: it writes half of a part, reports that, and waits to be killed.
func TestKilledChild(t *testing.T) {
	out, ok := os.LookupEnv(killedOut)
	if !ok {
		t.Skip("only run by TestKilled")
	}
	_, err := counting.Fill(
		t.Context(),
		location.At(out),
		Shard{Index: 2, Of: 3},
		counted,
		false,
		func(at string) error {
			return errors.Join(os.WriteFile(filepath.Join(at, "a"), []byte("x"), 0o644), killed.Halfway())
		},
	)
	t.Fatal("continued after half of the part:", err)
}

// A process that is killed while it makes a part leaves an unfinished part. The same command then completes it.
func TestKilled(t *testing.T) {
	out := filled(t, 3)
	if err := os.RemoveAll(Path(out, 2, 3).Path()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		killed.Child(t, "TestKilledChild", killedOut+"="+out.String())
		if w := lookFor(t, out); len(w.listAgain()) != 1 || w.Parts[1].State != Begun {
			t.Fatalf("found %+v", w.Parts[1])
		}
	}
	if m, err := makeTextPart(t, out, 2, 3, counted, "xx"); err != nil || m.Complete {
		t.Fatal(m, err)
	}
	if err := lookFor(t, out).Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// FuzzPart reads arbitrary bytes as a part's header.
func FuzzPart(f *testing.F) {
	b, err := os.ReadFile(Path(filled(f, 1), 1, 1).Join(headerFile).Path())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		out := location.At(filepath.Join(t.TempDir(), "o"))
		at := Path(out, 1, 1)
		if err := errors.Join(os.MkdirAll(at.Path(), 0o755),
			os.WriteFile(at.Join(headerFile).Path(), b, 0o644)); err != nil {
			t.Fatal(err)
		}
		if w, err := lookForParts(out); err == nil {
			_ = w.Verify(t.Context())
			_ = WriteStatus(io.Discard, out)
		}
	})
}
