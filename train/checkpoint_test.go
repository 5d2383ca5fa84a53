package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/train/archive"
)

// sample is a small archive with every kind of array.
func sample(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	s := state{Identity: map[string]string{"seed": "1"}, Progress: Progress{Step: 3, Validated: -1, BestStep: -1}}
	arrays := []archive.Array{archive.Float32s("a", []float32{1, float32(math.Copysign(0, -1))}),
		archive.Float64s("b", []float64{math.Pi}), archive.Ints("c", []int{-1, 1 << 40}), archive.Float32s("none", nil)}
	if err := archive.Write(&out, s, arrays); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readArchive reads an archive in memory.
func readArchive[T any](data []byte) (state T, arrays map[string]archive.Array, err error) {
	return archive.Read[T](bytes.NewReader(data), int64(len(data)))
}

// sealed appends the right checksum, so that the content is checked.
func sealed(data []byte) []byte {
	body := data[:max(0, len(data)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

func FuzzCheckpoint(f *testing.F) {
	dir := f.TempDir()
	b := newBed(f, dir, func(c *Config) { c.Steps = 8 })
	if _, err := b.trainer(f).Run(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Add(read(f, dir, CheckpointFile))
	f.Add(sample(f))
	f.Add([]byte("WINNOWCK"))
	victim := newBed(f, "", func(c *Config) { c.Steps = 8 }).trainer(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		readArchive[state](data)
		s, arrays, err := readArchive[state](sealed(data))
		if err != nil {
			return
		}
		if err := victim.restoreTrainer(s, arrays); err == nil { // a restored state can be continued
			if _, err := victim.trainStep(); err != nil && !strings.Contains(err.Error(), "samples") &&
				victim.progress.Step < victim.Steps {
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
		"a value": {func(c *Config) { c.Identity = map[string]string{"seed": "1", "solver.lr": "0.01"} },
			`made with solver.lr = "0.003", asked for "0.01"`},
		"a key more": {func(c *Config) { c.Identity["clip"] = "1" }, `made without clip, which is now "1"`},
		"a key less": {func(c *Config) { delete(c.Identity, "seed") }, `made with seed = "1", which is not set now`},
		"no filter": {func(c *Config) { c.Filter = nil },
			"only one of checkpoint and run has a bank or a filter"},
		"fewer terms": {func(c *Config) { c.Terms, c.Groups = c.Terms[:2], c.Groups[:1] },
			"the losses' parameters: found [{proxies 120 8}], expected []"},
		"shorter": {func(c *Config) { c.Steps = 20 }, "contradicts itself or the length of 20 steps"},
	} {
		tr := newBed(t, dir, c.change).trainer(t)
		before := slices.Clone(tr.params[0].Data)
		if _, err := tr.Resume(); err == nil || !strings.HasPrefix(err.Error(), "train: "+path+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected …%s…", name, err, c.want)
		}
		if !slices.Equal(before, tr.params[0].Data) {
			t.Errorf("%s: refused, and the weights changed", name)
		}
	}
	if err := os.WriteFile(path, read(t, dir, CheckpointFile)[:500], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newBed(t, dir, nil).trainer(t).Resume(); err == nil ||
		!strings.HasSuffix(err.Error(), "checksum differs: the file is cut short or damaged") {
		t.Errorf("half a file: %v", err)
	}
	if found, err := newBed(t, t.TempDir(), nil).trainer(t).Resume(); found || err != nil {
		t.Errorf("empty folder: %v, %v", found, err)
	}
}

// A checkpoint copies nothing of the size of the weights: a large network's solver holds twice as much.
func TestCheckpointsAreViews(t *testing.T) {
	b, d := newDeepBed(t, "", func(c *Config) { c.Groups[0].Start = 0 })
	tr := b.trainer(t)
	must(tr.trainStep())
	_, arrays := tr.captureState()
	found := map[string]*float32{}
	for _, a := range arrays {
		if len(a.F32) > 0 {
			found[a.Name] = &a.F32[0]
		}
	}
	for name, want := range map[string]*float32{
		"param/0":             &d.b.Data[0],
		"solver/backbone/0/1": &b.cfg.Groups[0].Solver.(*solver).slots["backbone.b"].buffers[1][0],
	} {
		if found[name] == nil {
			t.Errorf("no array is called %s, found %v", name, slices.Sorted(maps.Keys(found)))
		} else if found[name] != want {
			t.Errorf("%s was copied", name)
		}
	}
}
