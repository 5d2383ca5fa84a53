package interrupt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"winnow/internal/interrupt"
)

// TestMain runs as the tested program if the environment variable is set. It reports that it listens and that the first
// signal has arrived, and then continues without checking its context.
func TestMain(m *testing.M) {
	how := os.Getenv("INTERRUPT_TEST")
	if how == "" {
		os.Exit(m.Run())
	}
	// the patience of "stops" is long enough to stop in
	patience := map[string]time.Duration{"late": time.Millisecond, "kept": time.Millisecond,
		"stops": 300 * time.Millisecond}[how]
	if patience == 0 {
		patience = time.Hour
	}
	release := func() {}
	if how == "kept" {
		release = interrupt.Keep()
	}
	ctx, stop := interrupt.Listen(context.Background(), patience, func() { fmt.Println("last words") })
	fmt.Println("listening")
	<-ctx.Done()
	if how == "stops" {
		stop()
		time.Sleep(2 * patience)
	}
	if how == "kept" {
		time.Sleep(20 * time.Millisecond) // longer than the patience
	}
	fmt.Println("told")
	release()
	if how == "obeys" {
		stop()
		os.Exit(interrupt.Code(ctx))
	}
	select {}
}

func TestSignals(t *testing.T) {
	for _, c := range []struct {
		how     string
		signals []os.Signal
		code    int
		last    bool
	}{
		{"obeys", []os.Signal{os.Interrupt}, 130, false},
		{"obeys", []os.Signal{syscall.SIGTERM}, 143, false},
		{"deaf", []os.Signal{os.Interrupt, os.Interrupt}, 130, false},
		{"deaf", []os.Signal{os.Interrupt, syscall.SIGTERM}, 143, false},
		{"deaf", []os.Signal{syscall.SIGTERM, os.Interrupt}, 130, false},
		{"late", []os.Signal{os.Interrupt}, 130, true},
		{"late", []os.Signal{syscall.SIGTERM}, 143, true},
		{"kept", []os.Signal{syscall.SIGTERM}, 143, true},
		{"stops", []os.Signal{os.Interrupt, syscall.SIGTERM}, -1, false}, // -1: killed by the signal itself
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // guards against hanging
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "INTERRUPT_TEST="+c.how)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		words := bufio.NewScanner(out)
		for _, s := range c.signals {
			words.Scan() // "listening", "told"
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		last, told := false, false
		for words.Scan() {
			last, told = last || words.Text() == "last words", told || words.Text() == "told"
		}
		if c.how == "kept" && !told {
			t.Error("the process ended while it was kept")
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code || last != c.last {
			t.Errorf("%s, %v: %v, last words %v, expected exit status %d, %v", c.how, c.signals, err, last, c.code,
				c.last)
		}
		cancel()
	}
}

func TestCode(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := interrupt.Code(ctx); got != 130 {
		t.Errorf("a context that no signal ended: %d, expected 130", got)
	}
}
