package term

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/internal/hint"
	"winnow/internal/regular"
)

// outputFlags name a file that a command writes. Folders are checked by the rooms that fill them.
var outputFlags = []string{"out", "clean", "classes", "decided", "npy", "npz", "safetensors", "fvecs", "csv", "tsv",
	"parquet", "onnx"}

// isOutput reports whether a flag names files that its command writes.
func isOutput(flag cli.Flag) bool {
	about, ok := flag.(cli.DocGenerationFlag)
	return ok && slices.Contains(outputFlags, flag.Names()[0]) && !strings.Contains(about.GetUsage(), "`DIR`")
}

// outputs returns the files that a command may write, with those that it writes next to a named one.
func outputs(c *cli.Context) (files []Target) {
	if name := c.Command.Name; (name == "extract" || name == "index") && c.String("out") != "" {
		files = Targets("out", c.String("out"))
	}
	for _, flag := range c.Command.Flags {
		if !isOutput(flag) {
			continue
		}
		name := flag.Names()[0]
		paths := c.StringSlice(name)
		if _, one := flag.(*cli.StringFlag); one {
			paths = []string{c.String(name)}
		}
		command := c.Command.Name
		audit := name == "out" && command == "audit"
		for _, path := range paths {
			if audit && path == "" && c.NArg() > 0 {
				path = "suspects.csv" // of photos
			}
			if path == "" {
				continue
			}
			all, base := []string{path}, strings.TrimSuffix(path, filepath.Ext(path))
			if command == "embed" || command == "export" {
				all = append(all, base+".ids.csv", base+".metadata.tsv")
			} else if audit {
				all = append(all, base+".html")
			}
			files = append(files, Targets(name, all...)...)
		}
	}
	return files
}

// isForeign reports whether a folder holds files, and none that says it is a feature store or an index of winnow.
func isForeign(dir string) bool {
	entries, _ := os.ReadDir(dir)
	foreign := false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "store.json" || name == "progress.json" || name == "index.json":
			return false
		case !strings.HasPrefix(name, "."):
			foreign = true
		}
	}
	return foreign
}

// A written is the user's list of files that winnow has written: one path a line, quoted; the last line of a path
// counts, and begins with + or -. A list of paths, rather than a mark in the files, since every form counts, also one
// that holds nothing but numbers, and so does a table whose cells were edited.
type written struct {
	file  string // "" if this user has no folder for it
	paths map[string]bool
}

// mostWritten bounds the list in bytes; a longer one is written anew with the files that are still there.
const mostWritten = 1 << 20

func readWritten() written {
	w := written{paths: map[string]bool{}}
	dir, err := os.UserCacheDir()
	if err != nil {
		return w
	}
	w.file = filepath.Join(dir, "winnow", "written")
	text, _ := regular.ReadFile(w.file, 2*mostWritten) // without it no file counts as written by winnow
	for line := range strings.Lines(string(text)) {
		if path, err := strconv.Unquote(strings.TrimSpace(line[1:])); err == nil {
			w.paths[path] = line[0] == '+'
		}
	}
	if len(text) > mostWritten && os.Remove(w.file) == nil {
		for path, is := range w.paths {
			if _, err := os.Lstat(path); is && err == nil {
				w.add("+", path)
			}
		}
	}
	return w
}

// add appends a line. If it cannot, the file will not count as written by winnow.
func (w written) add(sign, path string) {
	if w.file == "" || os.MkdirAll(filepath.Dir(w.file), 0o700) != nil {
		return
	}
	f, err := regular.OpenOwn(w.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f, "%s%s\n", sign, strconv.Quote(path))
	_ = f.Close()
}

// claim refuses to overwrite a file that winnow did not write, unless --overwrite is given, and notes which files are
// winnow's from now on. done takes those back that the command did not write; a killed command leaves them, so that it
// can be repeated.
func claim(c *cli.Context) (done func(), err error) {
	files := outputs(c)
	if len(files) == 0 || c.IsSet("shard") { // the last of several workers writes the file, perhaps on another machine
		return func() {}, nil
	}
	var absent, ours []string
	list := readWritten()
	for _, f := range files {
		path, err := filepath.Abs(f.Path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent = append(absent, path)
		case err == nil && info.IsDir() && isForeign(path) && !list.paths[path]:
			if !c.Bool("overwrite") {
				return nil, hint.With(fmt.Errorf("--%s: %s holds files and was not written by winnow", f.Flag, f.Path),
					"name another folder, or give --overwrite to write into this one")
			}
		case err != nil || !info.Mode().IsRegular() || regular.Given(f.Path) || list.paths[path]:
			continue
		case info.Size() > 0 && !c.Bool("overwrite"):
			return nil, hint.With(fmt.Errorf("--%s: %s exists and was not written by winnow", f.Flag, f.Path),
				"name another file, or give --overwrite to replace it")
		}
		ours = append(ours, path)
	}
	for _, path := range ours {
		list.add("+", path)
	}
	return func() {
		for _, path := range absent {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				list.add("-", path)
			}
		}
	}, nil
}
