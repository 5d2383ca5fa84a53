//go:build unix

package atomicfile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// killed is set in a child process that is killed while it writes the file with this name.
const killed = "WINNOW_TEST_KILLED"

func TestMain(m *testing.M) {
	path := os.Getenv(killed)
	if path == "" {
		os.Exit(m.Run())
	}
	Write(path, func(io.Writer) error {
		fmt.Println("writing")
		os.Stdin.Read(make([]byte, 1))
		return nil
	})
}

// The next write of a file removes files left by killed processes; files of live processes and of other programs stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killed+"="+path)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 7)
	if _, err := io.ReadFull(out, said); err != nil {
		t.Fatal(err)
	}
	others := []string{".file.tmp-", ".file.tmp-12x", ".file.tmp-1.txt", ".filex.tmp-12", ".other.tmp-12",
		"file.tmp-12"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".file.tmp-13"), 0o755); err != nil {
		t.Fatal(err)
	}
	others = append(others, ".file.tmp-13")
	here := func() (unknown []string) {
		if err := WriteBytes(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		for _, name := range list(t, dir) {
			if name != "file" && !slices.Contains(others, name) {
				unknown = append(unknown, name)
			}
		}
		return unknown
	}
	if left := here(); len(left) != 1 || !strings.HasPrefix(left[0], ".file.tmp-") {
		t.Errorf("beside a living process: found %v, expected its file", left)
	}
	child.Process.Kill()
	child.Wait()
	if left := here(); len(left) > 0 {
		t.Errorf("behind a killed process: found %v", left)
	}
	if n := len(list(t, dir)); n != len(others)+1 {
		t.Errorf("%d files are left, expected %d: %v", n, len(others)+1, list(t, dir))
	}
}
