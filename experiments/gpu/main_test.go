package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/testing/orttest"
)

// TestMain runs a part of the experiment instead of the tests if the experiment starts the test binary as a child.
func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		os.Exit(start(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// call runs the small experiment without files from outside the repository.
func call(t *testing.T, out string, more ...string) (stdout string, r Results) {
	t.Helper()
	args := append([]string{"-device", "cpu", "-small", "-models", "", "-python", "no-such-python", "-minutes", "600",
		"-ort-lib", orttest.Runtime(t).Library(), "-out", out}, more...)
	var o, e bytes.Buffer
	if code := start(context.Background(), args, &o, &e); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, o.String(), e.String())
	}
	data, err := os.ReadFile(filepath.Join(out, "gpu.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return o.String(), r
}

// All parts run on the CPU, and the goals that apply to the CPU pass.
func TestRehearsal(t *testing.T) {
	out := t.TempDir()
	stdout, r := call(t, out)
	for _, p := range r.Parts {
		if p.State != stateDone || len(p.Records) == 0 {
			t.Errorf("%s: %s, %d records: %s", p.Name, p.State, len(p.Records), p.Error)
		}
		for _, rec := range p.Records {
			if rec.Error != "" && p.Name != "machine" { // nvidia-smi may be missing
				t.Errorf("%s: %v: %s", p.Name, rec.Of, rec.Error)
			}
			if p.Name == "parity" && rec.Of[2] == besideFloat64 && !(rec.Values["cpu_relative"] > 0) {
				t.Errorf("%v: %v, expected the CPU to round", rec.Of, rec.Values)
			}
			if p.Name == "parity" && (rec.Values["cosine"] < .999 || rec.Values["relative"] > .01) {
				t.Errorf("%v: %v", rec.Of, rec.Values)
			}
		}
	}
	counts := map[string]int{}
	for _, g := range r.Goals {
		counts[g.State]++
		if !strings.Contains(stdout, g.Name) {
			t.Errorf("%q is not printed", g.Name)
		}
	}
	if counts["pass"] != 4 || counts["fail"] != 0 { // features, gradients, search, messages
		t.Errorf("%v of %v", counts, r.Goals)
	}
	// A second call repeats no measurement.
	if _, again := call(t, out); cmp.Diff(r, again) != "" {
		t.Errorf("the second call changed (-first +second):\n%s", cmp.Diff(r, again))
	}
}

// A part that ran out of time resumes where it stopped. A part whose process died resumes after the measurement in
// which it died. Neither affects the other parts.
func TestGoesOn(t *testing.T) {
	out := t.TempDir()
	_, r := call(t, out, "-minutes", "0.00001")
	for _, p := range r.Parts {
		if p.State != statePartly || p.Error == "" && p.Name == "parity" {
			t.Errorf("%s: %s %q, expected %s", p.Name, p.State, p.Error, statePartly)
		}
	}
	p, err := readPart(out, "search")
	if err != nil {
		t.Fatal(err)
	}
	p.Trying = []string{"nearest and evaluation", "float32", "device"}
	if err := writePart(out, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(partFile(out, "training"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"-device", "cpu", "-small", "-models", "", "-ort-lib", orttest.Runtime(t).Library(), "-out", out,
		"-only", "search,memory"}
	if code := start(context.Background(), args, &stdout, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "remove it to measure the part again") {
		t.Errorf("a damaged part: %d, %s", code, stderr.String())
	}
	if err := os.Remove(partFile(out, "training")); err != nil {
		t.Fatal(err)
	}
	_, r = call(t, out, "-only", "search,memory")
	search, other := r.part("search"), r.part("extraction")
	if died := search.find("nearest and evaluation", "float32", "device"); search.State != stateDone ||
		len(search.Records) != 2 || died == nil || died.Error == "" {
		t.Errorf("found %+v", search)
	}
	if r.part("memory").State != stateDone || other.State != statePartly {
		t.Errorf("memory is %s, extraction %s", r.part("memory").State, other.State)
	}
}

// If a process dies without a report, the error is recorded and its part is started again.
func TestDies(t *testing.T) {
	out := t.TempDir()
	o := options{out: out, device: "cpu", small: true}
	r, err := begin(o)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, p := range r.Parts {
		if p.Name == "torch" {
			at = i
		}
	}
	// An unknown flag ends the process before it reads its task.
	said := r.tryPart(context.Background(), o, []string{"-no-such-flag"}, at, time.Now().Add(time.Minute))
	if p := r.Parts[at]; p.State != stateFailed || !strings.Contains(p.Error, "no-such-flag") ||
		!strings.Contains(said, "exit status") {
		t.Errorf("found %+v, said %q", p, said)
	}
}

// Goals fail for wrong numbers.
func TestGoals(t *testing.T) {
	rec := func(values map[string]float64, of ...string) Record { return Record{Of: of, Values: values} }
	net := "ResNet-50 (drawn)"
	trains := func(precision string, batch int, rate float64, names ...string) (list []Record) {
		for _, name := range names {
			of := func(what string) []string { return []string{name, fmt.Sprint("batch ", batch), precision, what} }
			list = append(list, rec(map[string]float64{"images_per_second": rate}, of(ways()[0].name)...),
				rec(map[string]float64{"images_per_second": rate / 2}, of(ways()[1].name)...),
				rec(map[string]float64{"images_per_second": 1000}, of(besideTorch)...))
		}
		return list
	}
	fresh := func() *Results {
		return &Results{Device: "cuda", Parts: []Part{
			{Name: "parity", Records: []Record{rec(map[string]float64{"cosine": .99999, "relative": 1e-4}, net,
				"features", "float32"), rec(map[string]float64{"cosine": .99999, "relative": 1e-4}, net, "gradients",
				ways()[0].name), rec(map[string]float64{"cosine": .99999, "relative": 1e-4}, net, "gradients",
				ways()[1].name)}},
			{Name: "extraction", Records: []Record{rec(map[string]float64{"images_per_second": 3500}, net, "float32",
				byExtract, "batch 64")}},
			{Name: "torch", Records: []Record{rec(map[string]float64{"images_per_second": 4000}, net, "float32",
				"batch 64")}},
			{Name: "training", Records: slices.Concat(
				trains("float32", 64, 900, net, "ViT-S/16 (drawn)", "mobilenetv2-features"),
				trains("TF32", 64, 900, net, "ViT-S/16 (drawn)"),
				trains("float32", 8, 700, net, "ViT-S/16 (drawn)", "mobilenetv2-features"))},
			{Name: "search", Records: []Record{rec(map[string]float64{"same": 1, "p1": .5, "mapr": .3},
				"nearest and evaluation", "float32", "device"),
				rec(map[string]float64{"p1": .5, "mapr": .3}, "nearest and evaluation", "float32",
					"CPU, as winnow eval")}},
			{Name: "messages", Records: []Record{rec(map[string]float64{"ok": 1}, "as it is here", "cuda")}},
			{Name: "memory", Records: []Record{rec(map[string]float64{"told": 1, "on": 1}, net, "1 GiB")}},
		}}
	}
	states := func(r *Results) (text string) {
		r.judgeGoals()
		for _, g := range r.Goals {
			text += g.State[:1]
		}
		return text
	}
	if got := states(fresh()); got != strings.Repeat("p", 11) {
		t.Errorf("all is well: found %s", got)
	}
	for i, spoil := range []func(r *Results){
		func(r *Results) { r.part("parity").Records[0].Values["cosine"] = .9998 },
		func(r *Results) { r.part("parity").Records[2].Values["relative"] = .002 },
		func(r *Results) { r.part("training").Records[3].Values["images_per_second"] = 800 },   // ViT
		func(r *Results) { r.part("training").Records[11].Values["images_per_second"] = 1200 }, // PyTorch's
		func(r *Results) {
			r.part("training").Records[6].Error, r.part("training").Records[6].Values = "died", nil
		},
		func(r *Results) { r.part("training").Records[15].Values["images_per_second"] = 500 },
		func(r *Results) { r.part("extraction").Records[0].Values["images_per_second"] = 2900 },
		func(r *Results) { r.part("torch").Records[0].Values["images_per_second"] = 6000 },
		func(r *Results) { r.part("search").Records[0].Values["same"] = .99 },
		func(r *Results) { r.part("messages").Records[0].Values["ok"] = 0 },
		func(r *Results) { r.part("memory").Records[0].Values["on"] = 0 },
	} {
		r := fresh()
		spoil(r)
		want := []byte(strings.Repeat("p", 11))
		want[i] = 'f'
		if got := states(r); got != string(want) {
			t.Errorf("spoiled %d: found %s, expected %s", i, got, want)
		}
	}
	// Gradients may differ by at most three times the CPU's own difference from float64.
	for cpu, want := range map[float64]string{8e-4: "p", 5e-4: "f"} {
		r := fresh()
		r.part("parity").Records[2].Values["relative"] = .002
		r.part("parity").Records = append(r.part("parity").Records, rec(map[string]float64{"cosine": .99999,
			"relative": .001, "cpu_relative": cpu}, net, "gradients", besideFloat64))
		if got := states(r)[1:2]; got != want {
			t.Errorf("the CPU differs from float64 by %v: found %s, expected %s", cpu, got, want)
		}
	}
	if got := states(&Results{Device: "cuda"}); got != strings.Repeat("n", 11) {
		t.Errorf("no part has run: found %s, expected not run for every goal", got)
	}
}

// cosine detects differences, including NaN.
func TestCosine(t *testing.T) {
	a := []float32{1, 2, -2}
	for _, c := range []struct {
		b             []float32
		cos, relative float64
	}{{a, 1, 0}, {[]float32{2, 4, -4}, 1, 1}, {[]float32{-1, -2, 2}, -1, 2},
		{[]float32{2, -1, 0}, 0, math.Sqrt(14) / 3}} {
		cos, relative := cosine(a, c.b)
		if math.Abs(cos-c.cos) > 1e-9 || math.Abs(relative-c.relative) > 1e-9 {
			t.Errorf("%v: found %v and %v, expected %v and %v", c.b, cos, relative, c.cos, c.relative)
		}
	}
	nan, _ := cosine(a, []float32{1, float32(math.NaN()), 0})
	if !math.IsNaN(lesser(1, nan)) || !math.IsNaN(lesser(nan, 1)) || !math.IsNaN(greater(greater(0, nan), 2)) {
		t.Error("NaN is lost")
	}
}

func TestRefuses(t *testing.T) {
	out := t.TempDir()
	if err := writeJSON(filepath.Join(out, "gpu.json"), Results{Device: "cuda"}); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"name another folder with -out": {"-device", "cpu", "-out", out},
		`-device: found "tpu"`:          {"-device", "tpu"},
		`-device: found "auto"`:         {"-device", "auto"},
		"-minutes: found -1":            {"-minutes", "-1"},
		`-only: found "speed"`:          {"-only", "speed"},
		`found the argument "more"`:     {"more"},
		`-networks: found "VGG"`: {"-device", "cpu", "-small", "-out", filepath.Join(out, "c"), "-models", "",
			"-networks", "VGG", "-part", "training", "-until", "99999999999999", "-ort-lib",
			orttest.Runtime(t).Library()},
		"expected one [N,channels,side,side": {"-device", "cpu", "-small", "-out", filepath.Join(out, "b"), "-models",
			sizeless(t), "-only", "training", "-part", "training", "-until", "99999999999999", "-ort-lib",
			orttest.Runtime(t).Library()},
	} {
		var stdout, stderr bytes.Buffer
		if code := start(context.Background(), args, &stdout, &stderr); code != 1 ||
			!strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, %s; expected %q", args, code, stderr.String(), want)
		}
	}
}

// sizeless returns a folder with a network whose images have no fixed size.
func sizeless(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	b := &bench{scale: rehearsal}
	n := b.resNet()
	n.model.Graph.Inputs[0].Shape[2].Size = -1
	if err := os.WriteFile(filepath.Join(dir, "free.onnx"), n.model.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The most important cells come first, and no cell occurs twice.
func TestCells(t *testing.T) {
	b := &bench{scale: full, dev: orttest.Runtime(t)}
	var list []*network
	for _, name := range []string{"ResNet-50", "mobilenetv2-features", "ViT-S/16", "googlenet-bvlc", "squeezenet1.1"} {
		list = append(list, &network{name: name})
	}
	got, seen := b.cells(list), map[string]bool{}
	for _, c := range got {
		key := strings.Join(c.of(""), ", ")
		if seen[key] || c.n.rank() == len(torchNames) {
			t.Errorf("%s is not expected", key)
		}
		seen[key] = true
	}
	if len(got) != 4*len(full.steps) || got[0].n != list[0] || got[2].n != list[2] || got[3].batch != full.steps[1] {
		t.Errorf("found %d cells: %v", len(got), got)
	}
}

// Networks are closed, the oldest first, if all open networks together would hold too many images.
func TestOpened(t *testing.T) {
	b := &bench{scale: rehearsal, options: options{device: "cpu"}, cpu: orttest.Runtime(t), dev: orttest.Runtime(t)}
	b.library = b.cpu.Library()
	opens := 0
	open := func() (*trained, error) {
		opens++
		return newTrained(b.cpu, b.transformer(), ways()[0])
	}
	var o opened
	defer o.close()
	for _, c := range []struct {
		key         string
		batch       int
		opens, kept int
	}{{"a", 150, 1, 1}, {"b", 150, 2, 2}, {"a", 8, 2, 2}, {"c", 150, 3, 2}, {"a", 8, 3, 2}, {"b", 300, 4, 1},
		{"c", 600, 5, 1}, {"c", 8, 5, 1}} {
		if _, err := o.get(c.key, c.batch, open); err != nil || opens != c.opens || len(o.list) != c.kept {
			t.Errorf("%+v: opened %d, kept %d, %v", c, opens, len(o.list), err)
		}
	}
}

// compare names the weight that differs most, and detects missing changes of the solver's steps.
func TestCompare(t *testing.T) {
	want := derived{[]string{"a", "b", "tiny"}, [][]float32{{1, 2}, {3, 4}, {1e-9, 0}}, [][]float32{{1}, {1}, {0}}}
	got := derived{want.names, [][]float32{{1, 2}, {3, 5}, {1, 0}}, [][]float32{{1}, {0}, {0}}}
	if g := compare(want, got); g.worst() != "b" || math.Abs(g.most-.2) > 1e-9 ||
		math.Abs(g.moved-math.Sqrt(.5)) > 1e-9 {
		t.Errorf("found %+v", g)
	}
	got.grads[0][0] = float32(math.NaN())
	if g := compare(want, got); g.worst() == "none" || !math.IsNaN(g.most) || !math.IsNaN(g.least) {
		t.Errorf("found %+v", g)
	}
}

// A way that ended its process twice is not tried again. The measurement in which the process died is not repeated.
func TestDeadWay(t *testing.T) {
	w := ways()[0]
	b := &bench{options: options{out: t.TempDir(), until: time.Now().Add(time.Hour).UnixMilli()},
		ctx: context.Background(), log: new(bytes.Buffer), part: Part{Name: "training", Trying: []string{"y", w.name},
			Records: []Record{{Of: []string{"x", w.name}, Error: died}}}}
	calls := 0
	if err := b.work(func(b *bench) error {
		for _, n := range []string{"x", "y", "z"} {
			for _, w := range ways() {
				take := func() (Record, error) { calls++; return Record{}, nil }
				if err := b.measureWay(w, take, n, w.name); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if r := b.part.find("z", w.name); calls != 3 || r == nil || !strings.Contains(r.Error, "2 times") {
		t.Errorf("%d calls, %+v", calls, r)
	}
}

// The script answers one line at a time. Without PyTorch it is not asked again; if it ends, it is started again.
func TestTorch(t *testing.T) {
	script := func(text string) *pyTorch {
		path := filepath.Join(t.TempDir(), "python")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return &pyTorch{b: &bench{ctx: context.Background(), options: options{python: path, device: "cpu",
			until: time.Now().Add(time.Hour).UnixMilli()}}}
	}
	answers := `echo '{"text":"torch 0"}'; while read line; do case $line in
*resnet50*) echo '{"values":{"images_per_second":5},"text":"torch 0"}';; *vit*) echo '{"error":"no timm"}';;
*) echo why >&2; exit 1;; esac; done`
	p := script(answers)
	defer p.close()
	for _, c := range []struct{ network, text, err string }{{"resnet50", "torch 0", ""}, {"vit", "", "no timm"},
		{"googlenet", "", "why"}, {"resnet50", "torch 0", ""}} {
		r, err := p.ask(question{Network: c.network})
		if r.Text != c.text || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", c.network, r, err)
		}
	}
	p = script("echo no module >&2; exit 9")
	for range 2 {
		if r, err := p.ask(question{}); err != nil || !strings.Contains(r.Text, "not run: no module") {
			t.Errorf("without torch: %+v, %v", r, err)
		}
	}
	p.close()
}
