package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// event is an event as a reader of TensorBoard's files parses it.
type event struct {
	wall    float64
	step    int64
	version string
	start   bool
	scalars map[string]float32
}

// readEvents reads an event file. Unlike the writer, it removes the mask from the stored checksum instead of masking
// the computed checksum.
func readEvents(t *testing.T, path string) []event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte, masked uint32) {
		t.Helper()
		rot := masked - 0xa282ead8
		if got := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)); rot<<15|rot>>17 != got {
			t.Fatalf("%s: checksum differs", path)
		}
	}
	var list []event
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		check(data[:8], binary.LittleEndian.Uint32(data[8:]))
		body := data[12 : 12+n]
		check(body, binary.LittleEndian.Uint32(data[12+n:]))
		data = data[16+n:]
		list = append(list, parseEvent(t, body))
	}
	return list
}

// fields calls do for each field of a protobuf message.
func fields(t *testing.T, b []byte, do func(num protowire.Number, bits uint64, text []byte)) {
	t.Helper()
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var bits uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			bits, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			bits, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var small uint32
			small, n = protowire.ConsumeFixed32(b)
			bits = uint64(small)
		default:
			text, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		do(num, bits, text)
	}
}

func parseEvent(t *testing.T, body []byte) event {
	e := event{scalars: map[string]float32{}}
	fields(t, body, func(num protowire.Number, bits uint64, text []byte) {
		switch num {
		case 1:
			e.wall = math.Float64frombits(bits)
		case 2:
			e.step = int64(bits)
		case 3:
			e.version = string(text)
		case 5:
			fields(t, text, func(_ protowire.Number, _ uint64, value []byte) {
				var tag string
				fields(t, value, func(num protowire.Number, bits uint64, text []byte) {
					if num == 1 {
						tag = string(text)
					} else {
						e.scalars[tag] = math.Float32frombits(uint32(bits))
					}
				})
			})
		case 7:
			fields(t, text, func(num protowire.Number, bits uint64, _ []byte) { e.start = num == 1 && bits == 1 })
		}
	})
	return e
}

func eventFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func TestEventsSayWhatHappened(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	b := newBed(t, dir, nil)
	b.cfg.Observe = Together(b.cfg.Observe, On(func(s Step) {
		if s.Number == 20 {
			cancel()
		}
	}))
	if _, err := b.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again := newBed(t, dir, nil)
	tr := again.trainer(t)
	must(tr.Resume())
	must(tr.Run(context.Background()))
	files := eventFiles(t, dir)
	if len(files) != 2 {
		t.Fatalf("event files %v, expected one for each part of the run", files)
	}
	facts := append(b.facts, again.facts...)
	scores := append(b.scores, again.scores...)
	seen, validations := 0, 0
	for i, file := range files {
		list := readEvents(t, file)
		if list[0].version != "brain.Event:2" || list[0].wall != 1700000000 {
			t.Errorf("%s starts with %+v", file, list[0])
		}
		if want := []int64{0, 21}[i]; !list[1].start || list[1].step != want {
			t.Errorf("%s: session %+v, expected a start at step %d", file, list[1], want)
		}
		for _, e := range list[2:] {
			if v, ok := e.scalars["validation"]; ok {
				if want := scores[validations]; e.step != int64(want.Step) || v != float32(want.Score) {
					t.Errorf("validation %+v, expected %+v", e, want)
				}
				validations++
				continue
			}
			f := facts[seen]
			seen++
			want := map[string]float32{"loss": float32(f.Loss), "lr": float32(f.LR),
				"kept_share": float32(f.KeptShare()), "gradient_norm": float32(f.GradientNorm),
				"loss_lr": float32(f.LossLR), "loss/contrastive": float32(f.Terms[0]),
				"loss/contrastive:bank": float32(f.Terms[1]),
				"loss/soft_triple":      float32(f.Terms[2]), "loss/triplet": float32(f.Terms[3])}
			if f.PairLoss != f.Loss {
				want["loss_per_pair"] = float32(f.PairLoss)
			}
			if f.HasThreshold {
				want["threshold"] = float32(f.Threshold)
			}
			if e.step != int64(f.Number) || len(e.scalars) != len(want) {
				t.Fatalf("step %d: %v, expected %v", e.step, e.scalars, want)
			}
			for tag, v := range want {
				if e.scalars[tag] != v {
					t.Errorf("step %d: %s is %v, expected %v", e.step, tag, e.scalars[tag], v)
				}
			}
		}
	}
	if seen != 45 || validations != len(scores) || validations != 9 {
		t.Errorf("found %d steps and %d validations in the files, expected 45 and 9", seen, validations)
	}
}

func TestMetricsLines(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, func(c *Config) { c.LogEvery = 10 })
	if _, err := b.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadMetrics(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps, validations []int
	for _, l := range lines {
		if l.Validation != nil {
			validations = append(validations, l.Step)
			continue
		}
		steps = append(steps, l.Step)
		f := b.facts[l.Step-1]
		if *l.Loss != f.Loss || *l.Kept != len(f.Kept) || *l.LR != f.LR || l.Bank != f.Bank ||
			l.Terms["triplet"] != f.Terms[3] || l.Rows != 24 {
			t.Errorf("line %+v differs from %+v", l, f)
		}
	}
	if want := []int{10, 20, 30, 40, 45}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, expected %v", steps, want)
	}
	if want := []int{0, 6, 12, 18, 24, 30, 36, 42, 45}; !slices.Equal(validations, want) {
		t.Errorf("validations %v, expected %v", validations, want)
	}
}

// ReadMetrics ignores an incomplete last line, fails at an invalid line, and returns no metrics without a file.
func TestReadMetrics(t *testing.T) {
	dir := t.TempDir()
	if lines, err := ReadMetrics(dir); len(lines) > 0 || err != nil {
		t.Errorf("folder without metrics: found %v, %v, expected no lines and no error", lines, err)
	}
	for text, want := range map[string]int{"{\"step\":3,\"loss\":0.5}\n{\"step\":": 1, "": 0,
		"{\"step\":3}\n[]\n": -1} {
		if err := os.WriteFile(filepath.Join(dir, MetricsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		lines, err := ReadMetrics(dir)
		if want < 0 && (err == nil || !strings.Contains(err.Error(), MetricsFile+":2: ")) ||
			want >= 0 && (err != nil || len(lines) != want) {
			t.Errorf("%q: %v, %v", text, lines, err)
		}
	}
}

func TestForeignMetricsAreNotTouched(t *testing.T) {
	dir := t.TempDir()
	text := []byte("# not ours\n")
	if err := os.WriteFile(filepath.Join(dir, MetricsFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := newBed(t, dir, nil).trainer(t).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), MetricsFile+":1: not a line of metrics") {
		t.Error(err)
	}
	if !bytes.Equal(text, read(t, dir, MetricsFile)) {
		t.Error("the file was changed")
	}
}
