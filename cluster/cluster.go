// Package cluster hands commands that take --shard to engines that deal tasks among machines: it writes what Slurm and Kubernetes
// run, by the estimate of a dry run, and says how far the parts are. Scheduling, retries and logs are the engine's; this room knows
// no job, only command lines, the parts that they leave, and notes of how tasks ended.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// Command is a command line of winnow as the program reads it.
type Command struct {
	Name  string            // "extract", "data check"
	Words []string          // all, behind the program's name
	At    int               // of the first word behind the command's name
	Flags map[string]string // those given, by their first names
	Known []string          // flags that the command has
}

// dealt reports whether machines can share the command's work.
func (c Command) dealt() bool {
	if !slices.Contains(c.Known, "shard") {
		return false
	}
	return c.Name != "audit" && c.Name != "noise" || c.Flags["fit-sample"] != "" // else every image is compared with all others
}

// passes is how often the command runs with --shard and is joined: audits and estimates of noise sum up first, and judge by what the
// join of the sums fits.
func (c Command) passes() int {
	if c.dealt() && (c.Name == "audit" || c.Name == "noise") {
		return 2
	}
	return 1
}

// with returns the words with more flags, right behind the command's name.
func (c Command) with(flags ...string) []string {
	return slices.Concat(c.Words[:c.At], flags, c.Words[c.At:])
}

// Options are what a job asks of an engine; the zero value leaves a thing to the engine, or to the estimate.
type Options struct {
	Tasks   int    // parts
	AtOnce  int    // tasks that run at the same time, 0: as many as there is room for
	CPUs    int    // of a task
	GPUs    int    // of a task
	Memory  int64  // of a task, bytes
	Retries int    // of a task that failed
	Program string // winnow, as tasks find it; "": this one

	Slurm      Slurm
	Kubernetes Kubernetes
}

// Host is what the room needs of the program around it.
type Host struct {
	Dir  string                                                    // that relative paths start from
	Self string                                                    // this program
	Run  func(ctx context.Context, words []string) ([]byte, error) // runs winnow here and returns what it prints
	Note func(format string, args ...any)
}

// Stage is one command of a job; behind one that is dealt its parts are joined.
type stage struct {
	Command
	number int // from 1
	out    string
	tasks  int // 0: it is not dealt
}

// name names a stage's files.
func (s stage) name() string {
	return fmt.Sprintf("%d-%s", s.number, strings.ReplaceAll(s.Name, " ", "-"))
}

// stages checks the commands of a job.
func stages(commands []Command, o Options) ([]stage, error) {
	if len(commands) == 0 {
		return nil, hint.Misused("cluster: no command: write it behind --, for example -- extract --manifest photos.csv --model resnet50 --out features")
	}
	var list []stage
	for i, c := range commands {
		s := stage{Command: c, out: location.At(c.Flags["out"]).Clean().String()}
		if c.dealt() {
			s.tasks = o.Tasks
		}
		switch {
		case i == 0 && !c.dealt():
			return nil, hint.Misused("cluster: winnow %s does not deal its work (it has no --shard), expected a first command that does", c.Name)
		case c.Flags["shard"] != "":
			return nil, hint.Misused("cluster: winnow %s: --shard %s is given: leave it out, every task gets its own", c.Name, c.Flags["shard"])
		case s.tasks > 0 && c.Flags["out"] == "":
			return nil, hint.Misused("cluster: winnow %s: --out missing: it names the whole, of which each task makes a part", c.Name)
		case s.tasks > 0 && location.At(s.out).IsRemote() && c.Name != "extract":
			return nil, hint.Misused("cluster: winnow %s: --out %s: expected a path on a volume: extract alone writes its parts into object stores", c.Name, s.out)
		case strings.ContainsFunc(strings.Join(c.Words, ""), control):
			return nil, hint.Misused("cluster: winnow %s: found a line feed or another control character in %q, expected none", c.Name, strings.Join(c.Words, " "))
		}
		for range c.passes() {
			s.number = len(list) + 1
			list = append(list, s)
		}
	}
	return list, nil
}

// chained adds what --chain stands for to an extraction: an audit of its features and a page that shows it.
func chained(commands []Command) ([]Command, error) {
	if len(commands) != 1 || commands[0].Name != "extract" {
		return nil, hint.Misused("cluster: --chain: follows one command extract, expected no other: write more commands yourself, with -- before each")
	}
	f := commands[0].Flags
	suspects := f["out"] + ".suspects.csv"
	set := []string{"--manifest", f["manifest"], "--features", f["out"]}
	audit := slices.Concat([]string{"audit"}, set, []string{"--out", suspects, "--classes", f["out"] + ".classes.csv"})
	if f["root"] != "" {
		set = append(set, "--root", f["root"])
	}
	page := slices.Concat([]string{"map"}, set, []string{"--split", "all", "--audit", suspects, "--color", "suspect", "--out", f["out"] + ".html"})
	return append(commands,
		Command{Name: "audit", Words: audit, At: 1, Flags: map[string]string{"out": suspects}},
		Command{Name: "map", Words: page, At: 1, Flags: map[string]string{"out": f["out"] + ".html"}}), nil
}

// onGPU gives a command that is dealt the GPU that its tasks get, unless it names a device itself.
func (o Options) onGPU(c Command) Command {
	if o.GPUs == 0 || !c.dealt() || c.Flags["device"] != "" {
		return c
	}
	c.Words = slices.Concat([]string{"--device", "cuda"}, c.Words)
	c.At += 2
	return c
}

func (o Options) check() error {
	for _, n := range []struct {
		flag  string
		value int
	}{{"tasks", o.Tasks}, {"at-once", o.AtOnce}, {"cpus", o.CPUs}, {"gpus", o.GPUs}, {"retries", o.Retries}} {
		if n.value < 0 {
			return hint.Misused("--%s: found %d, expected at least 0", n.flag, n.value)
		}
	}
	if o.Tasks > most {
		return hint.Misused("--tasks: found %d, expected at most %d", o.Tasks, most)
	}
	return nil
}

// most is how many tasks a job may have: engines take no more in one array.
const most = 100_000

// errUnknown says that nothing tells how many tasks there should be.
var errUnknown = errors.New("only extract has a dry run that tells how many tasks are enough")

// prepare reads the options and the commands of a job, and estimates what is not said: the number of tasks, and more where that is open.
func prepare(ctx context.Context, h Host, commands []Command, o *Options, open bool) ([]stage, estimate, error) {
	if err := o.check(); err != nil {
		return nil, estimate{}, err
	}
	list, err := stages(commands, *o)
	if err != nil {
		return nil, estimate{}, err
	}
	var e estimate
	if list[0].Name == "extract" && (open || o.Tasks == 0) {
		if e, err = h.estimate(ctx, list[0].Command, *o); err != nil {
			return nil, e, hint.With(err, "with --tasks, --mem and, for Slurm, --time nothing is tried here")
		}
	}
	if o.Tasks == 0 {
		if !e.known() {
			return nil, e, hint.Misused("--tasks missing: %w", errUnknown)
		}
		o.Tasks = e.tasks()
	}
	if e.known() {
		if units := e.units(); o.Tasks > units {
			return nil, e, hint.Misused("--tasks: found %d, expected at most %d: %d images are dealt by whole batches of %d", o.Tasks, units, e.Images, e.Batch)
		}
	}
	for i := range list {
		if list[i].dealt() {
			list[i].tasks = o.Tasks
		}
		list[i].Command = o.onGPU(list[i].Command)
	}
	return list, e, nil
}

// quoted returns words as a shell reads them back.
func quoted(words ...string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !plain(r) }) {
			list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}

// control reports whether a letter has no place in a line.
func control(r rune) bool { return r < ' ' || r == 0x7f }

// plain reports whether a letter means itself in every shell, wherever it stands in a word.
func plain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,@%+", r)
}
