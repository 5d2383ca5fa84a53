package million

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"winnow/features"
	"winnow/search"
)

func TestWrite(t *testing.T) {
	m := million{n: 5000, d: 3, classes: 200, out: t.TempDir()}
	if err := m.write(); err != nil {
		t.Fatal(err)
	}
	s, err := features.Open(filepath.Join(m.out, "features"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context()); err != nil || s.Rows != m.n || s.Dim != m.d {
		t.Errorf("%v: %d×%d", err, s.Rows, s.Dim)
	}
	list, err := os.ReadFile(filepath.Join(m.out, "list.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if n, held := bytes.Count(list, []byte("\n")), bytes.Count(list, []byte(",validation\n")); n != m.n+1 ||
		held != 50 {
		t.Errorf("%d lines, %d for validation", n, held)
	}
	z, err := zip.OpenReader(filepath.Join(m.out, "images.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != m.n || z.File[7].Name != s.Paths[7] || z.File[7].CRC32 == z.File[8].CRC32 {
		t.Errorf("%d pictures", len(z.File))
	}
	if err := (million{out: m.out}).write(); err == nil {
		t.Error("no images, no error")
	}
}

func TestWriteIndex(t *testing.T) {
	m := million{n: 5000, d: 3, classes: 200, out: t.TempDir()}
	if err := m.writeIndex(); err != nil {
		t.Fatal(err)
	}
	ix, err := search.Open(filepath.Join(m.out, "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	if err := ix.Verify(); err != nil || ix.Rows != m.n || ix.Dim != m.d {
		t.Errorf("%v: %d×%d", err, ix.Rows, ix.Dim)
	}
	f, err := os.ReadFile(filepath.Join(m.out, "hundred.npy"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := features.ReadNPY(bytes.NewReader(f), int64(len(f)))
	if err != nil || a.Shape[0] != 100 || a.Shape[1] != 3 {
		t.Fatalf("%v: %v", err, a.Shape)
	}
	queries, err := a.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	search.UnitRows(queries)
	found, err := search.Nearest(t.Context(), ix, features.Set{X: queries}, 1, nil)
	if err != nil || found[42][0].Row != 42 || found[42][0].Similarity < 1-1e-6 {
		t.Errorf("%v: %v", err, found[42])
	}
}
