package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

//go:embed torch.py
var torchScript string

// noTorch is the script's exit code if there is no PyTorch with the device.
const noTorch = 9

// question is the JSON of a line that the script reads.
type question struct {
	Network   string  `json:"network"`
	Task      string  `json:"task"` // train or forward
	Precision string  `json:"precision"`
	Batch     int     `json:"batch"`
	Side      int     `json:"side"`
	Blocks    []int   `json:"blocks"` // blocks in each stage of resnet50
	Seconds   float64 `json:"seconds"`
}

// reply is the JSON of a line that the script writes.
type reply struct {
	Values map[string]float64 `json:"values"`
	Text   string             `json:"text"`
	Error  string             `json:"error"`
}

// pyTorch is a script that keeps running, because importing torch takes ten seconds and a question takes one.
type pyTorch struct {
	b       *bench
	missing string // reason why PyTorch is unavailable; the script is then not started again
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan reply // closed at the script's end
	stderr  strings.Builder
	stop    context.CancelFunc
	began   bool // the script has reported its versions
}

// start starts the script without waiting for it.
func (p *pyTorch) start() error {
	if p.cmd != nil || p.missing != "" {
		return nil
	}
	if p.b.python == "" {
		p.missing = "no -python"
		return nil
	}
	ctx, stop := context.WithDeadline(p.b.ctx, p.b.end().Add(patience/2))
	cmd := exec.CommandContext(ctx, p.b.python, "-c", torchScript, p.b.options.device)
	p.stderr.Reset()
	cmd.Stderr = &p.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return err
	}
	if err := cmd.Start(); err != nil {
		stop()
		p.missing = err.Error()
		return nil
	}
	p.cmd, p.in, p.stop, p.replies, p.began = cmd, in, stop, make(chan reply, 1), false
	go func() {
		defer close(p.replies)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var r reply
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				r.Error = fmt.Sprintf("found the line %q, expected JSON", lines.Text())
			}
			p.replies <- r
		}
	}()
	return nil
}

// next waits for a line of the script.
func (p *pyTorch) next() (reply, error) {
	if r, ok := <-p.replies; ok {
		return r, nil
	}
	err := p.cmd.Wait()
	p.cmd = nil
	p.stop()
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == noTorch {
		p.missing = cmp.Or(oneLine(p.stderr.String()), "no torch with this device") + " (" + err.Error() + ")"
		return reply{}, nil
	}
	if p.b.ctx.Err() != nil || !time.Now().Before(p.b.end()) {
		return reply{}, errTime
	}
	text := oneLine(p.stderr.String())
	return reply{}, fmt.Errorf("PyTorch ended: %w: %s", err, text[max(0, len(text)-600):])
}

// ready waits until torch is imported or found to be missing.
func (p *pyTorch) ready() error {
	if err := p.start(); err != nil || p.missing != "" || p.began {
		return err
	}
	if _, err := p.next(); err != nil {
		return err
	}
	p.began = p.missing == ""
	return nil
}

// ask makes the script measure. Without PyTorch the record's text gives the reason.
func (p *pyTorch) ask(q question) (Record, error) {
	if err := p.ready(); err != nil {
		return Record{}, err
	}
	if p.missing != "" {
		return Record{Text: "not run: " + p.missing}, nil
	}
	line, err := json.Marshal(q)
	if err != nil {
		return Record{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		_, ended := p.next()
		return Record{}, errors.Join(err, ended)
	}
	r, err := p.next()
	if err == nil && r.Error != "" {
		err = errors.New("PyTorch: " + r.Error)
	}
	return Record{Values: r.Values, Text: r.Text}, err
}

// close ends the script.
func (p *pyTorch) close() {
	if p.cmd == nil {
		return
	}
	_ = p.in.Close() // ends the script; otherwise it is killed
	ended := time.AfterFunc(2*time.Second, p.stop)
	for range p.replies {
	}
	_ = p.cmd.Wait()
	ended.Stop()
	p.stop()
	p.cmd = nil
}

// torch measures PyTorch's forward pass for the comparison with extraction.
func torch(b *bench) error {
	p := &pyTorch{b: b}
	defer p.close()
	for _, precision := range []string{"float32", "TF32"} {
		if b.options.device == "cpu" && precision != "float32" {
			continue
		}
		for _, batch := range b.batches[:min(3, len(b.batches))] {
			if err := b.measure(func() (Record, error) {
				return p.ask(b.question("resnet50", "forward", precision, batch))
			}, b.name("ResNet-50"), precision, fmt.Sprint("batch ", batch)); err != nil {
				return err
			}
			if p.missing != "" {
				return nil
			}
		}
	}
	return nil
}

func (b *bench) question(network, task, precision string, batch int) question {
	return question{network, task, precision, batch, b.side, b.blocks, b.each.Seconds()}
}
