package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/internal/hint"
	"winnow/internal/ortlib"
	"winnow/internal/testing/orttest"
)

// realLibrary returns the path of ONNX Runtime's library. Without it the test is skipped, in CI it fails.
func realLibrary(t *testing.T) string {
	t.Helper()
	return orttest.Runtime(t).Library()
}

// TestRuntimeChild is not a test: winnowAlone runs it in another process.
func TestRuntimeChild(t *testing.T) {
	args, ok := os.LookupEnv("WINNOW_TEST_ARGS")
	if !ok {
		t.Skip("only run by other tests")
	}
	os.Exit(execute(context.Background(), strings.Split(args, "\x1f"), os.Stdout, os.Stderr))
}

// winnowAlone runs winnow in another process, with a cache folder: a loaded library stays loaded, so commands that load
// different ones cannot share a process.
func winnowAlone(t *testing.T, cache string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRuntimeChild$")
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "HOME="+cache, "LocalAppData="+cache, "WINNOW_ORT_LIB=",
		"WINNOW_TEST_ARGS="+strings.Join(append([]string{"winnow"}, args...), "\x1f"))
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// archiveOf packs a library as the npm package does.
func archiveOf(t *testing.T, library string) string {
	t.Helper()
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "local.tgz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(file, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "package/bin/napi-v6/os/arch/" + ortlib.FileNames(runtime.GOOS)[0],
		Mode: 0o644, Size: int64(len(data))})
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, w.Close(), z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRuntimeInstallAndShow starts with nothing, installs from a local archive, shows it, installs again, damages it
// and installs it once more.
func TestRuntimeInstallAndShow(t *testing.T) {
	library := realLibrary(t)
	cache := t.TempDir()
	code, _, stderr := winnowAlone(t, cache, nil, "runtime", "show")
	inSystem := code == 0 // the system may have the library
	if !inSystem && (!strings.Contains(stderr, "found no ") || !strings.Contains(stderr, cache) ||
		!strings.HasSuffix(stderr, "winnow: run: winnow runtime install\n")) {
		t.Errorf("nothing there: code %d, %s", code, stderr)
	}
	archive := archiveOf(t, library)
	code, stdout, stderr := winnowAlone(t, cache, nil, "runtime", "install", "--from", archive)
	path := strings.TrimSpace(stdout)
	if code != 0 || !strings.HasPrefix(path, cache) || !strings.Contains(stderr, "winnow: installed "+path) {
		t.Fatalf("install: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, stderr = winnowAlone(t, cache, nil, "runtime", "show", "--json")
	var facts struct {
		Path, Source, Version string
		Providers             []string
	}
	if err := json.Unmarshal([]byte(stdout), &facts); err != nil || code != 0 {
		t.Fatalf("show: code %d, %v, %s", code, err, stderr)
	}
	if facts.Path != path || facts.Source != ortlib.Cache || !strings.HasPrefix(facts.Version, "1.") ||
		len(facts.Providers) == 0 {
		t.Errorf("show: found %+v", facts)
	}
	if code, _, stderr = winnowAlone(t, cache, nil, "runtime", "install", "--from", "/nowhere"); code != 0 ||
		!strings.Contains(stderr, "already installed") {
		t.Errorf("again: code %d, %s", code, stderr)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr = winnowAlone(t, cache, nil, "runtime", "show"); code != 1 || !strings.Contains(stderr,
		"cut short") && runtime.GOOS == "linux" {
		t.Errorf("damaged: code %d, %s", code, stderr)
	}
	if code, _, stderr = winnowAlone(t, cache, nil, "-q", "runtime", "install", "--overwrite", "--from",
		library); code != 0 || stderr != "" {
		t.Errorf("mend: code %d, %s", code, stderr)
	}
	if code, stdout, stderr = winnowAlone(t, cache, nil, "runtime", "show"); code != 0 || !strings.Contains(stdout,
		path) || !strings.Contains(stdout, "cache folder") {
		t.Errorf("mended: code %d, %s%s", code, stdout, stderr)
	}
	for _, how := range []struct {
		env, args []string
		source    string
	}{
		{[]string{"WINNOW_ORT_LIB=" + library}, []string{"runtime", "show"}, "WINNOW_ORT_LIB"},
		{nil, []string{"--ort-lib", library, "runtime", "show"}, "--ort-lib"},
		{[]string{"WINNOW_ORT_LIB=/nowhere"}, []string{"--ort-lib", library, "runtime", "show"}, "--ort-lib"},
	} {
		code, stdout, stderr = winnowAlone(t, cache, how.env, how.args...)
		if code != 0 || !strings.Contains(stdout, library) || !strings.Contains(stdout, how.source+"\n") {
			t.Errorf("%v %v: code %d, %s%s", how.env, how.args, code, stdout, stderr)
		}
	}
}

// withRuntime runs winnow with an extra command whose action gets the runtime that the program opens.
func withRuntime(t *testing.T, args []string, action func(*cli.Context, *ort.Runtime) error) (stderr string, code int) {
	t.Helper()
	var errs bytes.Buffer
	app := term.NewApp(commands(), io.Discard, &errs)
	app.Commands = append(app.Commands, &cli.Command{Name: "compute", Action: func(c *cli.Context) error {
		p, err := term.NewProgram(c)
		if err != nil {
			return err
		}
		rt, err := p.OpenRuntime()
		if err != nil {
			return err
		}
		return action(c, rt)
	}})
	err := app.RunContext(context.Background(), append(append([]string{"winnow"}, args...), "compute"))
	return errs.String(), exitOf(&errs, err)
}

// exitOf returns the exit code of an error and writes its hint to w.
func exitOf(w io.Writer, err error) int {
	var misuse term.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &misuse):
		return 2
	case hint.Of(err) != "":
		_, _ = io.WriteString(w, err.Error()+"\n"+hint.Of(err)+"\n")
	}
	return 1
}

// TestOpenRuntime loads the runtime as commands do: matrix products then use it, and auto says that it falls back to
// the CPU and what is missing for CUDA.
func TestOpenRuntime(t *testing.T) {
	library := realLibrary(t)
	stderr, code := withRuntime(t, []string{"--ort-lib", library}, func(_ *cli.Context, rt *ort.Runtime) error {
		if cpu, err := ort.CPU(); err != nil || cpu.Library() != library || cpu.Version() != rt.Version() {
			t.Errorf("blas32 does not multiply through ONNX Runtime: %v, %v", cpu, err)
		}
		return nil
	})
	if code != 0 || stderr != "" {
		t.Errorf("code %d, %s", code, stderr)
	}
	missing := orttest.Runtime(t).MissingCUDA()
	if len(missing) == 0 {
		t.Skip("this machine has everything CUDA needs")
	}
	stderr, code = withRuntime(t, []string{"--ort-lib", library, "--device", "auto"},
		func(_ *cli.Context, rt *ort.Runtime) error {
			if rt.Device().CUDA {
				t.Error("auto runs on a device that is not there")
			}
			return nil
		})
	if code != 0 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, missing[0].Name) {
		t.Errorf("auto: code %d, %q", code, stderr)
	}
}

func TestDoctor(t *testing.T) {
	library := realLibrary(t)
	cache := t.TempDir()
	code, stdout, stderr := winnowAlone(t, cache, []string{"WINNOW_ORT_LIB=" + library}, "--threads", "1", "doctor")
	if code != 0 {
		t.Fatalf("code %d, %s", code, stderr)
	}
	holds(t, stdout, library, ", 1 threads\n", "ok       cpu", "the main job can run\n")
	for _, m := range orttest.Runtime(t).MissingCUDA() {
		holds(t, stdout, m.Name)
	}
	code, stdout, stderr = winnowAlone(t, "relative/path", []string{"WINNOW_ORT_LIB=/nowhere/lib.so", "PATH="}, "doctor")
	holds(t, stdout, "MISSING  onnx runtime", "/nowhere/lib.so", "winnow runtime install", "the main job cannot run",
		"XDG_CACHE_HOME")
	if code != 1 || !strings.Contains(stderr, "winnow runtime install") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// By default ONNX Runtime keeps usage data in the user's cache, to be sent. winnow must switch that off.
func TestNothingPhonesHome(t *testing.T) {
	library := orttest.Runtime(t).Library()
	cache := t.TempDir()
	if code, _, stderr := winnowAlone(t, cache, nil, "--ort-lib", library, "doctor"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	err := filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
