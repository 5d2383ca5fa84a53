package backbone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// sums is a network whose vectors are moments of the pixels. It can fail at chosen runs.
type sums struct {
	size   int
	runs   atomic.Int64
	before func(run int64) error
}

func (s *sums) Dim() int { return 5 }

func (s *sums) Infer(dst blas32.General, pixels []float32, n int) error {
	if dst.Rows != n || dst.Cols != 5 || len(pixels) != n*s.size {
		return fmt.Errorf("%d images of %d values into %d×%d", n, len(pixels), dst.Rows, dst.Cols)
	}
	if s.before != nil {
		if err := s.before(s.runs.Add(1)); err != nil {
			return err
		}
	}
	var all float32 // over the whole batch: detects pixels left from another batch
	for _, v := range pixels {
		all += v
	}
	for i := range n {
		row := features.Row(dst, i)
		clear(row)
		row[1] = all
		for j, v := range pixels[i*s.size : (i+1)*s.size] {
			row[j%5] += v * float32(j%7+n%3) // n: an image in a batch of another size gets other bits
		}
		row[0]++ // never the zero vector, which marks an unreadable image
	}
	return nil
}

var tiny = Preprocessing{Resize: 20, Crop: 16, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
	Std: [3]float32{1, 1, 1}}

// album returns n small images, three of them unreadable.
func album(t testing.TB, n int) (fstest.MapFS, []string) {
	t.Helper()
	files := fstest.MapFS{}
	paths := make([]string, n)
	pictures := [][]byte{readFile(t, "testdata/pil/jpeg-420.jpg"), readFile(t, "testdata/pil/png-palette.png"),
		readFile(t, "testdata/pil/jpeg-grey.jpg"), readFile(t, "testdata/pil/gif.gif"), readFile(t,
			"testdata/pil/resize.png")}
	for i := range n {
		paths[i] = fmt.Sprintf("class/%03d.jpg", i)
		data := pictures[i*i%len(pictures)]
		switch i {
		case 3:
			data = []byte("path,label\n")
		case 9:
			data = data[:len(data)/2]
		case 12:
			continue // the file is missing
		}
		files[paths[i]] = &fstest.MapFile{Data: data}
	}
	return files, paths
}

func plan(paths []string, batch int) features.Plan {
	return features.Plan{Key: features.Key{Model: "sums", Views: []string{"center"}}, Paths: paths, Dim: 5,
		Batch: batch, Device: "cpu"}
}

// extractTo runs one extraction into dir until it ends or fails.
func extractTo(t testing.TB, ctx context.Context, dir string, net *sums, files fs.FS, paths []string,
	cfg ExtractConfig, observe func(Progress)) error {
	t.Helper()
	w, err := features.Create(dir, plan(paths, cfg.Batch), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Extract(ctx, cfg, net, files, paths, flushing{w}, observe); err != nil {
		return err
	}
	_, err = w.Finish(t.Context())
	return err
}

// flushing writes every batch to disk at once; a plain Writer collects several hundred rows first.
type flushing struct{ *features.Writer }

func (w flushing) Append(x blas32.General, bad []features.Bad) error {
	return errors.Join(w.Writer.Append(x, bad), w.Writer.Flush())
}

func storeBytes(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	for _, name := range []string{"features.npy", "paths.txt", "store.json"} {
		all = append(all, string(readFile(t, filepath.Join(dir, name))))
	}
	return all
}

func newSums() *sums { return &sums{size: tiny.Size()} }

// opened counts how often each file is opened.
type opened struct {
	fs.FS
	mu    sync.Mutex
	times map[string]int
}

func (o *opened) Open(name string) (fs.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.times[name]++
	return o.FS.Open(name)
}

// The first readable image, which Extract probes, is not read twice.
func TestImagesAreReadOnce(t *testing.T) {
	files, paths := album(t, 23)
	paths = paths[3:] // the first path is not an image
	dir, cfg := t.TempDir(), ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 3}
	o := &opened{FS: struct{ fs.FS }{files}, times: map[string]int{}}
	if err := extractTo(t, t.Context(), dir, newSums(), o, paths, cfg, nil); err != nil {
		t.Fatal(err)
	}
	if o.times[paths[0]] != 2 || o.times[paths[1]] != 1 || o.times[paths[2]] != 1 {
		t.Errorf("opened %v", o.times)
	}
	known := t.TempDir()
	cfg.Known = true
	if err := extractTo(t, t.Context(), known, newSums(), files, paths, cfg, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(storeBytes(t, known), storeBytes(t, dir)); diff != "" {
		t.Errorf("store with the first image read ahead (-without +with):\n%s", diff)
	}
	cfg.Views = []View{centreView()}
	none := fstest.MapFS{}
	if err := extractTo(t, t.Context(), t.TempDir(), newSums(), none, paths, cfg, nil); err != nil {
		t.Errorf("no image is readable, but others of the root were: %v", err)
	}
}

func TestExtract(t *testing.T) {
	files, paths := album(t, 23)
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 3}
	dir := t.TempDir()
	var told []Progress
	if err := extractTo(t, t.Context(), dir, newSums(), files, paths, cfg,
		func(p Progress) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	s, err := features.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []features.Bad{
		{Row: 3, Path: paths[3],
			Reason: `not an image: starts with "path,label\n", expected JPEG, PNG, GIF, BMP or WebP`},
		{Row: 9, Path: paths[9], Reason: "jpeg: the file is cut short"},
		{Row: 12, Path: paths[12], Reason: "file does not exist"},
	}
	if !strings.HasPrefix(s.Bad[1].Reason, "png: ") && !strings.HasPrefix(s.Bad[1].Reason, "jpeg: ") {
		t.Errorf("reason %q", s.Bad[1].Reason)
	}
	want[1].Reason = s.Bad[1].Reason
	if diff := cmp.Diff(want, s.Bad); diff != "" {
		t.Errorf("unreadable (-want +got):\n%s", diff)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for first := 0; first < 23; first += 4 { // the same computation without goroutines
		n := min(4, 23-first)
		pixels := make([]float32, n*tiny.Size())
		for i := range n {
			img, err := Decode(fileData(files, paths[first+i]), DecodeOptions{})
			if err != nil {
				continue
			}
			if err := Preprocess(pixels[i*tiny.Size():(i+1)*tiny.Size()], img, tiny); err != nil {
				t.Fatal(err)
			}
		}
		out := features.NewMatrix(n, 5)
		if err := newSums().Infer(out, pixels, n); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			row := features.Row(out, i)
			if _, bad := s.BadRows()[first+i]; bad {
				clear(row)
			}
			if !cmp.Equal(row, features.Row(x, first+i)) {
				t.Errorf("row %d is %v, expected %v", first+i, features.Row(x, first+i), row)
			}
		}
	}
	last := told[len(told)-1]
	if len(told) != 6 || last != (Progress{Done: 23, Total: 23, Bad: 3}) {
		t.Errorf("told %v", told)
	}
}

func fileData(files fstest.MapFS, path string) []byte {
	if f := files[path]; f != nil {
		return f.Data
	}
	return nil
}

// TestExtractAgainAndAgain makes the network cancel, fail and panic at random batches, and resumes until the store is
// complete. The bytes must equal those of an uninterrupted run.
func TestExtractAgainAndAgain(t *testing.T) {
	files, paths := album(t, 61)
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 2}
	calm := t.TempDir()
	if err := extractTo(t, t.Context(), calm, newSums(), files, paths, cfg, nil); err != nil {
		t.Fatal(err)
	}
	want := storeBytes(t, calm)
	failed := errors.New("out of memory")
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		stops := 0
		for {
			ctx, cancel := context.WithCancel(t.Context())
			net := newSums()
			at, how := int64(1+rng.IntN(9)), rng.IntN(3)
			net.before = func(run int64) error {
				if run != at {
					return nil
				}
				stops++
				switch how {
				case 0:
					cancel()
					return nil
				case 1:
					return failed
				}
				panic("killed")
			}
			err := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("panic: %v", p)
					}
				}()
				return extractTo(t, ctx, dir, net, files, paths, cfg, nil)
			}()
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) && !errors.Is(err, failed) && err.Error() != "panic: killed" {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if stops == 0 {
			t.Errorf("seed %d: never stopped", seed)
		}
		if diff := cmp.Diff(want, storeBytes(t, dir)); diff != "" {
			t.Errorf("seed %d: after %d stops (-want +got):\n%s", seed, stops, diff)
		}
	}
}

// TestCancelKeepsWhatIsDone checks that the current batch is completed and stored.
func TestCancelKeepsWhatIsDone(t *testing.T) {
	files, paths := album(t, 61)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	net := newSums()
	net.before = func(run int64) error {
		if run == 5 {
			cancel()
		}
		return nil
	}
	w, err := features.Create(dir, plan(paths, 4), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := Extract(ctx, ExtractConfig{Preprocessing: tiny, Batch: 4}, net, files, paths, w, nil); !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = features.Create(dir, plan(paths, 4), false); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Rows() != 20 {
		t.Errorf("%d rows kept, expected 20", w.Rows())
	}
}

// TestKilledProcess kills a real extraction process with SIGKILL and resumes it.
func TestKilledProcess(t *testing.T) {
	files, paths := album(t, 61)
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 2}
	if dir := os.Getenv("WINNOW_TEST_KILLED"); dir != "" { // in the child process
		net := newSums()
		net.before = func(run int64) error {
			if run == 9 {
				p, err := os.FindProcess(os.Getpid())
				if err != nil {
					return err
				}
				if err := p.Kill(); err != nil {
					return err
				}
				select {}
			}
			return nil
		}
		t.Fatal(extractTo(t, t.Context(), dir, net, files, paths, cfg, nil))
	}
	dir := filepath.Join(t.TempDir(), "store")
	child := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	child.Env = append(os.Environ(), "WINNOW_TEST_KILLED="+dir)
	out, err := child.CombinedOutput()
	if err == nil || bytes.Contains(out, []byte("FAIL")) {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	if _, err := features.Open(dir); err == nil || !strings.Contains(err.Error(), "unfinished store") ||
		strings.Contains(err.Error(), " 0 of") {
		t.Fatalf("after the kill: %v", err)
	}
	if err := extractTo(t, t.Context(), dir, newSums(), files, paths, cfg, nil); err != nil {
		t.Fatal(err)
	}
	calm := t.TempDir()
	if err := extractTo(t, t.Context(), calm, newSums(), files, paths, cfg, nil); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(storeBytes(t, calm), storeBytes(t, dir)) {
		t.Error("the store of the killed and restarted extraction differs")
	}
}

// TestNotFinite checks that an image whose vector is not finite gets a row of zeros and is listed. All other vectors
// must have the same bits as with a correct network.
func TestNotFinite(t *testing.T) {
	files, paths := album(t, 23)
	cfg := ExtractConfig{Preprocessing: tiny, Batch: 4}
	read := func(net Network) (*features.Store, [][]float32) {
		dir := t.TempDir()
		w, err := features.Create(dir, plan(paths, 4), false)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := Extract(t.Context(), cfg, net, files, paths, w, nil); err != nil {
			t.Fatal(err)
		}
		s, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Read(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]float32, x.Rows)
		for i := range rows {
			rows[i] = features.Row(x, i)
		}
		return s, rows
	}
	whole, want := read(newSums())
	spoiled, got := read(&spoilt{newSums(), 2, 3})
	unreadable, listed := whole.BadRows(), spoiled.BadRows()
	for i := range paths {
		reason := unreadable[i]
		if i%4 == 2 {
			want[i] = make([]float32, len(want[i]))
			if reason == "" {
				reason = "value 1 of its features is NaN, expected a finite number"
			}
		}
		if listed[i] != reason {
			t.Errorf("image %d is listed for %q, expected %q", i, listed[i], reason)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows differ:\n%s", diff)
	}
}

// pinned is a network that records which memory is pinned.
type pinned struct {
	*sums
	known  [][]float32
	strays int
	ended  bool
}

func (p *pinned) Pin(data []float32) { p.known = append(p.known, data) }
func (p *pinned) Unpin()             { p.ended = true }

func (p *pinned) within(data []float32) bool {
	for _, k := range p.known {
		if first := &data[0]; len(k) > 0 && uintptr(unsafe.Pointer(first)) >= uintptr(unsafe.Pointer(&k[0])) &&
			uintptr(unsafe.Pointer(first)) <= uintptr(unsafe.Pointer(&k[len(k)-1])) {
			return true
		}
	}
	return false
}

func (p *pinned) Infer(dst blas32.General, pixels []float32, n int) error {
	if p.ended || !p.within(pixels) || !p.within(dst.Data) {
		p.strays++
	}
	return p.sums.Infer(dst, pixels, n)
}

// TestPin checks that all memory is pinned before its first use, once and in few pieces, and never if there are
// few batches.
func TestPin(t *testing.T) {
	files, paths := album(t, 61)
	for n, pieces := range map[int]int{61: slots + 2, 9: 0} {
		p := &pinned{sums: newSums()}
		cfg := ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 2}
		if err := Extract(t.Context(), cfg, p, files, paths[:n], &counting{}, nil); err != nil {
			t.Fatal(err)
		}
		if len(p.known) != pieces || p.ended != (pieces > 0) || pieces > 0 && p.strays > 0 {
			t.Errorf("%d images: %d pieces, ended: %v, %d runs elsewhere; expected %d pieces", n, len(p.known), p.ended,
				p.strays, pieces)
		}
	}
}

// counting is a store that keeps no data and may be full.
type counting struct{ rows, full int }

func (m *counting) Rows() int           { return m.rows }
func (m *counting) Bad() []features.Bad { return nil }
func (m *counting) Flush() error {
	if m.full > 0 && m.rows >= m.full {
		return errors.New("no space left on device")
	}
	return nil
}
func (m *counting) Append(x blas32.General, _ []features.Bad) error {
	if m.full > 0 && m.rows+x.Rows > m.full {
		return errors.New("no space left on device")
	}
	m.rows += x.Rows
	return nil
}

// spoilt is a network that returns NaN for some images of every batch.
type spoilt struct {
	*sums
	from, end int
}

func (s *spoilt) Infer(dst blas32.General, pixels []float32, n int) error {
	if err := s.sums.Infer(dst, pixels, n); err != nil {
		return err
	}
	for i := s.from; i < min(s.end, dst.Rows); i++ {
		dst.Data[i*dst.Stride+1] = float32(math.NaN())
	}
	return nil
}
