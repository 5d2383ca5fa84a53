package pictures

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

func pngFile(w, h int, c color.NRGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.SetNRGBA(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var red = color.NRGBA{255, 0, 0, 255}

func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestCropIsSent: for a crop the page gets the crop, small and whole.
func TestCropIsSent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wide.png"), pngFile(300, 100, red), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := imageroot.OpenClosed(t.Context(), location.At(dir))
	if err != nil {
		t.Fatal(err)
	}
	p := New(root, Options{})
	const path = "wide.png#xywh=290,10,50,40&id=1"
	small, err := p.Small(context.Background(), path, leastSide)
	if err != nil {
		t.Fatal(err)
	}
	if b := decoded(t, small).Bounds(); b.Dx()*4 != b.Dy() {
		t.Errorf("small: %v, expected the proportions of 10×40", b)
	}
	f, err := p.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if img, derr := png.Decode(bytes.NewReader(data)); errors.Join(err, derr, f.Close()) != nil ||
		f.Type != "image/png" || int64(len(data)) != f.Size || img.Bounds().Size() != image.Pt(10, 40) {
		t.Errorf("%v, %v, %+v", err, derr, f)
	}
	if _, err := p.Open("wide.png#xywh=300,0,1,1"); err == nil {
		t.Error("a crop outside was opened")
	}
}

// TestSmall: sizes, proportions, and white behind transparent pixels.
func TestSmall(t *testing.T) {
	fsys := fstest.MapFS{
		"wide.png":  {Data: pngFile(300, 100, red)},
		"small.png": {Data: pngFile(20, 10, red)},
		"clear.png": {Data: pngFile(30, 30, color.NRGBA{0, 0, 0, 0})},
	}
	p := New(fsys, Options{})
	for _, c := range []struct {
		path       string
		side, w, h int
		r, g, b    uint32
	}{
		{"wide.png", 150, 150, 50, 255, 0, 0}, {"wide.png", 1, leastSide, 5, 255, 0, 0},
		{"wide.png", 10_000, 300, 100, 255, 0, 0},
		{"small.png", 160, 20, 10, 255, 0, 0}, {"clear.png", 16, 16, 16, 255, 255, 255},
	} {
		data, err := p.Small(t.Context(), c.path, c.side)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		img := decoded(t, data)
		if b := img.Bounds(); b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s at %d: %v, expected %d×%d", c.path, c.side, b, c.w, c.h)
		}
		r, g, b, _ := img.At(3, 3).RGBA()
		for _, v := range [][2]uint32{{r, c.r}, {g, c.g}, {b, c.b}} {
			if d := int(v[0]>>8) - int(v[1]); d > 6 || d < -6 {
				t.Errorf("%s: colour %d %d %d", c.path, r>>8, g>>8, b>>8)
			}
		}
	}
}

// TestUnreadable: every reason for a missing picture is reported as such, and nothing is cached.
func TestUnreadable(t *testing.T) {
	whole := pngFile(50, 50, red)
	var bomb bytes.Buffer
	bomb.Write(whole[:16])
	bomb.Write([]byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536×65536
	bomb.Write(whole[24:])
	fsys := fstest.MapFS{
		"text.jpg": {Data: []byte("<html><script>alert(1)</script>")}, "empty.jpg": {},
		"cut.png":  {Data: whole[:len(whole)/2]},
		"bomb.png": {Data: bomb.Bytes()}, "folder/x": {Data: whole},
	}
	folder := t.TempDir()
	p := New(fsys, Options{Folder: folder})
	for _, path := range []string{"text.jpg", "empty.jpg", "cut.png", "bomb.png", "folder", "missing.jpg",
		"../text.jpg", "/etc/passwd", ""} {
		if _, err := p.Small(t.Context(), path, 100); !errors.As(err, new(*Unreadable)) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{"text.jpg", "empty.jpg", "folder", "missing.jpg", "../text.jpg", "/etc/passwd", ""} {
		if f, err := p.Open(path); !errors.As(err, new(*Unreadable)) {
			t.Errorf("%s: opened %v, %v", path, f, err)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) > 0 || len(p.memory.at) > 0 {
		t.Errorf("kept %v and %d", entries, len(p.memory.at))
	}
}

// TestOpen gives the file itself under the type that its bytes say.
func TestOpen(t *testing.T) {
	data := pngFile(5, 5, red)
	f, err := New(fstest.MapFS{"named.jpg": {Data: data}}, Options{}).Open("named.jpg")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, data) || f.Type != "image/png" || f.Size != int64(len(data)) {
		t.Errorf("got %d bytes of %s, %d, %v", len(got), f.Type, f.Size, err)
	}
}

// slowFS counts who reads at the same time, and waits while held.
type slowFS struct {
	fs.FS
	held          chan struct{} // closed: go on
	reading, most atomic.Int32
	opened        atomic.Int32
}

func (s *slowFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return &slowFile{f, s}, err
}

// Stat is no reading.
func (s *slowFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, name) }

type slowFile struct {
	fs.File
	of *slowFS
}

func (f *slowFile) Read(b []byte) (int, error) {
	f.of.opened.Add(1)
	n := f.of.reading.Add(1)
	for was := f.of.most.Load(); n > was && !f.of.most.CompareAndSwap(was, n); was = f.of.most.Load() {
	}
	<-f.of.held
	defer f.of.reading.Add(-1)
	return f.File.Read(b)
}

// TestOnce: many who ask for one picture get the bytes of a single decoding, and different pictures are decoded
// two at a time.
func TestOnce(t *testing.T) {
	files := fstest.MapFS{}
	names := []string{}
	for c := 'a'; c <= 'h'; c++ {
		names = append(names, string(c)+".png")
		files[names[len(names)-1]] = &fstest.MapFile{Data: pngFile(30, 30, red)}
	}
	s := &slowFS{FS: files, held: make(chan struct{})}
	p := New(s, Options{})
	var wait sync.WaitGroup
	results := make([][]byte, 20)
	for i := range results {
		wait.Go(func() { results[i], _ = p.Small(context.Background(), "a.png", 100) })
	}
	for _, name := range names {
		wait.Go(func() {
			if _, err := p.Small(context.Background(), name, 50); err != nil {
				t.Error(err)
			}
		})
	}
	close(s.held)
	wait.Wait()
	for _, r := range results {
		if len(r) == 0 || &r[0] != &results[0][0] {
			t.Fatal("not the same bytes")
		}
	}
	if n := s.most.Load(); n > atOnce {
		t.Errorf("%d were decoded at the same time", n)
	}
	s.opened.Store(0)
	if _, err := p.Small(t.Context(), "a.png", 100); err != nil || s.opened.Load() > 0 {
		t.Errorf("made again: %v", err)
	}
}

// TestGone: a caller that leaves does not wait, and a picture that nobody waits for is not begun.
func TestGone(t *testing.T) {
	s := &slowFS{FS: fstest.MapFS{"a.png": {Data: pngFile(30, 30, red)}, "b.png": {Data: pngFile(30, 30, red)}},
		held: make(chan struct{})}
	p := New(s, Options{})
	for range atOnce {
		p.slots <- struct{}{} // all at work
	}
	ctx, gone := context.WithCancel(t.Context())
	stays := make(chan error, 1)
	go func() { _, err := p.Small(context.Background(), "b.png", 50); stays <- err }()
	for p.waiting("b.png", 50) == 0 {
		runtime.Gosched()
	}
	gone()
	for _, name := range []string{"a.png", "b.png"} {
		if _, err := p.Small(ctx, name, 50); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	close(s.held)
	for range atOnce {
		<-p.slots
	}
	if err := <-stays; err != nil {
		t.Errorf("who stayed got %v", err)
	}
	if _, err := p.Small(t.Context(), "a.png", 50); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// waiting returns how many wait for a picture.
func (p *Pictures) waiting(path string, side int) int {
	info, err := fs.Stat(p.fsys, path)
	if err != nil {
		return 0
	}
	p.making.mutex.Lock()
	defer p.making.mutex.Unlock()
	if c := p.making.on[keyOf(path, side, info)]; c != nil {
		return c.waiting
	}
	return 0
}

// TestMemory: bytes in memory stay within the limit, and the most recently used pictures stay.
func TestMemory(t *testing.T) {
	m := newMemory(10 * (1000 + overhead))
	for i := range 100 {
		m.putCached(key{byte(i)}, make([]byte, 1000))
		if _, ok := m.getCached(key{0}); !ok {
			t.Fatal("the one that is asked for all the time went")
		}
		if m.bytes > m.most || len(m.at) != m.order.Len() {
			t.Fatalf("%d bytes, %d and %d entries", m.bytes, len(m.at), m.order.Len())
		}
	}
	if _, ok := m.getCached(key{99}); !ok || len(m.at) != 10 {
		t.Errorf("%d entries, the last one there: %v", len(m.at), ok)
	}
	m.putCached(key{200}, make([]byte, 1<<20))
	if m.bytes > m.most {
		t.Errorf("one larger than all: %d bytes", m.bytes)
	}
}

// TestDisk: pictures outlive the program, within the limit; a broken file is made again, and so is the picture
// of another file with the same name.
func TestDisk(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "small")
	files := fstest.MapFS{"a.png": {Data: pngFile(30, 30, red)}}
	s := &slowFS{FS: files, held: make(chan struct{})}
	close(s.held)
	get := func() []byte {
		data, err := New(s, Options{Folder: folder}).Small(t.Context(), "a.png", 20)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	made := get()
	s.opened.Store(0)
	if got := get(); !bytes.Equal(got, made) || s.opened.Load() != 0 {
		t.Error("not read from the disk")
	}
	var kept string
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, _ error) error {
		if !e.IsDir() {
			kept = path
		}
		return nil
	})
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v, expected a file for its owner", kept, info, err)
	}
	for _, broken := range [][]byte{{}, made[:len(made)/2], bytes.Repeat([]byte{0}, len(made))} {
		if err := os.WriteFile(kept, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := get(); !bytes.Equal(got, made) {
			t.Error("a broken file was shown")
		}
	}
	files["a.png"] = &fstest.MapFile{Data: pngFile(30, 30, color.NRGBA{0, 0, 255, 255}), ModTime: time.Unix(5, 0)}
	if got := get(); bytes.Equal(got, made) {
		t.Error("another file, the same picture")
	}
}

// TestDiskBound: the oldest files are removed when a folder is full.
func TestDiskBound(t *testing.T) {
	d := newDisk(t.TempDir(), 256*10_000)
	for i := range 50 {
		k := key{7, byte(i)}
		d.writePicture(k, []byte(strings.Repeat("x", 1000)))
		if err := os.Chtimes(d.whole(k), time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(filepath.Dir(d.whole(k)))
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, f := range filesOf(root) {
			sum += f.Size()
		}
		root.Close()
		if sum > d.most || sum != d.parts[7].bytes {
			t.Fatalf("%d bytes, counted %d, expected at most %d", sum, d.parts[7].bytes, d.most)
		}
		if i > 0 {
			if !there(d.whole(key{7, byte(i - 1)})) {
				t.Errorf("the one before the %dth went", i)
			}
		}
	}
	d.writePicture(key{7, 99}, make([]byte, 20_000))
	if there(d.whole(key{7, 99})) {
		t.Error("one larger than the bound was kept")
	}
	newDisk(
		filepath.Join(string([]byte{0}), "x"),
		1<<20,
	).writePicture(
		key{1},
		[]byte("y"),
	) // cannot be: nothing happens
}

// whole returns the path of a picture's file.
func (d *disk) whole(k key) string {
	folder, file := d.namePictureFile(k)
	return filepath.Join(d.folder, folder, file)
}

// TestDiskOfOthers: files that others put into the folder of pictures, which may come with a data set, cause no
// writing, removing or waiting elsewhere.
func TestDiskOfOthers(t *testing.T) {
	picture := []byte("\xff\xd8" + strings.Repeat("x", 1000) + "\xff\xd9")
	const text = "a text of mine"
	for what, plant := range map[string]func(d *disk, k key, mine string) error{
		"a link in place of a folder": func(d *disk, k key, mine string) error {
			return os.Symlink(filepath.Dir(mine), filepath.Dir(d.whole(k)))
		},
		"a link in place of a file": func(d *disk, k key, mine string) error { return os.Symlink(mine, d.whole(k)) },
		"a link in place of a new file": func(d *disk, k key, mine string) error {
			return os.Symlink(mine, d.whole(k)+".new")
		},
		"a pipe in place of a file": func(d *disk, k key,
			_ string) error {
			return syscall.Mkfifo(d.whole(k), 0o600)
		},
		"a device in place of a file": func(d *disk, k key,
			_ string) error {
			return os.Symlink("/dev/zero", d.whole(k))
		},
	} {
		t.Run(what, func(t *testing.T) {
			d, k, mine := newDisk(t.TempDir(), 256*3000), key{7}, filepath.Join(t.TempDir(), "mine.txt")
			if err := os.WriteFile(mine, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(what, "a folder") {
				if err := os.Mkdir(filepath.Dir(d.whole(k)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := plant(d, k, mine); err != nil {
				t.Skip(err)
			}
			if data, ok := d.readPicture(k); ok {
				t.Errorf("got %.20q", data)
			}
			for i := range 10 {
				d.writePicture(key{7, byte(i)}, picture)
			}
			if left, err := os.ReadDir(filepath.Dir(mine)); err != nil || len(left) != 1 {
				t.Errorf("%v beside it, %v", left, err)
			}
			if data, err := os.ReadFile(mine); err != nil || string(data) != text {
				t.Errorf("a file elsewhere holds %.20q, %v", data, err)
			}
		})
	}
	// A file that the cache has not written stays, however old it is.
	d := newDisk(t.TempDir(), 256*3000)
	d.writePicture(key{7}, picture)
	mine := filepath.Join(filepath.Dir(d.whole(key{7})), "mine.txt")
	if err := os.WriteFile(mine, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(mine, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		d.writePicture(key{7, byte(i)}, picture)
	}
	if !there(mine) || there(d.whole(key{7})) {
		t.Error("a file of others was removed, or none of ours")
	}
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// BenchmarkSmall makes the small picture of a photograph of 12 megapixels.
func BenchmarkSmall(b *testing.B) {
	img := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = uint8(i*i>>7 + i/4000)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		b.Fatal(err)
	}
	p := New(fstest.MapFS{"a.jpg": {Data: file.Bytes()}}, Options{})
	for b.Loop() {
		if _, err := p.producePicture("a.jpg", 160); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPipe: a named pipe among the images is an error; nothing waits for its writer.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jpg"), 0o600); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p := New(root.FS(), Options{})
	_, small := p.Small(t.Context(), "pipe.jpg", 100)
	_, file := p.Open("pipe.jpg")
	for _, err := range []error{small, file} {
		if !errors.As(err, new(*Unreadable)) || !strings.Contains(err.Error(), "is a named pipe") {
			t.Errorf("got %v", err)
		}
	}
}
