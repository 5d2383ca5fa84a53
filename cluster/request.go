package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// Request is a call of winnow cluster.
type Request struct {
	To       string // "slurm", "kubernetes", "status"
	Words    []string
	Commands []Command // parsed from Words, for an engine
	Options  Options
	Verify   bool // status: read all bytes
	JSON     bool // status
}

// Run writes the answer to a request: a script, manifests, or the state of outputs.
func Run(ctx context.Context, r Request, out, complaints io.Writer, note func(format string, args ...any)) error {
	if r.To == "status" {
		return report(ctx, r, out)
	}
	h, err := here(note)
	if err != nil {
		return err
	}
	write := WriteSlurm
	if r.To == "kubernetes" {
		write = WriteKubernetes
	}
	script, err := write(ctx, h, r.Commands, r.Options)
	switch {
	case err != nil:
		return err
	case r.Options.Slurm.Submit:
		return submit(ctx, script, out, complaints)
	}
	_, err = io.WriteString(out, script)
	return err
}

// report writes the state of outputs, and returns an error unless all parts are complete.
func report(ctx context.Context, r Request, out io.Writer) error {
	if len(r.Words) == 0 {
		return hint.Misused("winnow cluster status takes the --out of commands that machines share")
	}
	var list []Status
	open := 0
	for _, name := range r.Words {
		s, err := readStatus(ctx, location.At(name), r.Verify, askSlurm)
		if err != nil {
			return hint.With(err, "name the --out of a command that runs with --shard, from the folder that it runs in")
		}
		list, open = append(list, s), open+len(s.Open)
	}
	for _, s := range list {
		if r.JSON {
			break
		}
		if err := s.Write(out); err != nil {
			return err
		}
	}
	if r.JSON {
		if err := text.JSON(out, list); err != nil {
			return err
		}
	}
	if open > 0 {
		return fmt.Errorf("cluster: %d parts are not there", open)
	}
	return nil
}

// here returns this program as a host, which runs itself for dry runs.
func here(note func(format string, args ...any)) (Host, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Host{}, fmt.Errorf("cluster: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return Host{}, fmt.Errorf("cluster: %w", err)
	}
	run := func(ctx context.Context, words []string) ([]byte, error) {
		out, err := exec.CommandContext(ctx, self, words...).Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
			return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(string(failed.Stderr)), "winnow: "))
		}
		return out, err
	}
	return Host{Dir: dir, Self: self, Run: run, Note: note}, nil
}

// submit runs a script that [WriteSlurm] wrote.
func submit(ctx context.Context, script string, out, complaints io.Writer) error {
	if _, err := exec.LookPath("sbatch"); err != nil {
		return hint.With(fmt.Errorf("cluster: %w", err), "run this on a machine that submits jobs, or leave "+
			"--submit out and take the script there")
	}
	sh := exec.CommandContext(ctx, "sh", "-s")
	sh.Stdin, sh.Stdout, sh.Stderr = strings.NewReader(script), out, complaints
	if err := sh.Run(); err != nil {
		return fmt.Errorf("cluster: the script that submits: %w", err)
	}
	return nil
}
