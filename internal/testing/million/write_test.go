// Package million writes a large manifest, its images and a feature store of synthetic vectors, to measure winnow;
// docs/log has the numbers.
//
//	go test ./internal/testing/million -run Make -n 1000000 -d 128 -out $PWD/million
//
// It writes list.csv (path,label,split; 1 % of the classes are for validation, the others for training), images.zip (a
// 2×2 image each, all different) and features/ (class centres with noise). A relative -out is relative to this folder.
//
// With -index it writes index/ instead, with the same vectors, and the queries one.npy and hundred.npy:
//
//	go test ./internal/testing/million -run Make -n 1000000 -d 512 -index -out $PWD/million
//	winnow search --index million/index million/hundred.npy --json
package million

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/search"
)

var (
	images  = flag.Int("n", 1_000_000, "images")
	width   = flag.Int("d", 128, "values per vector")
	classes = flag.Int("classes", 20_000, "classes")
	out     = flag.String("out", "", "folder to write")
	index   = flag.Bool("index", false, "write only index/ and queries")
)

// TestMake writes the files selected by the flags.
func TestMake(t *testing.T) {
	if *out == "" {
		t.Skip("million: set -out to write files")
	}
	m := million{*images, *width, *classes, *out}
	write := m.write
	if *index {
		write = m.writeIndex
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
}

type million struct {
	n, d, classes int
	out           string
}

func (m million) write() error {
	if m.n < 1 || m.n > 1<<32 || m.d < 1 || m.classes < 1 {
		return fmt.Errorf("%d images of %d values in %d classes, expected at least 1 of each", m.n, m.d, m.classes)
	}
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(m.out, "list.csv"), m.writeList); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(m.out, "images.zip"), m.writeImages); err != nil {
		return err
	}
	return m.writeStore()
}

func (m million) class(i int) int { return i % m.classes }

func (m million) path(i int) string { return fmt.Sprintf("c%05d/%07d.bmp", m.class(i), i) }

func (m million) writeList(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "path,label,split")
	for i := range m.n {
		split := "train"
		if m.class(i)%100 == 0 { // all images of 1 % of the classes
			split = "validation"
		}
		fmt.Fprintf(out, "%s,%d,%s\n", m.path(i), m.class(i), split)
	}
	return out.Flush()
}

func (m million) writeImages(w io.Writer) error {
	out := zip.NewWriter(w)
	for i := range m.n {
		f, err := out.CreateHeader(&zip.FileHeader{Name: m.path(i), Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := f.Write(bitmap(uint32(i))); err != nil {
			return err
		}
	}
	return out.Close()
}

// bitmap returns a 2×2 image as a 24-bit BMP whose colours encode the number.
func bitmap(i uint32) []byte {
	b := make([]byte, 70)
	copy(b, "BM")
	for at, v := range map[int]uint32{2: 70, 10: 54, 14: 40, 18: 2, 22: 2, 34: 16} {
		binary.LittleEndian.PutUint32(b[at:], v)
	}
	b[26], b[28] = 1, 24
	binary.LittleEndian.PutUint32(b[54:], i)
	return b
}

func (m million) writeStore() error {
	paths := make([]string, m.n)
	for i := range paths {
		paths[i] = m.path(i)
	}
	const batch = 4096
	plan := features.Plan{Paths: paths, Dim: m.d, Batch: batch, Device: "cpu", Winnow: "million",
		Key: features.Key{Model: "made up", Output: "vectors", Preprocessing: "{}", Views: []string{"center"}}}
	w, err := features.Create(filepath.Join(m.out, "features"), plan, true)
	if err != nil {
		return err
	}
	defer w.Close()
	next := m.vectors()
	for w.Rows() < m.n {
		if err := w.Append(next(min(batch, m.n-w.Rows())), nil); err != nil {
			return err
		}
	}
	_, err = w.Finish(context.Background())
	return err
}

// vectors returns a function that returns the vectors of the next n images.
func (m million) vectors() func(n int) blas32.General {
	rng := rand.New(rand.NewPCG(1, 0x6d696c6c)) // "mill"
	centres := features.NewMatrix(m.classes, m.d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	at := 0
	return func(n int) blas32.General {
		x := features.NewMatrix(n, m.d)
		for i := range n {
			row, centre := features.Row(x, i), features.Row(centres, m.class(at+i))
			for j := range row {
				row[j] = centre[j] + 1.5*float32(rng.NormFloat64())
			}
		}
		at += n
		return x
	}
}

// writeIndex writes an index, and the vectors of its first images as queries.
func (m million) writeIndex() error {
	if m.n < 1 || m.n > 1<<32 || m.d < 1 || m.classes < 1 {
		return fmt.Errorf("%d images of %d values in %d classes, expected at least 1 of each", m.n, m.d, m.classes)
	}
	paths := make([]string, m.n)
	for i := range paths {
		paths[i] = m.path(i)
	}
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return err
	}
	x, err := search.Create(filepath.Join(m.out, "index"),
		search.Embedder{Model: "made up", Output: "vectors", Preprocessing: "{}"}, m.d, paths)
	if err != nil {
		return err
	}
	defer x.Close()
	next := m.vectors()
	for x.Rows() < m.n {
		if err := x.Append(next(min(4096, m.n-x.Rows())), nil); err != nil {
			return err
		}
	}
	if err := x.Flush(); err != nil {
		return err
	}
	for name, n := range map[string]int{"one.npy": 1, "hundred.npy": 100} {
		queries := million{n: n, d: m.d, classes: m.classes}.vectors()(n)
		if err := atomicfile.Write(filepath.Join(m.out, name),
			func(w io.Writer) error { return features.WriteNPY(w, queries) }); err != nil {
			return err
		}
	}
	return x.Close()
}
