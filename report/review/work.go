package review

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	TrainJob   = "train"   // train on the labels decided so far
	NetworkJob = "network" // download a network
)

// Work runs commands of this program for the page, one at a time, as child processes that end with the server. A
// request names a kind of job and nothing else: it cannot add to the command's words.
type Work struct {
	Program string         // the executable file
	Network func() Network // what to download before an audit

	// Words returns the arguments of a job and the file or folder that it writes, or why it cannot be started.
	Words func(kind string) (words []string, out string, err error)
	// Finish is called when a command has succeeded, before the page hears of it. It returns what the page shows.
	Finish func(kind, out string) (any, error)

	mutex sync.Mutex
	over  bool // the server is ending
	job   *job // the last one; nil: none
}

// Network is a pretrained network that can be downloaded. Its name is "" if an audit needs no download.
type Network struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// States of a job.
const (
	running = "running"
	done    = "done"
	failed  = "failed"
	stopped = "stopped" // by a person
)

// job is a command that was started.
type job struct {
	Kind     string     `json:"kind"`
	State    string     `json:"state"`
	Progress progressed `json:"progress"`
	Lines    []string   `json:"lines"` // the last lines that are not progress
	Out      string     `json:"out"`   // file or folder that it writes
	Result   any        `json:"result"`

	stop  context.CancelFunc
	ended chan struct{}
}

// progressed is the last progress line of a command.
type progressed struct {
	Stage string `json:"stage"` // "": the command has only one
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: not known yet
	Unit  string `json:"unit"`
	Left  string `json:"left"` // "": not known
}

var (
	// progressLine matches "extract  120/288 images  40.1 images/s  4s left" and "extract  about 7s left".
	progressLine = regexp.MustCompile(`^(?:([a-z]+)  )?(?:(\d+)/(\d+) ([A-Za-z]+)|about \S+ left)` +
		`(?:  .*?)?(?:  (\S+) left)?(?:  .*)?$`)
	// terminalAdvice matches lines for people at a terminal: they name a command or a flag.
	terminalAdvice = regexp.MustCompile(`\bwinnow [a-z]+\b|(^|[\s(])--[a-z]`)
)

// noteLine adds a line that the command printed. The log is kept in memory.
func (j *job) noteLine(line string) {
	const most = 12
	line = strings.ToValidUTF8(strings.TrimPrefix(strings.TrimRight(line, " "), "winnow: "), "�")
	if m := progressLine.FindStringSubmatch(line); m != nil {
		j.Progress = progressed{Stage: m[1], Unit: m[4], Left: m[5]}
		j.Progress.Done, _ = strconv.Atoi(m[2])
		j.Progress.Total, _ = strconv.Atoi(m[3])
	} else if line != "" && !terminalAdvice.MatchString(line) {
		if !strings.HasPrefix(line, "epoch ") { // which is a note about the same step
			j.Progress = progressed{}
		}
		j.Lines = append(j.Lines, line)
		j.Lines = j.Lines[max(0, len(j.Lines)-most):]
	}
}

// Start starts a job. It refuses a second one while a job is running.
func (w *Work) Start(kind string) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.over || w.job != nil && w.job.State == running {
		return refuseWith(http.StatusConflict, "another job is running: wait for it, or stop it")
	}
	words, out, err := w.Words(kind)
	if err != nil {
		return refuseWith(http.StatusConflict, "%v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, w.Program, words...)
	const patience = 10 * time.Second // to save what it has done
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, patience
	printed, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		stop()
		return fmt.Errorf("review: %w", err)
	}
	w.job = &job{Kind: kind, State: running, Lines: []string{}, Out: out, stop: stop, ended: make(chan struct{})}
	go w.followJob(ctx, w.job, c, printed)
	return nil
}

// followJob reads what the command of a job prints, and sets the job's state at its end.
func (w *Work) followJob(ctx context.Context, j *job, c *exec.Cmd, printed io.Reader) {
	defer close(j.ended)
	defer j.stop()
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		w.mutex.Lock()
		j.noteLine(lines.Text())
		w.mutex.Unlock()
	}
	_, _ = io.Copy(io.Discard, printed) // after a line that is too long
	var result any
	state, err := done, c.Wait()
	if err != nil && ctx.Err() != nil {
		state = stopped
	} else if err == nil {
		result, err = w.Finish(j.Kind, j.Out)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err != nil && state == done {
		state = failed
		if !errors.As(err, new(*exec.ExitError)) || len(j.Lines) == 0 {
			j.noteLine(err.Error())
		}
	}
	j.State, j.Result = state, result
}

// End stops the running job, waits for its end and refuses further jobs. The server calls it when it ends.
func (w *Work) End() {
	w.mutex.Lock()
	w.over = true
	j := w.job
	w.mutex.Unlock()
	if j != nil {
		j.stop()
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

// postJob starts the job that the page names, or asks the last one to stop. It does not wait for that, because a job
// that succeeds waits for all requests.
func (w *Work) postJob(body struct {
	Start string `json:"start"` // kind; "": stop
}) (_ int, v any, err error) {
	if body.Start == "" {
		w.mutex.Lock()
		if w.job != nil {
			w.job.stop()
		}
		w.mutex.Unlock()
	} else {
		err = w.Start(body.Start)
	}
	if err == nil {
		v, err = w.getJob(nil, nil)
	}
	return http.StatusOK, v, err
}
