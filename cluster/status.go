package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// Status is the state of an output's parts, as `winnow cluster status --json` prints it.
type Status struct {
	Out     location.Source `json:"out"`
	Job     string          `json:"job"` // the command; "": unknown until a part is begun
	Parts   int             `json:"parts"`
	Present int             `json:"present"`
	Open    []Task          `json:"open"`   // parts that are missing, begun or torn
	Joined  bool            `json:"joined"` // Out exists
	Then    []Step          `json:"then"`   // what Slurm runs after the parts
	Next    string          `json:"next"`   // the command to run now; "": wait, or all is done
}

// Task is a part that is not complete and the task that makes it.
type Task struct {
	Shard int    `json:"shard"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`   // torn: how
	Slurm string `json:"slurm,omitempty"` // Slurm's state of the task
	Code  *int   `json:"code,omitempty"`  // exit code of the last try
	Said  string `json:"said,omitempty"`  // the last try, for people
	Log   string `json:"log,omitempty"`
}

// Step is a job of Slurm after the parts: their join, or another command.
type Step struct {
	Name string `json:"name"`
	Said string `json:"said"` // the last try, for people; "": there was none
	Log  string `json:"log,omitempty"`
	Code *int   `json:"code,omitempty"`
}

// readStatus returns the state of an output's parts. With verify it reads all their bytes. queue may be nil.
func readStatus(ctx context.Context, out location.Source, verify bool, queue Queue) (Status, error) {
	out = Out(out)
	s := Status{Out: out}
	w, err := look(ctx, out)
	notes := slurmNotes(out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && notes.tasks > 0: // no task has begun
		w = &Whole{Out: out, Header: Header{Of: notes.tasks}}
		for i := range notes.tasks {
			w.Parts = append(w.Parts, Part{Header: Header{Shard: i + 1, Of: notes.tasks}, State: Missing})
		}
	case err != nil:
		return s, err
	case verify:
		if err := w.Verify(ctx); ctx.Err() != nil {
			return s, err
		} // w.Parts say what it found
	}
	s.Job, s.Parts = w.Job, w.Of
	_, err = out.Stat(ctx)
	s.Joined = err == nil
	queued := notes.queued(ctx, queue)
	for _, p := range w.Parts {
		if p.State == Present {
			s.Present++
			continue
		}
		t := Task{Shard: p.Shard, State: p.State, Why: p.Why}
		notes.last(&t, notes.folder)
		if q, ok := queued[p.Shard]; ok {
			t.Slurm = q.String()
		}
		s.Open = append(s.Open, t)
	}
	for _, name := range notes.then {
		t := Task{Shard: 1}
		notes.last(&t, name)
		s.Then = append(s.Then, Step{filepath.Base(name), t.Said, t.Log, t.Code})
	}
	s.Next = s.next(notes, queued)
	return s, nil
}

// whole reports whether all parts are complete.
func (s Status) whole() bool { return len(s.Open) == 0 }

// next returns the command to run now.
func (s Status) next(n notes, queued map[int]Queued) string {
	var idle []int
	var held []string
	for _, t := range s.Open {
		switch q, ok := queued[t.Shard]; {
		case !ok || q.Ended:
			idle = append(idle, t.Shard)
		case q.held():
			held = append(held, q.ID)
		}
	}
	switch {
	case s.whole() && s.Joined:
		for _, step := range s.Then {
			if step.Code != nil && *step.Code != 0 {
				return "sbatch " + quoted(filepath.Join(slurmDir(s.Out), step.Name+".sh"))
			}
		}
		return ""
	case s.whole():
		return "winnow join " + quoted(s.Out.String())
	case len(held) > 0:
		return "scontrol release " + strings.Join(held, ",")
	case len(idle) < len(s.Open): // wait for those that are running
		return ""
	case n.tasks > 0:
		return fmt.Sprintf("sh %s %s", quoted(filepath.Join(slurmDir(s.Out), "submit.sh")), list(idle))
	}
	return fmt.Sprintf("the same command again with --shard %d/%d and so on, or as tasks %s of an array with "+
		"--shard auto/%d", idle[0], s.Parts, list(idle), s.Parts)
}

// Write writes the status for people.
func (s Status) Write(w io.Writer) error {
	job := ""
	if s.Job != "" {
		job = " of winnow " + s.Job
	}
	joined := ""
	switch {
	case s.Joined && s.whole():
		joined = ", joined"
	case s.Joined:
		joined = "; something is at " + s.Out.String() + " already"
	}
	fmt.Fprintf(w, "%s: %d of %d parts%s are there%s\n", s.Out, s.Present, s.Parts, job, joined)
	var rows [][]string
	for _, t := range s.Open {
		rows = append(rows, []string{"  " + strconv.Itoa(t.Shard), string(t.State),
			text.Line(strings.Join(slices.DeleteFunc([]string{t.Why, t.Slurm, t.Said, t.Log},
				func(part string) bool { return part == "" }), "; "))})
	}
	for _, step := range s.Then {
		if step.Said != "" {
			rows = append(rows, []string{"  " + step.Name, "",
				text.Line(strings.TrimSuffix(step.Said+"; "+step.Log, "; "))})
		}
	}
	if len(rows) > 0 {
		text.Aligned(w, rows, 0, 1, 2)
	}
	if s.Next != "" {
		_, err := fmt.Fprintf(w, "next: %s\n", s.Next)
		return err
	}
	if !s.whole() {
		_, err := fmt.Fprintln(w, "next: wait, tasks are at work")
		return err
	}
	return nil
}

// notes are the files that the tasks of a Slurm job left next to its output.
type notes struct {
	folder string // of the first stage
	tasks  int    // 0: there are no notes
	jobs   []string
	then   []string // folders of the stages after the first
}

// slurmNotes finds the notes of an output's job. Its first stage makes the parts.
func slurmNotes(out location.Source) (n notes) {
	if out.IsRemote() {
		return n
	}
	scripts, _ := filepath.Glob(escaped(slurmDir(out)) + "/[0-9]*.sh") // the pattern is valid
	for _, name := range scripts {
		folder := strings.TrimSuffix(name, ".sh")
		if tasks := tasksIn(name); tasks > 0 && n.tasks == 0 {
			n.folder, n.tasks = folder, tasks
			n.jobs = slices.Collect(lines(filepath.Join(folder, "jobs")))
		} else {
			n.then = append(n.then, folder)
		}
	}
	return n
}

// escaped returns a pattern that matches only the path.
func escaped(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// tasksIn reads the number of tasks from a script.
func tasksIn(name string) (n int) {
	for line := range lines(name) {
		if _, err := fmt.Sscanf(line, "# One of %d tasks of ", &n); err == nil {
			return n
		}
	}
	return 0
}

// lines yields the lines of a small text file; none if it cannot be read.
func lines(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := regular.Open(name)
		if err != nil {
			return
		}
		defer f.Close()
		for in := bufio.NewScanner(io.LimitReader(f, 1<<20)); in.Scan(); {
			if !yield(in.Text()) {
				return
			}
		}
	}
}

// last reads how the last try of a task went, from lines TIME start JOB NODE and TIME end CODE JOB NODE.
func (n notes) last(t *Task, folder string) {
	if n.tasks == 0 {
		return
	}
	var last []string
	for line := range lines(filepath.Join(folder, strconv.Itoa(t.Shard))) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "start" || len(f) == 5 && f[1] == "end" {
			last = f
		}
	}
	if last == nil {
		return
	}
	job := last[len(last)-2]
	if log := filepath.Join(folder, job+".log"); exists(log) {
		t.Log = log
	}
	if last[1] == "start" {
		t.Said = fmt.Sprintf("began %s on %s and said nothing since: at work, or its node or its time ended", last[0],
			last[3])
		return
	}
	code, err := strconv.Atoi(last[2])
	if err != nil {
		return
	}
	t.Code, t.Said = &code, fmt.Sprintf("ended %s on %s with exit code %d%s", last[0], last[4], code, meaning(code))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// meaning explains an exit code.
func meaning(code int) string {
	switch code {
	case 0:
		return ""
	case 1:
		return ", failed: see its log"
	case 2:
		return ", misused: mend the command"
	case 126, 127:
		return ", winnow was not found or cannot run there"
	case 130, 143:
		return ", stopped: out of time or cancelled, its work is kept"
	case 137:
		return ", killed: often by lack of memory"
	}
	if code > 128 {
		return fmt.Sprintf(", ended by signal %d", code-128)
	}
	return ""
}
