// Package jobs runs commands of this program for a page: an audit, a training. One runs at a time, as a process of its
// own that outlives the page and its server; a file and a log beside the decisions say what became of it.
//
// A request names a kind of job and chooses among the offered values. The command line is made here, of these and of
// what the server was started with; no shell is used. Put [Runner.Handler] behind a guard.
package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

	// Words returns the command's words after the program's name, for one value of each choice, and the file by which
	// it is known that the command is done. Values are among those offered.
	Words func(chosen map[string]string) (words []string, made string) `json:"-"`
}

// Choice is a setting of a job with its values, the usual one first.
type Choice struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Values []Value `json:"values"`
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
	Stopped State = "stopped" // by a person, or it was killed: it can go on
)

// Job is a command that was started, as its file says.
type Job struct {
	Version int       `json:"version"`
	Kind    string    `json:"kind"`
	Words   []string  `json:"words"`  // of the command, behind the program's name
	Folder  string    `json:"folder"` // that it was started in
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Made    string    `json:"made"`            // file that is there when it is done
	Ended   time.Time `json:"ended,omitzero"`  // zero: it runs, or its end was not seen
	Exit    *int      `json:"exit,omitempty"`  // nil: not known
	Asked   bool      `json:"asked,omitempty"` // a person asked it to stop
}

// version is that of the file.
const version = 1

// Config says what a runner runs.
type Config struct {
	Program string                      // file of this program
	Base    string                      // path of the job's file and log, without their endings
	Offers  func() []Offer              // what can be started now
	Quoted  func(words []string) string // a command as a person types it in a shell
	Done    func(Job)                   // told once when a job is done, from any goroutine; may be nil
	Now     func() time.Time            // nil: the system's clock
}

// Endings of the files of a job.
const (
	FileEnding = ".job.json"
	LogEnding  = ".job.log"
)

// Runner starts and watches jobs.
type Runner struct {
	c     Config
	mutex sync.Mutex
	job   *Job          // the last one; nil: there was none
	ended chan struct{} // closed when the job that this process started has ended; nil: it started none
}

// New returns a runner. It takes up the job that an earlier server left.
func New(c Config) (*Runner, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Runner{c: c}
	text, err := regular.ReadFile(r.file(), mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	var job Job
	if err := seal.Unmarshal(text, &job); err != nil {
		return nil, fmt.Errorf("jobs: %s: %w", r.file(), err)
	}
	if len(job.Words) == 0 {
		return nil, fmt.Errorf("jobs: %s: names no command, expected the file of a job", r.file())
	}
	if job.Version != version {
		return nil, fmt.Errorf("jobs: %s: found version %d, expected %d", r.file(), job.Version, version)
	}
	r.job = &job
	return r, nil
}

// mostFile is the largest file of a job, in bytes.
const mostFile = 1 << 20

func (r *Runner) file() string { return r.c.Base + FileEnding }
func (r *Runner) log() string  { return r.c.Base + LogEnding }

// Running reports whether a job runs, and its command.
func (r *Runner) Running() (command string, runs bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.look()
	if r.job == nil || r.state() != Running {
		return "", false
	}
	return r.command(r.job.Words), true
}

func (r *Runner) command(words []string) string {
	return r.c.Quoted(append([]string{"winnow"}, words...))
}

// alive reports whether the job's process lives. It holds the lock of its log, which ends with it.
func (r *Runner) alive() bool {
	if r.ended != nil {
		select {
		case <-r.ended:
			return false
		default:
			return true
		}
	}
	f, err := os.OpenFile(r.log(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := lock.File(f)
	return err == nil && !free
}

// look notes the end of a job that an earlier server started: nothing tells its exit status. r.mutex is held.
func (r *Runner) look() {
	if r.job == nil || !r.job.Ended.IsZero() || r.alive() {
		return
	}
	if r.ended == nil { // else the goroutine that waits for it notes the end
		r.end(nil)
	}
}

// end notes the end of the job. r.mutex is held.
func (r *Runner) end(exit *int) {
	r.job.Ended, r.job.Exit = r.c.Now(), exit
	_ = r.write() // it would be noted again
	if r.state() == Done && r.c.Done != nil {
		go r.c.Done(*r.job)
	}
}

// state says where the job stands. r.mutex is held.
func (r *Runner) state() State {
	j := r.job
	switch {
	case j.Ended.IsZero():
		return Running
	case j.Exit != nil && *j.Exit == 0, j.Exit == nil && r.made():
		return Done
	case j.Asked, j.Exit == nil:
		return Stopped
	}
	return Failed
}

// made reports whether the file that the job makes is newer than its start.
func (r *Runner) made() bool {
	info, err := os.Stat(r.job.Made)
	return err == nil && !info.ModTime().Before(r.job.Started.Truncate(time.Second))
}

func (r *Runner) write() error {
	text, err := seal.Marshal(r.job)
	if err == nil {
		err = atomicfile.WriteBytes(r.file(), text)
	}
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// Start starts a job of a kind with chosen values. A choice that is not made takes its first value.
func (r *Runner) Start(kind string, chosen map[string]string) error {
	offers := r.c.Offers()
	at := slices.IndexFunc(offers, func(o Offer) bool { return o.Kind == kind })
	if at < 0 {
		return reply.Refuse(http.StatusBadRequest, "kind: found %.40q, which is not offered", kind)
	}
	values := map[string]string{}
	for _, c := range offers[at].Choices {
		value, given := chosen[c.Name]
		switch {
		case !given:
			value = c.Values[0].Value
		case !slices.ContainsFunc(c.Values, func(v Value) bool { return v.Value == value }):
			return reply.Refuse(http.StatusBadRequest, "%s: found %.40q, which is not offered", c.Name, value)
		}
		values[c.Name] = value
	}
	for name := range chosen {
		if _, offered := values[name]; !offered {
			return reply.Refuse(http.StatusBadRequest, "found the choice %.40q, which is not offered", name)
		}
	}
	words, made := offers[at].Words(values)
	return r.start(Job{Kind: kind, Words: words, Made: made})
}

// Again starts the last job again; it goes on where it was.
func (r *Runner) Again() error {
	r.mutex.Lock()
	job := r.job
	r.mutex.Unlock()
	if job == nil {
		return reply.Refuse(http.StatusConflict, "there is no job to go on with")
	}
	if !r.offered(*job) {
		return reply.Refuse(http.StatusConflict, "%s: the job is not one that is offered here; in a terminal it is: %s",
			r.file(), r.command(job.Words))
	}
	return r.start(Job{Kind: job.Kind, Words: job.Words, Made: job.Made})
}

// offered reports whether a job, which its file may have from elsewhere, is one that is offered now. Its words are
// those of an offer with any choices; only the place of what it makes, below the working folder, may be another.
func (r *Runner) offered(job Job) bool {
	known := map[string]bool{}
	for _, o := range r.c.Offers() {
		if o.Kind != job.Kind {
			continue
		}
		values := map[string]string{}
		for _, c := range o.Choices {
			values[c.Name] = c.Values[0].Value
		}
		note := func() {
			words, _ := o.Words(values)
			for _, w := range words {
				known[w] = true
			}
		}
		note()
		for _, c := range o.Choices {
			for _, v := range c.Values {
				values[c.Name] = v.Value
				note()
			}
			values[c.Name] = c.Values[0].Value
		}
	}
	bare := func(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }
	for _, w := range job.Words {
		place := filepath.Dir(job.Made) == filepath.Clean(w) || bare(job.Made) == bare(w)
		if !known[w] && !(place && filepath.IsLocal(w)) {
			return false
		}
	}
	return len(known) > 0
}

func (r *Runner) start(job Job) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.look()
	if r.job != nil && r.state() == Running {
		return reply.Refuse(http.StatusConflict, "one job at a time: this one runs: %s", r.command(r.job.Words))
	}
	log, err := os.OpenFile(r.log(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	defer log.Close() // the process keeps its own, and with it the lock
	if free, err := lock.File(log); err == nil && !free {
		return reply.Refuse(http.StatusConflict, "another server's job holds %s", r.log())
	}
	if err := log.Truncate(0); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	job.Version, job.Started = version, r.c.Now()
	if job.Folder, err = os.Getwd(); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	process := exec.Command(r.c.Program, job.Words...)
	process.Stdout, process.Stderr = log, log
	detach(process)
	if err := process.Start(); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	job.PID = process.Process.Pid
	r.job, r.ended = &job, make(chan struct{})
	go r.wait(process, r.ended)
	return r.write()
}

// wait notes the end of a process.
func (r *Runner) wait(process *exec.Cmd, ended chan struct{}) {
	_ = process.Wait() // its state tells all
	exit := process.ProcessState.ExitCode()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	close(ended)
	status := &exit
	if exit < 0 { // killed
		status = nil
	}
	r.end(status)
}

// Stop asks the job to end. It keeps what it has done.
func (r *Runner) Stop() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.look()
	if r.job == nil || r.state() != Running {
		return reply.Refuse(http.StatusConflict, "no job runs")
	}
	r.job.Asked = true
	if err := r.write(); err != nil {
		return err
	}
	process, err := os.FindProcess(r.job.PID)
	if err == nil {
		err = process.Signal(syscall.SIGINT)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("jobs: process %d: %w", r.job.PID, err)
	}
	return nil
}
