//go:build faults

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/program"
	"winnow/internal/testing/orttest"
)

// reviewKills is the number of times that TestReviewKilled kills its server.
const reviewKills = 10

// TestCommandChild is not a test: it is the main function of the processes that command starts.
func TestCommandChild(t *testing.T) {
	args, ok := os.LookupEnv("WINNOW_TEST_COMMAND")
	if !ok {
		t.Skip("only run by other tests")
	}
	os.Exit(program.Main(append([]string{"winnow", "--threads", "1", "-q"}, strings.Split(args, "\x1f")...)))
}

// command returns a command that runs winnow with args, and a buffer for its standard error.
func command(args []string) (*exec.Cmd, *bytes.Buffer) {
	c := exec.Command(os.Args[0], "-test.run=^TestCommandChild$")
	c.Env = append(os.Environ(), "WINNOW_TEST_COMMAND="+strings.Join(args, "\x1f"))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	return c, &stderr
}

// finish runs winnow, which must succeed.
func finish(t *testing.T, args []string) {
	t.Helper()
	c, stderr := command(args)
	if err := c.Run(); err != nil {
		t.Fatalf("winnow %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
}

// goOn continues after a kill as a user would: it runs the command again and, if the error mentions flag, with flag.
func goOn(t *testing.T, args []string, flag string) {
	t.Helper()
	c, stderr := command(args)
	if err := c.Run(); err == nil {
		return
	}
	if flag == "" || !strings.Contains(stderr.String(), flag) {
		t.Fatalf("winnow %s: %s", strings.Join(args, " "), stderr)
	}
	finish(t, append(slices.Clone(args), flag))
}

// killedAt starts winnow, kills it with SIGKILL after a duration, and reports whether it was still running.
func killedAt(t *testing.T, args []string, after time.Duration) bool {
	t.Helper()
	at, _ := signalledAt(t, args, os.Kill, after)
	return at != nil
}

// signalledAt starts winnow and sends it a signal after a duration. It returns the exit error, or nil if winnow ended
// successfully before, and the standard error.
func signalledAt(t *testing.T, args []string, by os.Signal, after time.Duration) (*exec.ExitError, string) {
	t.Helper()
	c, stderr := command(args)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("winnow %s: %v\n%s", strings.Join(args, " "), err, stderr)
		}
		return nil, ""
	case <-time.After(after):
		_ = c.Process.Signal(by)
		exit, _ := errors.AsType[*exec.ExitError](<-ended)
		return exit, stderr.String()
	}
}

// TestInterruptedProgram checks that commands stop at a signal and leave no files. TestInterrupted interrupts all
// commands, but in this process.
func TestInterruptedProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	finish(t, []string{"data", "glyphs", "--out", "glyphs", "--classes", "12", "--images", "2"})
	drawn, err := filepath.Glob("glyphs/*/*/*.png")
	if err != nil || len(drawn) == 0 {
		t.Fatal(drawn, err)
	}
	for class := range 100 {
		dir := fmt.Sprintf("many/%03d", class)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for image := range 200 {
			if err := os.Link(drawn[0], fmt.Sprintf("%s/%03d.png", dir, image)); err != nil {
				t.Fatal(err)
			}
		}
	}
	finish(t, []string{"data", "import", "many", "--out", "many.csv"})
	for _, args := range [][]string{
		{"data", "check", "many.csv", "--root", "many"},
		append([]string{"data", "import", "--out", "left.csv"}, slices.Repeat([]string{"many"}, 20)...),
	} {
		start := time.Now()
		finish(t, args)
		whole := time.Since(start)
		if err := os.RemoveAll("left.csv"); err != nil {
			t.Fatal(err)
		}
		for signal, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
			exit, stderr := signalledAt(t, args, signal, whole/2)
			if exit == nil || exit.ExitCode() != code || stderr != "winnow: interrupted\n" {
				t.Errorf("%v after %v of %v: %v, expected exit status %d:\n%s", args[:2], whole/2, whole, exit, code,
					stderr)
			}
			if left, _ := filepath.Glob("*left*"); left != nil {
				t.Errorf("%v: %v is left", args[:2], left)
			}
		}
	}
}

// TestKilled kills commands at random times, continues them as their help describes, and compares the result bit by bit
// with the result of an undisturbed run. TestReviewKilled kills winnow studio.
func TestKilled(t *testing.T) {
	orttest.Runtime(t)
	const kills = 10
	here := t.TempDir()
	t.Chdir(here)
	finish(t, []string{"data", "glyphs", "--out", "glyphs", "--classes", "30", "--images", "30"})
	finish(t, []string{"extract", "--manifest", "glyphs", "--model", "glyphnet", "--out", "features"})
	trained := []string{"head.winnow", "last.winnow", "metrics.jsonl", "diagnostics.jsonl",
		"result.json"}
	small := []string{"--batch", "8x4", "--dim", "32", "--noise-rate", "0.3", "--manifest", "glyphs/manifest.csv"}
	for _, victim := range []struct {
		name  string
		args  []string
		flag  string // the flag that continues after a kill
		files []string
	}{
		{"extract", []string{"extract", "--manifest", "glyphs", "--model", "glyphnet", "--batch", "4"}, "",
			[]string{"features.npy", "paths.txt", "store.json"}},
		{"train", append([]string{"train", "--features", "features", "--epochs", "4", "--set", "checkpoint=5 steps"},
			small...), "--resume", trained},
		{"fine-tune", append([]string{"train", "--root", "glyphs", "--model", "glyphnet", "--finetune", "all",
			"--steps", "9", "--set", "checkpoint=2 steps"}, small...), "--resume",
			append([]string{"backbone.onnx", "last.onnx"}, trained...)},
		{"index", []string{"index", "glyphs", "--model", "glyphnet", "--batch", "4"}, "--add", []string{"vectors.bin",
			"paths.txt", "index.json"}},
	} {
		t.Run(victim.name, func(t *testing.T) {
			calm := victim.name + "-calm"
			start := time.Now()
			finish(t, append(slices.Clone(victim.args), "--out", calm))
			whole := time.Since(start)
			want := left(t, calm, victim.files)
			hit := 0
			for kill := 0; hit < kills && kill < 4*kills; kill++ {
				rng := rand.New(rand.NewPCG(15, uint64(kill)))
				out := "killed" // always the same name, because some files contain it
				if err := os.RemoveAll(out); err != nil {
					t.Fatal(err)
				}
				args := append(slices.Clone(victim.args), "--out", out)
				start := time.Now()
				if !killedAt(t, args, time.Duration(rng.Float64()*float64(whole))) {
					whole = min(whole, time.Since(start)) // the machine was slower when the duration was measured
					continue
				}
				hit++
				goOn(t, args, victim.flag)
				if diff := cmp.Diff(want, left(t, out, victim.files)); diff != "" {
					t.Fatalf("kill %d: the result differs (-calm +killed):\n%.2000s", kill,
						diff)
				}
				if forgotten, _ := filepath.Glob(filepath.Join(out, ".*.tmp-*")); forgotten != nil {
					t.Errorf("kill %d: %v is left", kill, forgotten)
				}
			}
			if hit < kills {
				t.Errorf("only %d of %d kills happened before the end", hit, kills)
			}
		})
	}
}

// left returns the contents of files in a folder. JSON files are without times, the folder's name, and the checksum.
func left(t *testing.T, dir string, files []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".json" {
			var facts map[string]any
			if err := json.Unmarshal(data, &facts); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, key := range []string{"run", "head", "backbone", "seconds", "started", "checksum"} {
				delete(facts, key)
			}
			if data, err = json.Marshal(facts); err != nil {
				t.Fatal(err)
			}
		}
		all[name] = string(data)
	}
	return all
}
