package term

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/pagestyle"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// outputFlags name a file that a command writes, or a folder that it fills.
var outputFlags = []string{"out", "clean", "classes", "decided", "npy", "npz", "safetensors", "fvecs", "csv", "tsv",
	"parquet", "onnx", "projector"}

// filled are patterns of the files that a command, or a flag, writes into a folder. Other files there stay as they are,
// but stores and indexes want a folder of their own.
var filled = map[string]string{
	"extract": "*", "index": "*", "train": runFiles, "sweep": "report.* results.*",
	"reproduce": "*/report.* */results.csv", "pairs": "cosines-*.svg", "projector": "tensors.tsv metadata.tsv",
	"quickstart": "manifest.csv suspects.csv suspects.html",
}

// runFiles are the files of a run's folder; a test compares them with folder.Files, which this room does not link.
const runFiles = "config.yaml run.json result.json head.winnow last.winnow backbone.onnx last.onnx weights.csv " +
	"screened.csv decisions.json lr_range.csv metrics.jsonl diagnostics.jsonl checkpoint.winnow"

// isOutput reports whether a flag names what its command writes. Rooms check folders that must be empty.
func isOutput(flag cli.Flag) bool {
	about, ok := flag.(cli.DocGenerationFlag)
	return ok && slices.Contains(outputFlags, flag.Names()[0]) && !strings.HasPrefix(about.GetUsage(), "empty")
}

// An output is a file or folder that a command may write, with the files there that it would replace.
type output struct {
	Target
	old []string
}

// listOutputs returns what a command may write, also next to what its flags name.
func listOutputs(c *cli.Context) (list []output) {
	command := c.Command.Name
	for _, flag := range c.Command.Flags {
		if !isOutput(flag) {
			continue
		}
		name := flag.Names()[0]
		paths := c.StringSlice(name)
		if _, one := flag.(*cli.StringFlag); one {
			paths = []string{c.String(name)}
		}
		audit := name == "out" && command == "audit"
		for _, path := range paths {
			if audit && path == "" && c.NArg() > 0 {
				path = "suspects.csv" // of photos
			}
			all, base := []string{path}, strings.TrimSuffix(path, filepath.Ext(path))
			switch patterns := cmp.Or(filled[name], filled[command]); {
			case path == "" || location.At(path).IsRemote():
				continue
			case patterns != "":
				list = append(list, output{Target{name, path}, listMatches(path, patterns)})
				continue
			case datasets.IsShardName(path):
				list = append(list, output{Target{name, path}, datasets.ListShards(path)})
				continue
			case command == "embed" || command == "export":
				all = append(all, base+".ids.csv", base+".metadata.tsv")
			case audit:
				all = append(all, base+".html")
			}
			for _, path := range all {
				list = append(list, output{Target{name, path}, []string{path}})
			}
		}
	}
	return list
}

// listMatches lists what in a folder matches one of the patterns, or nothing if a file there shows that winnow filled
// the folder.
func listMatches(dir, patterns string) (files []string) {
	for _, name := range []string{"store.json", "progress.json", "index.json", lock.Name} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	for _, pattern := range strings.Fields(patterns) {
		found, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, name := range found {
			if !strings.HasPrefix(name, ".") {
				files = append(files, filepath.Join(dir, name))
			}
		}
	}
	return files
}

// isForeign reports whether a file, or a folder in another one, is somebody else's, as far as it shows: winnow may have
// written a page or a list of suspects on another machine.
func isForeign(path string, inside bool) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || regular.Given(path) {
		return inside && err == nil && info.IsDir()
	}
	f, err := regular.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, head)
	first, _, _ := strings.Cut(string(head[:n]), "\n")
	return !bytes.Contains(head[:n], []byte(pagestyle.Generator)) &&
		!(strings.HasPrefix(first, "rank,path,given_label,") && strings.Contains(first, ","+seal.RowColumn))
}

// A written is the user's list of files that winnow has written: one path a line, quoted; the last line of a path
// counts, and begins with + or -. A list of paths, rather than a mark in the files, since every form counts, also one
// that holds nothing but numbers, and so does a table whose cells were edited.
type written struct {
	file  string // "" if this user has no folder for it
	paths map[string]bool
}

// mostWritten bounds the list in bytes; after it a new one begins.
const mostWritten = 1 << 20

// ListFile is the file of the list; "": written, in the user's cache folder.
var ListFile string

func readWritten() written {
	w := written{ListFile, map[string]bool{}}
	if dir, err := os.UserCacheDir(); w.file == "" && err == nil {
		w.file = filepath.Join(dir, "winnow", "written")
	}
	if w.file == "" {
		return w
	}
	text, _ := regular.ReadFile(w.file, 2*mostWritten) // without it no file counts as written by winnow
	for line := range strings.Lines(string(text)) {
		if path, err := strconv.Unquote(strings.TrimSpace(line[1:])); err == nil {
			w.paths[path] = line[0] == '+'
		}
	}
	if len(text) > mostWritten {
		_ = os.Remove(w.file) // the next files begin a new list
	}
	return w
}

// hasWritten reports whether winnow wrote a file.
func (w written) hasWritten(path string) bool {
	path, err := filepath.Abs(path)
	return err == nil && w.paths[path]
}

// addWritten appends a line. If it cannot, the file will not count as written by winnow.
func (w written) addWritten(sign, path string) {
	path, _ = filepath.Abs(path)
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

// A claim is what a command may write.
type claim struct {
	all               []output
	shared, overwrite bool // shared: by several workers
	list              written
	absent            []output // what was not there before
}

// takeOutputs refuses to overwrite what winnow did not write, unless --overwrite is given, and notes what is winnow's
// from now on. Of workers that share an output, the first checks it.
func (l *claim) takeOutputs() error {
	l.list = readWritten()
	for _, o := range l.all {
		_, err := os.Stat(cluster.Dir(location.At(o.Path)).Path())
		if l.overwrite || l.list.hasWritten(o.Path) || l.shared && err == nil {
			continue
		}
		for _, path := range o.old {
			if isForeign(path, path != o.Path) && !l.list.hasWritten(path) {
				return hint.With(fmt.Errorf("--%s: %s exists and was not written by winnow", o.Flag, path),
					"name another file or folder, or give --overwrite to replace it")
			}
		}
	}
	for _, o := range l.all {
		if !l.shared && !o.isThere() {
			l.absent = append(l.absent, o)
		}
		info, err := os.Stat(o.Path)
		if !l.list.hasWritten(o.Path) && (err != nil || info.IsDir() || info.Mode().IsRegular()) {
			l.list.addWritten("+", o.Path)
		}
	}
	return nil
}

// releaseOutputs takes back what the command did not write. A killed command leaves it, so that it can be repeated.
func (l *claim) releaseOutputs() {
	for _, o := range l.absent {
		if !o.isThere() {
			l.list.addWritten("-", o.Path)
		}
	}
}

func (o output) isThere() bool {
	_, err := os.Lstat(o.Path)
	return err == nil || datasets.IsShardName(o.Path) && len(datasets.ListShards(o.Path)) > 0
}
