package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kinds of jobs.
const (
	AuditJob   = "audit"   // find wrong labels
	NetworkJob = "network" // download a network
)

// Work runs commands of this program for the page, one at a time, as child processes that end with the server. A
// request names a kind of job and nothing else: it cannot add to the command's words.
type Work struct {
	Program string                              // the executable file
	Words   func(kind string) ([]string, error) // arguments of a job, or why it cannot be started
	Network func() Network                      // what to download before an audit
	Finish  func(kind string) error             // called when a command has succeeded, before the page hears of it

	mutex sync.Mutex
	over  bool // the server is ending
	job   *job // the last one; nil: none
}

// Network is a pretrained network that can be downloaded. Its name is "" if an audit needs no download.
type Network struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// State tells where a job stands.
type State string

// The states of a job.
const (
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Stopped State = "stopped" // by a person
)

// progressed is the last progress line of a command.
type progressed struct {
	Stage string `json:"stage"` // "": the command has only one
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: not known yet
	Unit  string `json:"unit"`
	Left  string `json:"left"` // "": not known
}

// job is a command that was started.
type job struct {
	Kind     string     `json:"kind"`
	State    State      `json:"state"`
	Progress progressed `json:"progress"`
	Lines    []string   `json:"lines"` // the last lines that are not progress

	stop  context.CancelFunc
	ended chan struct{}
	mutex *sync.Mutex // guards the fields with JSON names
	begun []byte      // a line that is not complete
}

// Limits of the log of a job, which is kept in memory.
const (
	mostLines = 12
	mostLine  = 2000 // bytes
)

var (
	progressLine = regexp.MustCompile(`^(?:([a-z]+)  )?(\d+)/(\d+) ([A-Za-z]+)(?:  .*?)?(?:  (\S+) left)?(?:  .*)?$`)
	stageLine    = regexp.MustCompile(`^([a-z]+)  about \S+ left$`)
	// advice matches lines for people at a terminal: they name a command or a flag.
	advice = regexp.MustCompile(`\bwinnow [a-z]+\b|(^|[\s(])--[a-z]`)
)

// Write adds the output of the command to the log.
func (j *job) Write(text []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.begun = append(j.begun, text...)
	for {
		line, rest, whole := bytes.Cut(j.begun, []byte("\n"))
		if !whole {
			break
		}
		j.noteLine(string(line))
		j.begun = rest
	}
	if len(j.begun) > mostLine {
		j.begun = j.begun[len(j.begun)-mostLine:]
	}
	return len(text), nil
}

// noteLine adds a line to the log. j.mutex is held.
func (j *job) noteLine(line string) {
	line = strings.TrimPrefix(strings.TrimRight(line, " \r"), "winnow: ")
	if m := progressLine.FindStringSubmatch(line); m != nil {
		j.Progress = progressed{Stage: m[1], Unit: m[4], Left: m[5]}
		j.Progress.Done, _ = strconv.Atoi(m[2])
		j.Progress.Total, _ = strconv.Atoi(m[3])
		return
	}
	if m := stageLine.FindStringSubmatch(line); m != nil {
		j.Progress = progressed{Stage: m[1]}
		return
	}
	if line == "" || advice.MatchString(line) {
		return
	}
	j.Lines = append(j.Lines, strings.ToValidUTF8(line[:min(len(line), mostLine)], ""))
	j.Lines = j.Lines[max(0, len(j.Lines)-mostLines):]
}

// Start starts a job. It refuses a second one while a job is running.
func (w *Work) Start(kind string) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.over || w.job != nil && w.job.State == Running {
		return refuseWith(http.StatusConflict, "another job is running: wait for it, or stop it")
	}
	words, err := w.Words(kind)
	if err != nil {
		return refuseWith(http.StatusConflict, "%v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	j := &job{Kind: kind, State: Running, Lines: []string{}, stop: stop, ended: make(chan struct{}), mutex: &w.mutex}
	c := exec.CommandContext(ctx, w.Program, words...)
	c.Stdout, c.Stderr = j, j
	const patience = 10 * time.Second // to save what it has done
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, patience
	if err := c.Start(); err != nil {
		stop()
		return fmt.Errorf("review: %w", err)
	}
	w.job = j
	go w.finishJob(ctx, j, c)
	return nil
}

// finishJob waits for the end of a job and sets its state.
func (w *Work) finishJob(ctx context.Context, j *job, c *exec.Cmd) {
	defer close(j.ended)
	state, err := Done, c.Wait()
	switch {
	case err != nil && ctx.Err() != nil:
		state = Stopped
	case err != nil:
		state = Failed
	default:
		if err = w.Finish(j.Kind); err != nil {
			_, _ = fmt.Fprintf(j, "%v\n", err) // never fails
			state = Failed
		}
	}
	j.stop()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(j.begun) > 0 {
		j.noteLine(string(j.begun))
	}
	if exit := (*exec.ExitError)(nil); state == Failed && len(j.Lines) == 0 && errors.As(err, &exit) {
		j.Lines = append(j.Lines, exit.String())
	}
	j.State = state
}

// stopJob asks the running job to end, and returns it; nil if there was no job.
func (w *Work) stopJob() *job {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.job != nil {
		w.job.stop()
	}
	return w.job
}

// End stops the running job, waits for its end and refuses further jobs. The server calls it when it ends.
func (w *Work) End() {
	w.mutex.Lock()
	w.over = true
	w.mutex.Unlock()
	if j := w.stopJob(); j != nil {
		<-j.ended
	}
}

// getJob returns the last job and what an audit needs.
func (w *Work) getJob(*http.Request, url.Values) (any, error) {
	answer := struct {
		Job     *job    `json:"job"`
		Network Network `json:"network"`
	}{Network: w.Network()}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.job != nil {
		now := *w.job // the command may go on to print
		answer.Job = &now
	}
	return answer, nil
}

// postStart starts the job that the page names.
func (w *Work) postStart(body struct {
	Kind string `json:"kind"`
}) (int, any, error) {
	if err := w.Start(body.Kind); err != nil {
		return 0, nil, err
	}
	v, err := w.getJob(nil, nil)
	return http.StatusOK, v, err
}

// postStop asks the running job to end. It does not wait, because a job that succeeds waits for all requests.
func (w *Work) postStop(struct{}) (int, any, error) {
	w.stopJob()
	v, err := w.getJob(nil, nil)
	return http.StatusOK, v, err
}
