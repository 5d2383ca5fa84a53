package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sample is a small archive with every kind of array.
func sample(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	s := state{Identity: map[string]string{"seed": "1"}, Progress: Progress{Step: 3, Validated: -1, BestStep: -1}}
	arrays := []array{float32s("a", []float32{1, float32(math.Copysign(0, -1))}), float64s("b", []float64{math.Pi}), integers("c", []int{-1, 1 << 40}), float32s("none", nil)}
	if err := writeArchive(&out, s, arrays); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readArchive reads an archive in memory.
func readArchive[T any](data []byte) (state T, arrays map[string]array, err error) {
	return openArchive[T](bytes.NewReader(data), int64(len(data)))
}

func TestArchiveRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOfN(rapid.Uint32(), 0, 40).Draw(t, "bits")
		f32, f64 := make([]float32, len(bits)), make([]float64, len(bits))
		for i, b := range bits {
			f32[i], f64[i] = math.Float32frombits(b&^(1<<22)), math.Float64frombits(uint64(b)<<29)
		}
		ints := rapid.SliceOfN(rapid.Int(), 0, 20).Draw(t, "ints")
		head := map[string]int{"x": rapid.Int().Draw(t, "x")}
		var out bytes.Buffer
		if err := writeArchive(&out, head, []array{float32s("f", f32), float64s("d", f64), integers("i", ints)}); err != nil {
			t.Fatal(err)
		}
		got, arrays, err := readArchive[map[string]int](out.Bytes())
		if err != nil || !cmp.Equal(got, head) || !slices.Equal(arrays["i"].ints, ints) {
			t.Fatal(err, got, arrays["i"])
		}
		for i := range bits {
			if math.Float32bits(arrays["f"].f32[i]) != math.Float32bits(f32[i]) || math.Float64bits(arrays["d"].f64[i]) != math.Float64bits(f64[i]) {
				t.Fatalf("number %d changed its bits", i)
			}
		}
	})
}

// Long arrays pass through the buffer in several pieces.
func TestArchiveLongArrays(t *testing.T) {
	long := make([]float32, 1<<17+3)
	for i := range long {
		long[i] = float32(i)
	}
	var out bytes.Buffer
	if err := writeArchive(&out, 0, []array{float32s("long", long)}); err != nil {
		t.Fatal(err)
	}
	if _, arrays, err := readArchive[int](out.Bytes()); err != nil || !slices.Equal(arrays["long"].f32, long) {
		t.Errorf("%v, or the numbers differ", err)
	}
}

func TestDamagedArchiveIsRefused(t *testing.T) {
	whole := sample(t)
	for n := range whole {
		if _, _, err := readArchive[state](whole[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes: accepted", n, len(whole))
		}
		flipped := slices.Clone(whole)
		flipped[n] ^= 0x10
		if _, _, err := readArchive[state](flipped); err == nil {
			t.Fatalf("bit flipped in byte %d: accepted", n)
		}
	}
	version := slices.Clone(whole)
	version[8] = 9
	if _, _, err := readArchive[state](sealed(version)); err == nil || err.Error() != "format version is 9, expected 2" {
		t.Errorf("version 9: %v", err)
	}
	if _, _, err := readArchive[state](append(slices.Clone(whole), 0)); err == nil {
		t.Error("a byte more: accepted")
	}
}

// sealed puts the right checksum at the end, so that what lies under it is looked at.
func sealed(data []byte) []byte {
	body := data[:max(0, len(data)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

// Sizes that the file does not bear out must not be believed, let alone allocated.
func TestArchiveSizesAreChecked(t *testing.T) {
	build := func(header string, headerLen uint32, payload int) []byte {
		b := []byte(archiveMagic)
		b = binary.LittleEndian.AppendUint32(b, archiveVersion)
		b = binary.LittleEndian.AppendUint32(b, headerLen)
		b = append(append(b, header...), make([]byte, payload)...)
		return sealed(append(b, make([]byte, sha256.Size)...))
	}
	for name, c := range map[string]struct {
		header  string
		payload int
		want    string
	}{
		"huge":        {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":4611686018427387905}]}`, 4, "do not fit the 4 bytes left"},
		"negative":    {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":-1}]}`, 4, "do not fit"},
		"kind":        {`{"state":{},"arrays":[{"name":"a","kind":"f16","len":1}]}`, 4, `kind "f16"`},
		"twice":       {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":1},{"name":"a","kind":"f32","len":1}]}`, 8, "come twice"},
		"too many":    {`{"state":{},"arrays":[{"name":"a","kind":"f32","len":1}]}`, 8, "4 bytes too many"},
		"unknown key": {`{"state":{"colour":1},"arrays":[]}`, 0, `unknown field "colour"`},
	} {
		if _, _, err := readArchive[state](build(c.header, uint32(len(c.header)), c.payload)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected …%s…", name, err, c.want)
		}
	}
	if _, _, err := readArchive[state](build("{}", 1<<31, 0)); err == nil || !strings.Contains(err.Error(), "header of 2147483648 bytes") {
		t.Errorf("header length: %v", err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	dir := f.TempDir()
	b := newBed(f, dir, func(c *Config) { c.Steps = 8 })
	if _, err := b.trainer(f).Run(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Add(read(f, dir, CheckpointFile))
	f.Add(sample(f))
	f.Add([]byte(archiveMagic))
	victim := newBed(f, "", func(c *Config) { c.Steps = 8 }).trainer(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		readArchive[state](data)
		s, arrays, err := readArchive[state](sealed(data))
		if err != nil {
			return
		}
		if err := victim.restore(s, arrays); err == nil { // what is taken over can be gone on with
			if _, err := victim.step(); err != nil && !strings.Contains(err.Error(), "samples") && victim.progress.Step < victim.Steps {
				t.Fatal(err)
			}
		}
	})
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := newBed(t, dir, nil).trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, CheckpointFile)
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a value":     {func(c *Config) { c.Identity = map[string]string{"seed": "1", "solver.lr": "0.01"} }, `made with solver.lr = "0.003", asked for "0.01"`},
		"a key more":  {func(c *Config) { c.Identity["clip"] = "1" }, `made without clip, which is now "1"`},
		"a key less":  {func(c *Config) { delete(c.Identity, "seed") }, `made with seed = "1", which is not set now`},
		"no filter":   {func(c *Config) { c.Filter = nil }, "bank, filter or correction is there in one of checkpoint and run only"},
		"no average":  {averaged(0), "an average of the weights is there in one of checkpoint and run only"},
		"fewer terms": {func(c *Config) { c.Terms, c.Groups = c.Terms[:2], c.Groups[:1] }, "the losses' parameters: found [{proxies 120 8}], expected []"},
		"shorter":     {func(c *Config) { c.Steps = 20 }, "contradicts itself or the length of 20 steps"},
	} {
		tr := newBed(t, dir, c.change).trainer(t)
		before := slices.Clone(tr.params[0].Data)
		if _, err := tr.Resume(); err == nil || !strings.HasPrefix(err.Error(), "train: "+path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected …%s…", name, err, c.want)
		}
		if !slices.Equal(before, tr.params[0].Data) {
			t.Errorf("%s: refused, and the weights changed", name)
		}
	}
	if err := os.WriteFile(path, read(t, dir, CheckpointFile)[:500], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newBed(t, dir, nil).trainer(t).Resume(); err == nil || !strings.HasSuffix(err.Error(), "checksum differs: the file is cut short or damaged") {
		t.Errorf("half a file: %v", err)
	}
	if found, err := newBed(t, t.TempDir(), nil).trainer(t).Resume(); found || err != nil {
		t.Errorf("empty folder: %v, %v", found, err)
	}
}

func TestIdentityDiffersNamesTheFirst(t *testing.T) {
	why := identityDiffers(map[string]string{"b": "1", "a": "1", "c": "1"}, map[string]string{"b": "2", "a": "1", "c": "2"})
	if want := `made with b = "1", asked for "2"`; why != want {
		t.Errorf("%s, expected %s", why, want)
	}
	if why := identityDiffers(map[string]string{"b": "1"}, map[string]string{"b": "1"}); why != "" {
		t.Errorf("the same run: %s", why)
	}
}

// Nothing as large as the weights is copied for a checkpoint: a large network's solver remembers twice as much.
func TestCheckpointsAreViews(t *testing.T) {
	b, d := newDeepBed(t, "", func(c *Config) { c.Groups[0].Start = 0 })
	tr := b.trainer(t)
	must(tr.step())
	_, arrays := tr.capture()
	for _, a := range arrays {
		if a.Name == "param/0" && &a.f32[0] != &d.b.Data[0] {
			t.Error("weights were copied")
		}
		if a.Name == "solver/backbone/0/1" && &a.f32[0] != &b.cfg.Groups[0].Solver.(*solver).slots["backbone.b"].buffers[1][0] {
			t.Error("the solver's memory was copied")
		}
	}
}
