package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

//go:embed torch.py
var torchScript string

// noTorch is the script's exit code if there is no PyTorch with the device.
const noTorch = 9

// torch measures PyTorch, if there is one. The script prints a line of JSON for each measurement.
func torch(b *bench) error {
	if b.python == "" {
		return b.note("not run: no -python", "PyTorch")
	}
	device := b.options.device
	for _, precision := range []string{"float32", "TF32", "float16"} {
		if device == "cpu" && precision != "float32" {
			continue
		}
		for _, batch := range b.batches[:min(3, len(b.batches))] {
			of := []string{b.name("ResNet-50"), precision, fmt.Sprint("batch ", batch)}
			torch := func() (Record, error) { return b.runTorch(device, precision, batch) }
			if err := b.measure(torch, of...); err != nil {
				return err
			}
			if r := b.part.find(of...); r != nil && strings.HasPrefix(r.Text, "not run") {
				return nil
			}
		}
	}
	return nil
}

func (b *bench) runTorch(device, precision string, batch int) (r Record, err error) {
	blocks := make([]string, len(b.blocks))
	for i, n := range b.blocks {
		blocks[i] = strconv.Itoa(n)
	}
	ctx, stop := context.WithDeadline(b.ctx, b.end().Add(patience/2))
	defer stop()
	cmd := exec.CommandContext(ctx, b.python, "-c", torchScript, device, precision, strconv.Itoa(batch),
		strconv.Itoa(b.side), strings.Join(blocks, ","), fmt.Sprint(b.each.Seconds()))
	out, err := cmd.Output()
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == noTorch || errors.Is(err, exec.ErrNotFound) {
		return Record{Text: "not run: " + strings.TrimSpace(string(out)) + " (" + err.Error() + ")"}, nil
	}
	if ctx.Err() != nil {
		return r, errTime
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		if found := json.Unmarshal(lines.Bytes(), &r); found != nil {
			err = errors.Join(err, found)
		}
	}
	if code != nil {
		err = fmt.Errorf("%w: %s", err, code.Stderr)
	}
	return r, err
}
