package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The network and the batch of the runs, which training measures too.
const (
	studyModel = "mobilenetv2-features"
	studyBatch = 64
	studyShape = "16x4" // of studyBatch
)

// study trains on the data set of -data, a folder or .zip of photographs: on each manifest (*.csv) that lies in the
// folder, else on lists of wrong labels drawn here; then it runs cells of a study of winnow reproduce. What is not done
// when the time is over goes on in the next call, in the folder OUT/study.
func study(b *bench) error {
	if b.data == "" || b.winnow == "" {
		return b.note("not run: no -data or no -winnow", "study")
	}
	model := filepath.Join(b.models, studyModel+".onnx")
	for _, path := range []string{b.data, b.winnow, model} {
		if _, err := os.Stat(path); err != nil {
			return b.note("not run: "+err.Error(), "study")
		}
	}
	b.library = b.options.library
	work, err := filepath.Abs(filepath.Join(b.out, "study"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	b.registry = filepath.Join(work, "models.json")
	if _, err := os.Stat(b.registry); err != nil {
		if _, err := b.call("models", "add", model, "--preset", "imagenet", "--name", "tried"); err != nil {
			return err
		}
	}
	root, lists, err := b.lists(work)
	if err != nil {
		return err
	}
	for _, list := range lists {
		name := strings.TrimSuffix(filepath.Base(list), ".csv")
		run := filepath.Join(work, name)
		args := []string{"--device", b.options.device, "train", "--manifest", list, "--root", root, "--model", "tried",
			"--finetune", "all", "--out", run}
		if b.small {
			args = append(args, "--batch", "2x4", "--steps", "4", "--filter", "none")
		} else {
			args = append(args, "--batch", studyShape)
		}
		if err := b.goOn(run, args, "train", name); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(run, "result.json")); err != nil {
			continue // the run failed, as its record says
		}
		if err := b.measure(func() (Record, error) {
			return b.call("--device", b.options.device, "eval", run)
		}, "eval", name); err != nil {
			return err
		}
	}
	if b.small {
		return nil
	}
	clean := lists[max(0, slices.IndexFunc(lists, func(l string) bool { return filepath.Base(l) == cleanList }))]
	return b.goOn(filepath.Join(work, "reproduced"), []string{"--device", b.options.device, "reproduce", studied,
		"--data", clean, "--root", root, "--model", "tried", "--finetune", "all", "--seeds", "1", "--jobs", "1",
		"--columns", "sym 50", "--out", filepath.Join(work, "reproduced")}, "reproduce", studied)
}

// studied is the study that is reproduced.
const studied = "prism-table2"

// cleanList is the manifest that a study adds its own noise to; the first one where there is none by this name.
const cleanList = "clean.csv"

// lists returns the root of the photographs and the manifests to train on. Those made here are one with half the labels
// wrong, then the clean one.
func (b *bench) lists(work string) (root string, lists []string, err error) {
	if root, err = filepath.Abs(b.data); err != nil {
		return "", nil, err
	}
	if lists, err = filepath.Glob(filepath.Join(root, "*.csv")); err != nil || len(lists) > 0 {
		if zip := filepath.Join(root, "images.zip"); err == nil {
			if _, missing := os.Stat(zip); missing == nil {
				root = zip
			}
		}
		return root, lists, err
	}
	lists = []string{filepath.Join(work, "noise50.csv"), filepath.Join(work, cleanList)}
	if _, err := os.Stat(lists[1]); err != nil {
		if _, err := b.call("data", "import", root, "--split", "train=0.5,test=0.5", "--out", lists[1]); err != nil {
			return "", nil, err
		}
	}
	if _, err := os.Stat(lists[0]); err != nil {
		if _, err := b.call("data", "corrupt", lists[1], "--noise-rate", "0.5", "--out", lists[0]); err != nil {
			return "", nil, err
		}
	}
	return root, lists, nil
}

// goOn runs a command that resumes what an earlier call of it left in the folder, and records each call until one ends
// by itself.
func (b *bench) goOn(folder string, args []string, of ...string) error {
	for call := 1; ; call++ {
		named := append(slices.Clone(of), fmt.Sprint("call ", call))
		if r := b.part.find(named...); r != nil {
			if r.Values["ended"] == 1 || r.Error != "" {
				return nil
			}
			continue
		}
		cut := false
		err := b.measure(func() (r Record, err error) {
			if _, missing := os.Stat(folder); missing == nil && args[2] == "train" {
				if r, cut, err = b.watch(folder, append(slices.Clone(args), "--resume")); err == nil {
					return r, nil
				} // nothing to go on with: from the start
				args = append(slices.Clone(args), "--overwrite")
			}
			r, cut, err = b.watch(folder, args)
			return r, err
		}, named...)
		if err == nil && cut {
			err = errTime
		}
		return err
	}
}

// watch runs a command until it ends or the time is over, and times the steps that it writes. cut: the time was over.
func (b *bench) watch(folder string, args []string) (r Record, cut bool, err error) {
	ctx, stop := context.WithDeadline(b.ctx, b.end())
	defer stop()
	var out bytes.Buffer
	cmd := b.command(ctx, args)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it writes a checkpoint
	cmd.WaitDelay = patience / 2
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	metrics := metricsFile{path: filepath.Join(folder, "metrics.jsonl"), begun: began}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-tick.C:
		}
		metrics.read()
	}
	text := strings.TrimSpace(out.String())
	r.Values = metrics.values()
	r.Values["seconds"] = time.Since(began).Seconds()
	r.Text = oneLine(text[max(0, len(text)-2500):])
	if cut = ctx.Err() != nil; cut {
		return r, true, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("winnow %s: %w: %s", strings.Join(args, " "), err,
			oneLine(text[max(0, len(text)-500):]))
	}
	r.Values["ended"] = 1
	return r, false, nil
}

// command returns a command of winnow with this machine's library and the models of this part.
func (b *bench) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.winnow, args...)
	if b.library != "" {
		cmd.Args = append([]string{b.winnow, "--ort-lib", b.library}, args...)
	}
	cmd.Env = append(os.Environ(), "WINNOW_MODELS="+b.registry)
	return cmd
}

// metricsFile follows the file of a run that gets a line at every step.
type metricsFile struct {
	path  string
	begun time.Time
	at    int64
	rest  []byte
	rows  []float64 // of each step that was seen
	when  []time.Time
}

// read reads the lines that are new. A file that an earlier call wrote is skipped.
func (m *metricsFile) read() {
	info, err := os.Stat(m.path)
	if err != nil || info.Size() <= m.at || info.ModTime().Before(m.begun) {
		return
	}
	f, err := os.Open(m.path)
	if err != nil {
		return
	}
	defer f.Close()
	data := make([]byte, info.Size()-m.at)
	n, _ := f.ReadAt(data, m.at)
	m.at += int64(n)
	m.rest = append(m.rest, data[:n]...)
	now := time.Now()
	for {
		line, rest, ok := bytes.Cut(m.rest, []byte("\n"))
		if !ok {
			return
		}
		m.rest = rest
		var step struct {
			Rows float64 `json:"rows"`
		}
		if json.Unmarshal(line, &step) == nil && step.Rows > 0 {
			m.rows, m.when = append(m.rows, step.Rows), append(m.when, now)
		}
	}
}

// values returns images/s from the first step to the last and of the median step. Lines read at once, which an earlier
// call wrote, took no time and do not count.
func (m *metricsFile) values() map[string]float64 {
	v := map[string]float64{"steps": float64(len(m.rows))}
	var rates []float64
	rows, first := 0.0, time.Time{}
	for i := 1; i < len(m.rows); i++ {
		took := m.when[i].Sub(m.when[i-1]).Seconds()
		if took <= 0 {
			continue
		}
		if first.IsZero() {
			first = m.when[i-1]
		}
		rows += m.rows[i]
		rates = append(rates, m.rows[i]/took)
	}
	if len(rates) == 0 {
		return v
	}
	v["images_per_second"] = rows / m.when[len(m.when)-1].Sub(first).Seconds()
	slices.Sort(rates)
	v["median_images_per_second"] = rates[len(rates)/2]
	return v
}
