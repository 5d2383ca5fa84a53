package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/testing/exports"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// classesOf draws images of three classes in the input size of a network, and returns their paths.
func classesOf(t *testing.T, dir string, n exports.Network) (pictures []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n.High)))
	for class := range 3 {
		at := filepath.Join(dir, fmt.Sprint("class", class))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			m := image.NewNRGBA(image.Rect(0, 0, n.Wide, n.High))
			for y := range n.High {
				for x := range n.Wide {
					c := color.NRGBA{uint8(rng.IntN(256)), uint8(rng.IntN(128) + 60*class),
						uint8((x*y*(class+1) + i) % 256), 255}
					m.SetNRGBA(x, y, c)
				}
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d.png", i)
			if err := os.WriteFile(filepath.Join(at, name), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			pictures = append(pictures, fmt.Sprintf("class%d/%s", class, name))
		}
	}
	return pictures
}

// failed matches an error that winnow prints. Notes do not start with a package's name.
var failed = regexp.MustCompile(`(?m)^winnow: (?:[a-z]+: )(.*)$`)

// reason returns the message of the error that a command printed.
func reason(stderr string) string {
	if m := failed.FindStringSubmatch(stderr); m != nil {
		return m[1]
	}
	return strings.TrimSpace(stderr)
}

// tryNetwork adds a network, extracts features, fine-tunes for two steps and exports, and returns the cells of its row.
func tryNetwork(t *testing.T, n exports.Network) (cells [4]string) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	if err := os.WriteFile("network.onnx", n.File, 0o644); err != nil {
		t.Fatal(err)
	}
	if n.Data != nil {
		if err := os.WriteFile("network.onnx.data", n.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pictures := classesOf(t, "pictures", n)
	told := ""
	run := func(line string) (string, bool) {
		code, stdout, stderr := call(t.Context(), strings.Fields(line)...)
		if code != 0 {
			t.Logf("%s, %s: %s: %s%s", n.Exporter, n.Form, line, stdout, stderr)
		}
		told = stderr
		return reason(stderr), code == 0
	}
	for i := range cells {
		cells[i] = "–"
	}
	why, ok := run("models add network.onnx --name tiny " + n.Flags)
	if !ok {
		cells[0] = why
		return cells
	}
	cells[0] = "yes"
	if why, ok = run("extract --manifest pictures --model tiny --out features"); !ok {
		cells[1] = why
		return cells
	}
	store, err := features.Open("features")
	if err != nil {
		t.Fatal(err)
	}
	off, most := 0., 0.
	for _, path := range pictures {
		x, err := store.Read(t.Context(), []int{store.Row(path)})
		if err != nil {
			t.Fatal(err)
		}
		want := n.Features[path]
		if len(want) != x.Cols {
			t.Fatalf("%s, %s: %d features, expected %d", n.Exporter, n.Form, x.Cols, len(want))
		}
		for i, v := range want {
			off, most = max(off, math.Abs(v-float64(x.Data[i]))), max(most, math.Abs(v))
		}
	}
	limit := n.Rough
	if limit == 0 {
		limit = 1e-4
	}
	if cells[1] = "exact"; n.Rough > 0 {
		cells[1] = fmt.Sprintf("within %.1g", n.Rough)
	}
	if off > limit*most || most == 0 {
		t.Errorf("%s, %s: features are off by %v of %v", n.Exporter, n.Form, off, most)
		cells[1] = "wrong"
	}
	t.Logf("%s, %s: off by %.2g", n.Exporter, n.Form, off/most)
	tuned := true
	const training = "train pictures --model tiny --steps 2 --screen none --batch 3x3 --dim 4 --out run " +
		"--set validation.hold_out=0"
	if why, tuned = run(training + " --finetune all --backbone-lr 1e-2"); tuned {
		switch cells[2] = "yes"; {
		case strings.Contains(told, "takes one image at a time"):
			cells[2] = "yes, an image at a time"
		case strings.Contains(told, "smaller batches are filled up"):
			cells[2] = fmt.Sprintf("yes, %d at a time", n.Batch)
		}
	} else {
		cells[2] = why
		if why, ok := run(training); !ok {
			t.Errorf("%s, %s: a head: %s", n.Exporter, n.Form, why)
			return cells
		}
	}
	if why, ok = run("export run --onnx whole.onnx"); !ok {
		cells[3] = why
		return cells
	}
	if why, ok = run("extract --manifest pictures --model whole.onnx --out again"); !ok {
		cells[3] = why
		return cells
	}
	cells[3] = "yes"
	return cells
}

// TestNetworks runs winnow with networks in the forms that exporters write, and compares the results with the rows of
// docs/models-reference.md.
func TestNetworks(t *testing.T) {
	orttest.Runtime(t)
	shown, err := os.ReadFile(filepath.Join(reference.Root(t), "docs", "models-reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range exports.List(t) {
		row := fmt.Sprintf("| %s | %s |", n.Exporter, n.Form)
		for _, cell := range tryNetwork(t, n) {
			row += " " + cell + " |"
		}
		if !strings.Contains(string(shown), row+"\n") {
			t.Errorf("docs/models-reference.md does not contain the row: %s", row)
		}
	}
}
