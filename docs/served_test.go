package docs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"winnow/internal/testing/reviewing"
)

// served begins the mark of a block that starts a review, whose page a reviewer then uses: `<!-- served: 40 decisions
// -->`.
const served = "served: "

// reviewerVariable, if set, turns the test program into a reviewer who starts the command line of its arguments and
// makes so many decisions on its page. What the command prints on standard error is the output; Ctrl-C ends it.
const reviewerVariable = "WINNOW_DOCS_REVIEWER"

// servedBlock returns the commands of a marked block for the shell.
func servedBlock(b block) (string, error) {
	n, ok := strings.CutSuffix(strings.TrimPrefix(b.mark, served), " decisions")
	if _, err := strconv.Atoi(n); err != nil || !ok || strings.Count(b.text, "\n") != 1 {
		return "", fmt.Errorf("found the mark %q, expected a number of decisions, and one command", b.mark)
	}
	return "reviewed " + n + " " + b.text, nil
}

// reviewServed is the reviewer.
func reviewServed(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	server := exec.Command(args[1], args[2:]...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	var page reviewing.Page
	if err == nil {
		page, err = reviewing.Open(strings.TrimSpace(address))
	}
	if err == nil {
		err = page.Review(n)
	}
	if err != nil {
		_ = server.Process.Kill()
		return fmt.Errorf("%w; %w", err, server.Wait())
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return server.Wait()
}
