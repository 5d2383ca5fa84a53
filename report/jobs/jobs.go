// Package jobs runs commands of this program for a page: an audit, a training. One runs at a time, as a process of its
// own that outlives the page and its server; a file and a log next to the decisions record what became of it.
//
// A request names a kind of job and chooses among the offered values, and the file of a job holds no more than that: it
// may have come with the images. The command line is made here from the offer; no shell is used. Put [Runner.Handler]
// behind a guard.
package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/regular"
	"winnow/internal/seal"
	"winnow/report/reply"
)

// Offer is a kind of job that the page can start.
type Offer struct {
	Kind    string   `json:"kind"`
	Title   string   `json:"title"` // of the button, as "Audit these images"
	About   string   `json:"about"` // what it does, in a sentence
	Choices []Choice `json:"choices"`
	Command string   `json:"command"` // that the usual choices run; [Runner.View] sets it

	// Over says that no such job can be started now; the offer explains earlier ones.
	Over bool `json:"-"`

	// Words returns the command's words after the program's name, for one value of each choice, and the files that it
	// makes, the last of which shows that it is done. Values are among those offered.
	Words func(chosen map[string]string) (words, made []string) `json:"-"`
}

// Choice is a setting of a job with its values, the usual one first.
type Choice struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Values []Value `json:"values"`

	// Fixed says that people do not choose: a new job takes the first value, and one that continues keeps its own.
	Fixed bool `json:"-"`
}

// Value is a value of a choice.
type Value struct {
	Value string `json:"value"`
	Title string `json:"title"`

	// Command is what runs if this value is chosen and the other choices are the usual ones; [Runner.View] sets it.
	Command string `json:"command"`
}

// State says where a job stands.
type State string

// The states of a job.
const (
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Stopped State = "stopped" // by a person, or it was killed: it can continue
)

// Job is a command that was started. Its file holds the fields with JSON names; the others follow from the offer.
type Job struct {
	Version int               `json:"version"`
	Kind    string            `json:"kind"`
	Chosen  map[string]string `json:"chosen"`
	PID     int               `json:"pid"` // 0: the process has not been started yet
	Started time.Time         `json:"started"`
	Ended   time.Time         `json:"ended,omitzero"`  // zero: it runs, or its end was not seen
	Exit    *int              `json:"exit,omitempty"`  // nil: not known
	Asked   bool              `json:"asked,omitempty"` // a person asked it to stop

	Words []string `json:"-"` // of the command, after the program's name
	Made  []string `json:"-"` // files that are there when it is done
}

// version is that of the file.
const version = 2

// Config says what a runner runs.
type Config struct {
	Program string                           // file of this program
	Base    string                           // path of the job's file and log, without their endings
	Offers  func() []Offer                   // what can be started now
	Quoted  func(words []string) string      // a command as a person types it in a shell
	Done    func(Job)                        // called once when a job is done, from any goroutine; may be nil
	Note    func(format string, args ...any) // called when the file of an earlier job is set aside; may be nil
	Now     func() time.Time                 // nil: the system's clock
}

// Endings of the files of a job.
const (
	FileEnding  = ".job.json"
	LogEnding   = ".job.log"
	asideEnding = ".unused" // of a file that is no job's
)

// Runner starts and watches jobs.
type Runner struct {
	c     Config
	mutex sync.Mutex
	job   *Job          // the last one; nil: there was none
	ended chan struct{} // closed when the job that this process started has ended; nil: it started none
}

// New returns a runner. It takes up the job that an earlier server left. A file that is no job's is set aside.
func New(c Config) *Runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Note == nil {
		c.Note = func(string, ...any) {}
	}
	r := &Runner{c: c}
	job, err := r.readJob()
	switch {
	case err == nil:
		r.job = job
	case !errors.Is(err, fs.ErrNotExist):
		done := "it cannot be set aside"
		if to, failed := setAside(r.nameJobFile()); failed == nil {
			done = "set aside as " + to
		}
		c.Note("the last job is not shown: %v: %s", err, done)
	}
	return r
}

// setAside renames a file to the first free name.
func setAside(file string) (to string, err error) {
	for n := 1; ; n++ {
		if to = file + asideEnding; n > 1 {
			to += fmt.Sprint("-", n)
		}
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, os.Rename(file, to)
		} else if err != nil {
			return "", err
		}
	}
}

// mostFile is the largest file of a job, in bytes.
const mostFile = 1 << 16

// readJob reads the file of a job, and builds its command from the offers.
func (r *Runner) readJob() (*Job, error) {
	if err := regular.CheckOwn(r.nameJobFile()); err != nil {
		return nil, err
	}
	text, err := regular.ReadFile(r.nameJobFile(), mostFile)
	if err != nil {
		return nil, err
	}
	var job Job
	if err := seal.Unmarshal(text, &job); err != nil {
		return nil, fmt.Errorf("%s: %w", r.nameJobFile(), err)
	}
	err = fmt.Errorf("found the kind %.40q of version %d, expected a job that is offered here", job.Kind, job.Version)
	for _, o := range r.c.Offers() {
		if o.Kind == job.Kind && job.Version == version {
			err = job.buildCommand(o)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.nameJobFile(), err)
	}
	return &job, nil
}

// buildCommand makes the command of a job from its kind's offer. Each choice has one of the offered values.
func (j *Job) buildCommand(o Offer) error {
	for _, c := range o.Choices {
		if value, made := j.Chosen[c.Name]; !made || !c.hasValue(value) {
			return reply.Refuse(http.StatusBadRequest, "%s: found %.40q, which is not offered", c.Name, value)
		}
	}
	if len(j.Chosen) > len(o.Choices) {
		return reply.Refuse(http.StatusBadRequest, "found %d choices, expected %d", len(j.Chosen), len(o.Choices))
	}
	j.Version = version
	j.Words, j.Made = o.Words(j.Chosen)
	return nil
}

// hasValue reports whether a value is one of a choice. One that begins like a flag is none.
func (c Choice) hasValue(value string) bool {
	same := func(v Value) bool { return v.Value == value }
	return !strings.HasPrefix(value, "-") && slices.ContainsFunc(c.Values, same)
}

func (r *Runner) nameJobFile() string { return r.c.Base + FileEnding }
func (r *Runner) nameLogFile() string { return r.c.Base + LogEnding }

// Running reports whether a job runs, and its command.
func (r *Runner) Running() (command string, runs bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.noteEarlierEnd()
	if r.job == nil || r.describeJob() != Running {
		return "", false
	}
	return r.quoteCommand(r.job.Words), true
}

func (r *Runner) quoteCommand(words []string) string {
	return r.c.Quoted(append([]string{"winnow"}, words...))
}

// isAlive reports whether the job's process lives. It holds the lock of its log, which ends with it.
func (r *Runner) isAlive() bool {
	if r.ended != nil {
		select {
		case <-r.ended:
			return false
		default:
			return true
		}
	}
	f, err := regular.OpenOwn(r.nameLogFile(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := lock.File(f)
	return err == nil && !free
}

// noteEarlierEnd notes the end of a job that an earlier server started: nothing tells its exit status. r.mutex is held.
func (r *Runner) noteEarlierEnd() {
	if r.job == nil || !r.job.Ended.IsZero() || r.isAlive() {
		return
	}
	if r.ended == nil { // else the goroutine that waits for it notes the end
		r.noteEnd(nil)
	}
}

// noteEnd notes the end of the job. r.mutex is held.
func (r *Runner) noteEnd(exit *int) {
	r.job.Ended, r.job.Exit = r.c.Now(), exit
	_ = r.writeJob(r.job) // it would be noted again
	if r.describeJob() == Done && r.c.Done != nil {
		go r.c.Done(*r.job)
	}
}

// describeJob says where the job stands. r.mutex is held.
func (r *Runner) describeJob() State {
	j := r.job
	switch {
	case j.Ended.IsZero():
		return Running
	case j.Exit != nil && *j.Exit == 0, j.Exit == nil && r.hasMadeFiles():
		return Done
	case j.Asked, j.Exit == nil:
		return Stopped
	}
	return Failed
}

// hasMadeFiles reports whether the last file that the job makes is newer than its start.
func (r *Runner) hasMadeFiles() bool {
	info, err := os.Stat(r.job.Made[len(r.job.Made)-1])
	return err == nil && !info.ModTime().Before(r.job.Started.Truncate(time.Second))
}

func (r *Runner) writeJob(job *Job) error {
	text, err := seal.Marshal(job)
	if err == nil {
		err = atomicfile.WriteOwn(r.nameJobFile(), func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// Start starts a job of a kind with chosen values. A choice that is not made takes its first value.
func (r *Runner) Start(kind string, chosen map[string]string) error {
	offer, err := r.findOffer(kind)
	if err != nil {
		return err
	}
	job := Job{Kind: kind, Chosen: maps.Clone(chosen)}
	if job.Chosen == nil {
		job.Chosen = map[string]string{}
	}
	for _, c := range offer.Choices {
		if _, given := chosen[c.Name]; !given || c.Fixed {
			job.Chosen[c.Name] = c.Values[0].Value
		}
	}
	if err := job.buildCommand(offer); err != nil {
		return err
	}
	return r.startProcess(job)
}

// findOffer returns the offer of a kind of job that can be started now.
func (r *Runner) findOffer(kind string) (Offer, error) {
	for _, o := range r.c.Offers() {
		if o.Kind == kind && !o.Over {
			return o, nil
		}
	}
	return Offer{}, reply.Refuse(http.StatusBadRequest, "kind: found %.40q, which is not offered now", kind)
}

// Again starts the last job again; it continues where it was. Its command, built again, must be the same.
func (r *Runner) Again() error {
	r.mutex.Lock()
	last := r.job
	r.mutex.Unlock()
	if last == nil {
		return reply.Refuse(http.StatusConflict, "there is no job to continue")
	}
	job := Job{Kind: last.Kind, Chosen: last.Chosen}
	offer, err := r.findOffer(job.Kind)
	if err == nil {
		err = job.buildCommand(offer)
	}
	if err != nil || !slices.Equal(job.Words, last.Words) {
		return reply.Refuse(http.StatusConflict, "the job is not offered any more; in a terminal it is: %s",
			r.quoteCommand(last.Words))
	}
	for _, file := range job.Made {
		if _, err := os.Lstat(file); err == nil {
			return reply.Refuse(http.StatusConflict, "%s is there already: start a new job", file)
		}
	}
	return r.startProcess(job)
}

// startProcess writes the file of a job and starts its process. If it returns an error, nothing runs.
func (r *Runner) startProcess(job Job) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.noteEarlierEnd()
	if r.job != nil && r.describeJob() == Running {
		return reply.Refuse(http.StatusConflict, "one job at a time: this one runs: %s", r.quoteCommand(r.job.Words))
	}
	log, err := regular.OpenOwn(r.nameLogFile(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("jobs: %w: remove it", err)
	}
	defer log.Close() // the process keeps its own, and with it the lock
	if free, err := lock.File(log); err == nil && !free {
		return reply.Refuse(http.StatusConflict, "another server's job holds %s", r.nameLogFile())
	}
	if err := log.Truncate(0); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	job.Started = r.c.Now()
	if err := r.writeJob(&job); err != nil {
		return err
	}
	process := exec.Command(r.c.Program, job.Words...)
	process.Stdout, process.Stderr = log, log
	detachProcess(process)
	if err = process.Start(); err == nil {
		job.PID = process.Process.Pid
		if err = r.writeJob(&job); err != nil { // another server could not stop it
			_ = process.Process.Kill() // it lives: nothing has waited for it
			_ = process.Wait()
		}
	}
	if err != nil {
		job.Ended, r.job, r.ended = r.c.Now(), &job, nil
		_ = r.writeJob(&job) // else its end is noted later: nothing holds the log
		return fmt.Errorf("jobs: %w", err)
	}
	r.job, r.ended = &job, make(chan struct{})
	go r.waitForProcess(process, r.ended)
	return nil
}

// waitForProcess notes the end of a process.
func (r *Runner) waitForProcess(process *exec.Cmd, ended chan struct{}) {
	_ = process.Wait() // its state tells all
	exit := process.ProcessState.ExitCode()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	close(ended)
	status := &exit
	if exit < 0 { // killed
		status = nil
	}
	r.noteEnd(status)
}

// Stop asks the job to end. It keeps what it has done.
func (r *Runner) Stop() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.noteEarlierEnd()
	if r.job == nil || r.describeJob() != Running {
		return reply.Refuse(http.StatusConflict, "no job runs")
	}
	r.job.Asked = true
	if err := r.writeJob(r.job); err != nil {
		return err
	}
	process, err := os.FindProcess(r.job.PID)
	if r.job.PID <= 1 {
		err = errors.New("its number is not known")
	}
	if err == nil {
		err = process.Signal(syscall.SIGINT)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("jobs: process %d: %w", r.job.PID, err)
	}
	return nil
}
