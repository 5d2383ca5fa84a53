package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
)

// looks is a context that counts calls of Err, and is cancelled after a maximum number of calls.
type looks struct {
	context.Context
	end   context.CancelFunc
	count atomic.Int64
	most  int64
}

func newLooks(t *testing.T, most int64) *looks {
	l := &looks{most: most}
	l.Context, l.end = context.WithCancel(t.Context())
	t.Cleanup(l.end)
	return l
}

func (l *looks) Err() error {
	if l.count.Add(1) > l.most {
		l.end()
	}
	return l.Context.Err()
}

// spoken in place of a number of calls interrupts a command at its first message. It is used for commands that pass
// other contexts to their cells and trainings, because calls of these contexts are not counted.
const spoken = -1

// words collects messages. At the first message, it cancels the context ends, unless that is nil.
type words struct {
	strings.Builder
	ends *looks
}

func (w *words) Write(p []byte) (int, error) {
	if w.ends != nil {
		w.ends.end()
	}
	return w.Builder.Write(p)
}

// working lists command lines of all commands that run for some time; OUT is replaced by a new name. Each runs once to
// count the calls of its context's Err, and again to be interrupted after half of the calls. Slow commands have the
// field at set: they run only once and are interrupted after that number of calls.
var working = []struct {
	line string
	at   int64
}{
	{line: "data import drawn --out OUT.csv"},
	{line: "data check noisy.csv --root drawn"},
	{line: "data corrupt drawn/manifest.csv --noise-rate 0.3 --noise small-cluster --features features --out OUT.csv"},
	{line: "data glyphs --out OUT --classes 24 --images 4"},
	{line: "extract --manifest noisy.csv --root drawn --model glyphnet --out OUT"},
	{line: "train --manifest noisy.csv --root drawn --features features --noise-rate auto --steps 20 --out OUT"},
	{line: "eval run --metrics all"},
	{line: "audit run"},
	{line: "check drawn --model glyphnet"},
	{line: "audit --features features --labels noisy.csv --out OUT.csv"},
	{line: "audit --features features --labels noisy.csv --scorer centres --out OUT.json"},
	{line: "audit --features features --labels noisy.csv --scorer knn --out OUT.csv"},
	{line: "audit --features features --labels noisy.csv --scorer probe --clean OUT.csv --drop"},
	{line: "audit --features features --labels noisy.csv --scorer crossfit"},
	{line: "audit --rate-only --features features --labels noisy.csv"},
	{line: "audit --features features --labels noisy.csv --scorer vmf --json"},
	{line: "map run --out OUT.svg"},
	{line: "report run --out OUT.html"},
	{line: "export run --csv OUT.csv --parquet OUT.parquet --npy OUT.npy"},
	{line: "embed run drawn/test --out OUT.npy"},
	{line: "index drawn/test --model run --out OUT"},
	{line: "search IMAGE --index features"},
	{line: "papers pairs run --out OUT"},
	{line: "reproduce prism-table1 --data drawn/manifest.csv,features --seeds 1 --out OUT", at: spoken},
	{line: "sweep --manifest noisy.csv --features features --vary lr=1e-3,1e-2 --steps 10 --seeds 1 --out OUT",
		at: spoken},
	{line: "quickstart --out OUT", at: spoken},
}

// idle lists the commands that end too soon to be interrupted, or that only wait.
var idle = strings.Split("data topline,data diff,models list,models show,models get,models add,models remove,models "+
	"new,list architectures,join,cluster slurm,cluster kubernetes,cluster status,"+
	"studio,decisions export,decisions status,decisions simulate,"+
	"papers theory,list losses,list filters,list metrics,list recipes,list scorers,"+
	"runtime install,doctor,manual,completion", ",")

// TestInterrupted checks that every command in working stops when its context is cancelled, and exits with 130.
func TestInterrupted(t *testing.T) {
	drawnRun(t)
	d, err := datasets.ReadFile("noisy.csv", datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	number, image := 0, d.Samples[0].Path
	start := func(line string, most int64) (*looks, int, string) {
		number++
		const all = 1 << 40
		var stdout, stderr words
		ctx := newLooks(t, all)
		switch {
		case most == spoken:
			stderr.ends = ctx
		case most > 0:
			ctx.most = most - 1
		}
		line = strings.NewReplacer("OUT", fmt.Sprintf("out%d", number), "IMAGE", image).Replace(line)
		code := execute(ctx, append([]string{"winnow"}, strings.Fields(line)...), &stdout, &stderr)
		return ctx, code, stderr.String()
	}
	for _, w := range working {
		most := w.at
		if most == 0 {
			ctx, code, stderr := start(w.line, 0)
			n := ctx.count.Load()
			if code != 0 || n == 0 {
				t.Errorf("%s: exit code %d after %d calls of Err, expected 0 after some:\n%s", w.line, code, n,
					stderr)
				continue
			}
			most = (n + 1) / 2
		}
		if _, code, stderr := start(w.line, most); code != 130 || !strings.Contains(stderr, "winnow: interrupted") {
			t.Errorf("%s: interrupted at call %d of Err: exit code %d, expected 130:\n%s", w.line, most, code, stderr)
		}
	}
}

// TestEveryCommandIsInterrupted checks that every command is listed in working or in idle.
func TestEveryCommandIsInterrupted(t *testing.T) {
	known := slices.Clone(idle)
	for _, w := range working {
		words := strings.Fields(w.line)
		known = append(known, words[0], words[0]+" "+words[1])
	}
	var check func(prefix string, list []*cli.Command)
	check = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			name := strings.TrimSpace(prefix + " " + c.Name)
			if len(c.Subcommands) > 0 {
				check(name, c.Subcommands)
			}
			if c.Action != nil && c.Name != "help" && len(c.Subcommands) == 0 && !slices.Contains(known, name) {
				t.Errorf("%s is neither in working nor in idle", name)
			}
		}
	}
	check("", term.NewApp(commands(), io.Discard, io.Discard).Commands)
}
