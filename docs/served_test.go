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

// served is the prefix of a mark such as `<!-- served: 40 decisions -->`. The command of the block starts a review
// server, and a simulated reviewer makes the decisions on its page.
const served = "served: "

// reviewerVariable is an environment variable that turns the test program into a simulated reviewer: it runs
// reviewServed with its arguments.
const reviewerVariable = "WINNOW_DOCS_REVIEWER"

// servedBlock returns the command of a marked block, preceded by the program reviewed and the number of decisions.
func servedBlock(b block) (string, error) {
	n, ok := strings.CutSuffix(strings.TrimPrefix(b.mark, served), " decisions")
	if _, err := strconv.Atoi(n); err != nil || !ok || strings.Count(b.text, "\n") != 1 {
		return "", fmt.Errorf("mark %q: expected \"served: N decisions\" before a block with one command", b.mark)
	}
	return "reviewed " + n + " " + b.text, nil
}

// reviewServed runs the command args[1:], makes args[0] decisions on the page that it serves, and interrupts it.
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
