package review

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"testing"
)

// TestWorkChild is not a test: it is the command that other tests start. It prints and waits to be interrupted.
func TestWorkChild(t *testing.T) {
	if os.Getenv("WINNOW_TEST_WORK") == "" {
		t.Skip("only run by other tests")
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	fmt.Fprint(os.Stderr, "winnow: first\nwinnow: name a FILE with --model, or winnow models get one\n"+
		"score  1/2 steps\nwinnow: last\nextract  about 9s left\n"+
		"extract  3/10 images  1.0 images/s  7s left\nepoch 1 (step 3): best\n")
	if os.Getenv("WINNOW_TEST_WORK") == "wait" {
		<-interrupted
	}
	os.Exit(1)
}

// noted are the lines of TestWorkChild that are neither progress nor advice for a terminal.
var noted = []string{"first", "last", "epoch 1 (step 3): best"}

func newTestWork(t *testing.T, how string) *Work {
	t.Setenv("WINNOW_TEST_WORK", how)
	return &Work{Program: os.Args[0], Network: func() Network { return Network{} },
		Finish: func(_, _ string) (any, error) { return nil, errors.New("it failed, so it is not finished") },
		Words: func(kind string) ([]string, string, error) {
			if kind != AuditJob {
				return nil, "", errors.New("not offered")
			}
			return []string{"-test.run=^TestWorkChild$"}, "suspects.csv", nil
		}}
}

func (w *Work) copyJob() job {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return *w.job
}

// A second job is refused while one is running, and the command is gone when the server has ended.
func TestWorkEndsWithServer(t *testing.T) {
	w := newTestWork(t, "wait")
	var refused *refusal
	if err := w.Start("other"); !errors.As(err, &refused) || refused.status != http.StatusConflict {
		t.Errorf("another kind: %v", err)
	}
	if err := w.Start(AuditJob); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(AuditJob); !errors.As(err, &refused) || refused.status != http.StatusConflict {
		t.Errorf("a second start: %v", err)
	}
	for len(w.copyJob().Lines) < len(noted) {
		runtime.Gosched()
	}
	want := progressed{Stage: "extract", Done: 3, Total: 10, Unit: "images", Left: "7s"}
	if j := w.copyJob(); j.State != running || j.Progress != want || !slices.Equal(j.Lines, noted) {
		t.Errorf("while it runs: %+v", j)
	}
	w.End() // waits for the process
	if j := w.copyJob(); j.State != stopped {
		t.Errorf("after the end: %+v", j)
	}
	if err := w.Start(AuditJob); err == nil {
		t.Error("a job was started after the end")
	}
}

func TestWorkFails(t *testing.T) {
	w := newTestWork(t, "fail")
	if err := w.Start(AuditJob); err != nil {
		t.Fatal(err)
	}
	<-w.job.ended
	if j := w.copyJob(); j.State != failed || !slices.Equal(j.Lines, noted) {
		t.Errorf("got %+v", j)
	}
}
