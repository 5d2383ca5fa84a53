package ortlib

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// put writes a file and creates its folders.
func put(t *testing.T, content string, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOrder puts a library into every place, and removes each library that is found.
func TestOrder(t *testing.T) {
	root := t.TempDir()
	s := search{OS: "linux", Executable: filepath.Join(root, "bin"), Cache: filepath.Join(root, "cache"),
		System: []string{filepath.Join(root, "local"), filepath.Join(root, "usr [64]")}}
	order := []Found{
		{put(t, "0", s.Cache, "libonnxruntime.so.1"), Cache},
		{put(t, "1", s.Executable, "libonnxruntime.so.1"), Executable},
		{put(t, "2", s.Executable, "libonnxruntime.so"), Executable},
		{put(t, "3", s.Executable, "lib", "libonnxruntime.so.1.29.0"), Executable},
		{put(t, "5", s.System[0], "libonnxruntime.so"), System},
		{put(t, "6", s.System[1], "libonnxruntime.so.1.30.0"), System},
		{put(t, "7", s.System[1], "libonnxruntime.so.1.29.0"), System},
	}
	put(t, "decoy", s.Executable, "libonnxruntime_providers_shared.so")
	if err := os.Mkdir(filepath.Join(s.System[0], "libonnxruntime.so.1"), 0o755); err != nil {
		t.Fatal(err) // a folder with this name is not a library
	}
	given := s
	given.Given = order[5].Path
	if found, err := given.findLibrary(); err != nil || found != (Found{order[5].Path, Given}) {
		t.Errorf("given: found %v, %v", found, err)
	}
	for _, want := range order {
		found, err := s.findLibrary()
		if err != nil || found != want {
			t.Fatalf("found %v, %v, expected %v", found, err, want)
		}
		if err := os.Remove(found.Path); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.findLibrary()
	var none *notFound
	if !errors.As(err, &none) {
		t.Fatalf("found error %v", err)
	}
	want := []string{s.Cache, s.Executable, filepath.Join(s.Executable, "lib"), s.System[0], s.System[1]}
	if diff := cmp.Diff(want, none.Tried); diff != "" {
		t.Error(diff)
	}
	for _, place := range want {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("found error %v, expected it to name %s", err, place)
		}
	}
}

// TestGivenNeverFallsThrough checks that a wrong path is an error even if the cache has a library.
func TestGivenNeverFallsThrough(t *testing.T) {
	root := t.TempDir()
	put(t, "x", root, "cache", "libonnxruntime.so.1")
	empty := filepath.Join(root, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{filepath.Join(root, "nothing.so"): "no such file",
		empty: "a folder without libonnxruntime.so.1"} {
		s := search{OS: "linux", Given: given, Cache: filepath.Join(root, "cache")}
		if found, err := s.findLibrary(); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), given) {
			t.Errorf("%s: found %v, %v, expected an error with %q", given, found, err, want)
		}
	}
	s := search{OS: "linux", Given: filepath.Join(root, "cache")}
	if found, err := s.findLibrary(); err != nil || filepath.Base(found.Path) != "libonnxruntime.so.1" {
		t.Errorf("a given folder: found %v, %v", found, err)
	}
}

func TestNamesOfSystems(t *testing.T) {
	for goos, name := range map[string]string{"darwin": "libonnxruntime.1.29.0.dylib",
		"linux": "libonnxruntime.so.1.29.0"} {
		root := t.TempDir()
		path := put(t, "x", root, name)
		if found, err := (search{OS: goos, System: []string{root}}).findLibrary(); err != nil || found.Path != path {
			t.Errorf("%s: found %v, %v", goos, found, err)
		}
	}
}

func TestHere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	folder, err := CacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	path := put(t, "x", folder, FileNames(runtime.GOOS)[0])
	found, err := Find("")
	if err != nil || found != (Found{path, Cache}) {
		t.Errorf("found %v, %v, expected %s", found, err, path)
	}
}
