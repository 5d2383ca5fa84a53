// Package killed kills test processes in the middle of their work, to check what they leave behind.
package killed

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Halfway is called by the process to be killed, in the middle of its work. It prints a line and waits.
func Halfway() error {
	fmt.Println("halfway")
	_, err := io.Copy(io.Discard, os.Stdin) // until the process is killed
	return err
}

// Child runs a test of this program in a separate process with one more environment variable ("NAME=value"), and kills
// the process when it calls [Halfway].
func Child(t *testing.T, test, variable string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), variable)
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.StdinPipe(); err != nil { // stays open
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if killed := child.Process.Kill(); killed != nil || err != nil || line != "halfway\n" {
		t.Fatal(killed, err, line)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("ended as if nothing had happened")
	}
}
