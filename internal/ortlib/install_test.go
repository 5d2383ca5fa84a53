package ortlib

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// library returns the header of a shared library for a platform, followed by a distinctive body.
func library(p platform, body string) string {
	head := make([]byte, 200)
	switch p.OS {
	case "linux":
		copy(head, "\x7fELF\x02\x01\x01")
		binary.LittleEndian.PutUint16(head[18:], map[string]uint16{"amd64": 62, "arm64": 183}[p.Arch])
	case "darwin":
		binary.LittleEndian.PutUint32(head, 0xfeedfacf)
		binary.LittleEndian.PutUint32(head[4:], map[string]uint32{"amd64": 0x01000007, "arm64": 0x0100000c}[p.Arch])
	}
	return string(head) + body
}

var (
	linuxX64 = platform{"linux", "amd64"}
	linuxArm = platform{"linux", "arm64"}
	macArm   = platform{"darwin", "arm64"}
)

// member is a file of an archive.
type member struct{ name, content string }

// npmMembers returns files laid out as in the npm package.
func npmMembers(body string) []member {
	const napi = "package/bin/napi-v6/"
	return []member{
		{"package/package.json", "{}"},
		{napi + "linux/arm64/libonnxruntime.so.1", library(linuxArm, body)},
		{napi + "linux/x64/libonnxruntime.so.1", library(linuxX64, body)},
		{napi + "linux/x64/onnxruntime_binding.node", library(linuxX64, "binding")},
		{napi + "darwin/arm64/libonnxruntime.1.29.0.dylib", library(macArm, body)},
	}
}

// releaseMembers returns files laid out as in Microsoft's release archives.
func releaseMembers(body string) []member {
	return []member{
		{"onnxruntime-linux-x64-gpu-1.29.0/VERSION_NUMBER", "1.29.0"},
		{"onnxruntime-linux-x64-gpu-1.29.0/lib/libonnxruntime.so.1.29.0", library(linuxX64, body)},
		{"onnxruntime-linux-x64-gpu-1.29.0/lib/libonnxruntime_providers_cuda.so", library(linuxX64, "cuda "+body)},
		{"onnxruntime-linux-x64-gpu-1.29.0/lib/libonnxruntime_providers_shared.so", library(linuxX64, "shared "+body)},
	}
}

func tarball(members []member) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	// As in Microsoft's archives, links with the library's name precede the library.
	must(w.WriteHeader(&tar.Header{Name: "lib/libonnxruntime.so.1", Typeflag: tar.TypeSymlink,
		Linkname: "libonnxruntime.so.1.29.0"}))
	for _, m := range members {
		must(w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.content))}))
		_, err := w.Write([]byte(m.content))
		must(err)
	}
	must(w.Close())
	must(z.Close())
	return b.Bytes()
}

// installed returns the content of a file in the folder, or "" if the file is missing.
func installed(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// onlyWhole fails the test if a temporary file was left behind.
func onlyWhole(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestInstallFrom installs the library of each platform from each kind of source.
func TestInstallFrom(t *testing.T) {
	root := t.TempDir()
	sources := map[string][]platform{
		put(t, string(tarball(npmMembers("v1"))), root, "npm.tgz"):                 {linuxX64, linuxArm, macArm},
		put(t, string(tarball(releaseMembers("v1"))), root, "rel.tar.gz"):          {linuxX64},
		put(t, library(linuxX64, "v1"), root, "alone", "libonnxruntime.so.1.29.0"): {linuxX64},
	}
	for source, platforms := range sources {
		for _, p := range platforms {
			to := t.TempDir()
			path, err := Install(context.Background(), InstallOptions{From: source, Folder: to, platform: p})
			if err != nil {
				t.Errorf("%s for %v: %v", source, p, err)
				continue
			}
			if want := filepath.Join(to, FileNames(p.OS)[0]); path != want {
				t.Errorf("%s for %v: found %s, expected %s", source, p, path, want)
			}
			if installed(t, to, filepath.Base(path)) != library(p, "v1") {
				t.Errorf("%s for %v: the wrong bytes", source, p)
			}
			onlyWhole(t, to)
			if found, err := (search{OS: p.OS, Cache: to}).findLibrary(); err != nil || found.Path != path {
				t.Errorf("%s for %v: not found again: %v", source, p, err)
			}
		}
	}
}

// TestInstallAgain checks which files are kept, and the effect of --overwrite.
func TestInstallAgain(t *testing.T) {
	root := t.TempDir()
	one := put(t, string(tarball(npmMembers("v1"))), root, "one.tgz")
	two := put(t, string(tarball(npmMembers("v2"))), root, "two.tgz")
	to := filepath.Join(root, "to")
	step := func(from string, force bool, wantBody, wantNote string) {
		t.Helper()
		var notes []string
		o := InstallOptions{From: from, Folder: to, Force: force, platform: linuxX64,
			Note: func(s string) { notes = append(notes, s) }}
		if _, err := Install(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if installed(t, to, "libonnxruntime.so.1") != library(linuxX64, wantBody) {
			t.Errorf("expected %s", wantBody)
		}
		if all := strings.Join(notes, "\n"); !strings.Contains(all, wantNote) {
			t.Errorf("found notes %q, expected %q", all, wantNote)
		}
	}
	step(one, false, "v1", "installed ")
	step(two, false, "v1", "already installed: ")
	step(filepath.Join(root, "nowhere.tgz"), false, "v1", "already installed: ")
	step(two, true, "v2", "installed ")
}

func TestInstallCUDA(t *testing.T) {
	root := t.TempDir()
	source := put(t, string(tarball(releaseMembers("v1"))), root, "gpu.tgz")
	to := filepath.Join(root, "to")
	if _, err := Install(context.Background(),
		InstallOptions{From: source, Folder: to, CUDA: true, platform: linuxX64}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"libonnxruntime.so.1": "v1", providerCUDA: "cuda v1",
		providerShared: "shared v1"} {
		if installed(t, to, name) != library(linuxX64, want) {
			t.Errorf("%s: the wrong bytes", name)
		}
	}
	plain := put(t, string(tarball(npmMembers("v1"))), root, "cpu.tgz")
	lone := filepath.Join(root, "lone")
	_, err := Install(context.Background(), InstallOptions{From: plain, Folder: lone, CUDA: true, platform: linuxX64})
	if err == nil || !strings.Contains(err.Error(), providerShared+", "+providerCUDA) {
		t.Errorf("an archive without CUDA: found error %v", err)
	}
	if _, err := Install(context.Background(),
		InstallOptions{From: plain, Folder: lone, CUDA: true, platform: macArm}); err == nil ||
		!strings.Contains(err.Error(), "found darwin/arm64, expected linux/amd64") {
		t.Errorf("CUDA on a mac: found error %v", err)
	}
}

// TestInstallFailures damages the source in every way; the earlier file must stay intact.
func TestInstallFailures(t *testing.T) {
	root := t.TempDir()
	good := tarball(npmMembers(strings.Repeat("some body ", 6000)))
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x40
	to := filepath.Join(root, "to")
	if _, err := Install(context.Background(),
		InstallOptions{From: put(t, library(linuxX64, "old"), root, "libonnxruntime.so"), Folder: to,
			platform: linuxX64}); err != nil {
		t.Fatal(err)
	}
	const napi = "package/bin/napi-v6/"
	for name, c := range map[string]struct{ source, want string }{
		"missing": {filepath.Join(root, "none.tgz"), "no such file"},
		"cut":     {put(t, string(good[:len(good)/3]), root, "cut.tgz"), "cut short"},
		"flipped": {put(t, string(flipped), root, "flipped.tgz"), "flipped.tgz"},
		"no gzip": {put(t, "text", root, "text.tgz"), "not a gzip archive"},
		"text":    {put(t, "text", root, "notes.txt"), "found nothing, expected libonnxruntime.so.1 for linux/amd64"},
		"nothing": {put(t, string(tarball(nil)), root, "nothing.tgz"), "found nothing, expected libonnxruntime.so.1"},
		"platform": {put(t, string(tarball([]member{{napi + "libonnxruntime.so.1", library(linuxArm, "x")}})), root,
			"arm.tgz"), "(linux/arm64), expected libonnxruntime.so.1 for linux/amd64"},
		"forged": {put(t, string(good), root, "onnxruntime-node-1.29.0.tgz"),
			"expected cfdfb45ec4044b1fdca43e5d2e180fb6817e649ff8ad1e0dfc90e18e51b67037"},
	} {
		_, err := Install(context.Background(),
			InstallOptions{From: c.source, Folder: to, Force: true, platform: linuxX64})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "ortlib: ") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: found error %v, expected one with %q", name, err, c.want)
		}
		if installed(t, to, "libonnxruntime.so.1") != library(linuxX64, "old") {
			t.Fatalf("%s: the old library is gone", name)
		}
		onlyWhole(t, to)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Install(ctx, InstallOptions{From: put(t, string(good), root, "good.tgz"), Folder: to, Force: true,
		platform: linuxX64}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: found error %v", err)
	}
	if _, err := Install(context.Background(),
		InstallOptions{From: filepath.Join(root, "good.tgz"), Folder: filepath.Join(root, "text.tgz", "below"),
			platform: linuxX64}); err == nil {
		t.Error("a folder below a file was written")
	}
}

// fakeNPM puts a shell script into PATH as the npm client.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	path := put(t, "#!/bin/sh\n"+script, bin, "npm")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
}

func pinned(name, version string, data []byte) npmPackage {
	sum := sha256.Sum256(data)
	return npmPackage{name, version, hex.EncodeToString(sum[:])}
}

// TestInstallThroughNPM uses a script as the npm client, without network access.
func TestInstallThroughNPM(t *testing.T) {
	main, cuda := tarball(npmMembers("v1")), tarball(releaseMembers("v1")[2:])
	store := t.TempDir()
	put(t, string(main), store, "runtime-1.0.tgz")
	put(t, string(cuda), store, "@gpu-2.0.tgz")
	fakeNPM(t, `echo "$@" >> `+store+`/calls
[ "$1" = pack ] || exit 3
for last; do :; done
name=$(echo "$last" | sed 's/\(.*\)@/\1-/')
cp `+store+`/"$name".tgz . && echo "$name".tgz`)
	to := filepath.Join(t.TempDir(), "deep", "cache")
	o := InstallOptions{Folder: to, CUDA: true, platform: linuxX64, mainPkg: pinned("runtime", "1.0", main),
		cudaPkg: pinned("@gpu", "2.0", cuda)}
	if _, err := Install(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if installed(t, to, "libonnxruntime.so.1") != library(linuxX64, "v1") ||
		installed(t, to, providerShared) != library(linuxX64, "shared v1") {
		t.Error("the wrong bytes")
	}
	onlyWhole(t, to)
	if _, err := Install(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if calls := installed(t, store, "calls"); strings.Count(calls, "\n") != 2 {
		t.Errorf("npm was called as %q, expected one call per package", calls)
	}

	o.mainPkg.SHA256 = strings.Repeat("0", 64)
	o.Force = true
	if _, err := Install(context.Background(), o); err == nil ||
		!strings.Contains(err.Error(), "runtime-1.0.tgz: found sha256 "+pinned("", "", main).SHA256) {
		t.Errorf("a wrong sum: found error %v", err)
	}
	if installed(t, to, "libonnxruntime.so.1") != library(linuxX64, "v1") {
		t.Error("the old library is gone")
	}
	onlyWhole(t, to)
}
