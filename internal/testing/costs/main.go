// Command costs runs go test and reports the processor time of the tests. It prints one line per package and the output
// of failed tests; at the end it lists the packages and tests with the most processor time.
//
//	costs [flags of go test] packages
//
// Processor time, unlike elapsed time, does not depend on other load. It is read from /proc between tests, so tests are
// listed on Linux only. Tests that run in parallel share the time equally.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measureVariable is set when go test starts this program as -exec, to run the tests of one package.
const measureVariable = "WINNOW_TEST_COSTS"

const (
	prefix = "costs: " // prefix of the lines in which measure passes seconds to report
	whole  = "package" // name of the whole test program in such a line
	listed = 10        // number of packages and tests in the final lists
)

func main() {
	run := report
	if os.Getenv(measureVariable) != "" {
		run = measure
	}
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// measure runs a test program and prints its output, followed by the processor time of the program and of each test.
func measure(args []string, stdout io.Writer) (int, error) {
	if err := os.Unsetenv(measureVariable); err != nil {
		return 1, err
	}
	m := &meter{out: stdout, seconds: map[string]float64{}}
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = os.Stdin, m, m, time.Minute
	if err := c.Start(); err != nil {
		return 1, err
	}
	m.clock = func() (float64, bool) { return processorTime(c.Process.Pid) }
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			c.Process.Signal(s) // the process may have ended
		}
	}()
	err := c.Wait()
	m.flush()
	spent := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	fmt.Fprintf(stdout, "%s%s %.3f\n", prefix, whole, spent.Seconds())
	for name, seconds := range m.seconds {
		if seconds >= 0.05 {
			fmt.Fprintf(stdout, "%s%s %.3f\n", prefix, name, seconds)
		}
	}
	if code := c.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, err
}

// meter passes on the output of a test program. It reads the clock whenever a test starts, pauses, continues or ends.
type meter struct {
	out     io.Writer
	clock   func() (float64, bool)
	line    []byte // received part of the current line
	running []string
	last    float64
	seconds map[string]float64
}

func (m *meter) Write(b []byte) (int, error) {
	for _, c := range b {
		m.line = append(m.line, c)
		if c == '\n' {
			m.event(string(m.line))
			m.line = m.line[:0]
		}
	}
	return m.out.Write(b)
}

func (m *meter) flush() {
	if len(m.line) > 0 {
		fmt.Fprintln(m.out)
	}
}

// event evaluates a line about a test, which package testing marks with ^V under -json.
func (m *meter) event(line string) {
	_, said, found := strings.Cut(line, "\x16")
	if !found {
		return
	}
	words := strings.Fields(said)
	if len(words) < 3 || words[1] == "NAME" || strings.Contains(words[2], "/") {
		return
	}
	now, known := m.clock()
	if !known {
		return
	}
	for _, name := range m.running {
		m.seconds[name] += (now - m.last) / float64(len(m.running))
	}
	m.last = now
	m.running = slices.DeleteFunc(m.running, func(name string) bool { return name == words[2] })
	if words[1] == "RUN" || words[1] == "CONT" {
		m.running = append(m.running, words[2])
	}
}

// processorTime returns the seconds used by a process and by the children that it has waited for.
func processorTime(pid int) (seconds float64, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 15 {
		return 0, false
	}
	const ticks = 100 // per second, in Linux's statistics
	for _, f := range fields[11:15] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, false
		}
		seconds += float64(n) / ticks
	}
	return seconds, true
}

// event is a line of go test -json.
type event struct{ Action, Package, ImportPath, Test, Output string }

// cost is the processor time of a package or of one of its tests.
type cost struct {
	name    string
	seconds float64
}

// report runs go test. It prints one line per package, the failures, and then the highest costs.
func report(args []string, stdout io.Writer) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	if strings.Contains(self, " ") { // -exec splits at spaces unless they are quoted
		self = `"` + self + `"`
	}
	gotool := cmp.Or(os.Getenv("GO"), "go")
	c := exec.Command(gotool, append([]string{"test", "-json", "-exec", self}, args...)...)
	c.Env = append(os.Environ(), measureVariable+"=yes")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return 1, err
	}
	signal.Ignore(os.Interrupt) // go test receives the signal as well
	if err := c.Start(); err != nil {
		return 1, err
	}
	packages, tests := follow(out, stdout)
	err = c.Wait()
	if c.ProcessState.ExitCode() > 0 {
		err = nil // the output shows the reason
	}
	list(stdout, "packages", packages)
	list(stdout, "tests", tests)
	return c.ProcessState.ExitCode(), err
}

// follow prints packages as they end in a stream of events, and returns the costs of packages and tests.
func follow(events io.Reader, stdout io.Writer) (packages, tests []cost) {
	output := map[string][]string{} // output of unfinished packages and tests
	in := bufio.NewScanner(events)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Fprintln(stdout, in.Text())
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "build-output":
			fmt.Fprint(stdout, e.Output)
		case "output":
			if c, ok := told(e.Output); ok {
				if c.name == whole {
					packages = append(packages, cost{e.Package, c.seconds})
				} else {
					room := strings.TrimPrefix(e.Package, "winnow/")
					tests = append(tests, cost{room + " " + c.name, c.seconds})
				}
				continue
			}
			output[key] = append(output[key], e.Output)
		case "pass", "skip", "fail":
			lines := output[key]
			delete(output, key)
			if e.Test == "" && e.Action == "fail" { // tests that were running when the program ended
				for _, cut := range slices.Sorted(maps.Keys(output)) {
					if strings.HasPrefix(cut, key) {
						lines = append(output[cut], lines...)
						delete(output, cut)
					}
				}
			}
			if e.Test == "" && e.Action != "fail" {
				lines = lines[max(0, len(lines)-1):] // the line "ok" with the package
			}
			if e.Action == "fail" || e.Test == "" {
				for _, line := range lines {
					fmt.Fprint(stdout, line)
				}
			}
		}
	}
	return packages, tests
}

func told(line string) (cost, bool) {
	text, found := strings.CutPrefix(line, prefix)
	if !found {
		return cost{}, false
	}
	name, number, _ := strings.Cut(strings.TrimSpace(text), " ")
	seconds, err := strconv.ParseFloat(number, 64)
	return cost{name, seconds}, err == nil
}

func list(stdout io.Writer, of string, all []cost) {
	sum := 0.0
	for _, c := range all {
		sum += c.seconds
	}
	slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(b.seconds, a.seconds) })
	n := min(listed, len(all))
	fmt.Fprintf(stdout, "\nprocessor time of the %d slowest %s, %.0f s for all %d:\n", n, of, sum, len(all))
	for _, c := range all[:n] {
		fmt.Fprintf(stdout, "%7.1f s  %s\n", c.seconds, c.name)
	}
}
