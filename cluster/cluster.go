// Package cluster divides a command's work among machines. Every machine runs the same command with --shard. Its part
// of the output OUT is OUT.parts/3-of-8, a file or a folder, which records its job, inputs and settings. A complete
// part is never made twice, and parts of different jobs are never joined. A command brings a [Job]: what it does with
// rows, and how the values of all parts are merged.
//
// The package also fills the templates of a script for Slurm and of manifests for Kubernetes, and reports which parts
// are done. Scheduling, retries and logs are left to the engine.
package cluster

import (
	"fmt"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// Command is a parsed command line of winnow.
type Command struct {
	Name  string            // "extract", "data check"
	Words []string          // all after the program's name
	At    int               // index of the first word after the command's name
	Flags map[string]string // those given, by their first names
	Known []string          // flags that the command has
}

// isDivisible reports whether machines can share the command's work.
func (c Command) isDivisible() bool { return slices.Contains(c.Known, "shard") }

// withFlags returns the words with flags inserted after the command's name.
func (c Command) withFlags(flags ...string) []string {
	return slices.Concat(c.Words[:c.At], flags, c.Words[c.At:])
}

// Options are what a job requests from an engine. A zero field other than Tasks leaves the choice to the engine.
type Options struct {
	Tasks   int    // number of parts
	AtOnce  int    // most tasks that run at the same time
	CPUs    int    // per task
	GPUs    int    // per task
	Memory  int64  // per task, bytes
	Retries int    // of a failed task
	Program string // path of winnow in the tasks; "": this one

	Slurm      Slurm
	Kubernetes Kubernetes
}

// Host is the calling program.
type Host struct {
	Dir  string // working folder
	Self string // this program
}

// stage is one command of a job. If it is divided, its parts are joined after it.
type stage struct {
	Command
	number int // from 1
	out    location.Source
	tasks  int // 0: it is not divided
}

// stageName returns the base name of a stage's files.
func (s stage) stageName() string {
	return fmt.Sprintf("%d-%s", s.number, strings.ReplaceAll(s.Name, " ", "-"))
}

// listStages checks the options and the commands of a job.
func listStages(commands []Command, o Options) ([]stage, error) {
	if err := o.checkOptions(); err != nil {
		return nil, err
	}
	if len(commands) == 0 {
		return nil, hint.Misused("cluster: no command: write it behind --, for example -- extract --manifest " +
			"photos.csv --model resnet50 --out features")
	}
	var list []stage
	for i, c := range commands {
		s := stage{Command: o.onGPU(c), out: location.At(c.Flags["out"]).Clean()}
		if c.isDivisible() {
			s.tasks = o.Tasks
		}
		switch {
		case i == 0 && !c.isDivisible():
			return nil, hint.Misused("cluster: winnow %s does not deal its work (it has no --shard), expected a "+
				"first command that does", c.Name)
		case c.Flags["shard"] != "":
			return nil, hint.Misused("cluster: winnow %s: --shard %s is given: leave it out, every task gets its own",
				c.Name, c.Flags["shard"])
		case s.tasks > 0 && c.Flags["out"] == "":
			return nil, hint.Misused("cluster: winnow %s: --out missing: it names the whole, of which each task "+
				"makes a part", c.Name)
		case s.tasks > 0 && s.out.IsRemote() && c.Name != "extract":
			return nil, hint.Misused("cluster: winnow %s: --out %s: expected a path on a volume: extract alone "+
				"writes its parts into object stores", c.Name, s.out)
		case strings.ContainsFunc(strings.Join(c.Words, ""), isControl):
			return nil, hint.Misused("cluster: winnow %s: found a line feed or another control character in %q, "+
				"expected none", c.Name, strings.Join(c.Words, " "))
		}
		s.number = len(list) + 1
		list = append(list, s)
	}
	return list, nil
}

// onGPU makes a divided command use the GPU of its tasks, unless it names a device.
func (o Options) onGPU(c Command) Command {
	if o.GPUs == 0 || !c.isDivisible() || c.Flags["device"] != "" {
		return c
	}
	c.Words = slices.Concat([]string{"--device", "cuda"}, c.Words)
	c.At += 2
	return c
}

func (o Options) checkOptions() error {
	for _, n := range []struct {
		flag        string
		value, from int
	}{{"tasks", o.Tasks, 1}, {"at-once", o.AtOnce, 0}, {"cpus", o.CPUs, 0}, {"gpus", o.GPUs, 0},
		{"retries", o.Retries, 0}} {
		if n.value < n.from {
			return hint.Misused("--%s: found %d, expected at least %d", n.flag, n.value, n.from)
		}
	}
	if o.Tasks > most {
		return hint.Misused("--tasks: found %d, expected at most %d", o.Tasks, most)
	}
	return nil
}

// most is the largest number of tasks that engines take in one array.
const most = 100_000

// quoteWords returns words quoted for a shell.
func quoteWords(words ...string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return !needsNoQuotes(r) }) {
			list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}

// isControl reports whether a rune is a control character.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// needsNoQuotes reports whether a rune needs no quotes in any shell, anywhere in a word.
func needsNoQuotes(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,@%+", r)
}
