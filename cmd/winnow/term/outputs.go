package term

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/pagestyle"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// outputFlags are the flags that name output files or folders.
var outputFlags = []string{"out", "clean", "classes", "decided", "npy", "npz", "safetensors", "fvecs", "csv", "tsv",
	"parquet", "onnx", "projector", "html"}

// filled maps commands and flags to patterns of the files that they write into a folder. Other files in the folder stay
// unchanged, but stores and indexes require their own folder.
var filled = map[string]string{
	"extract": "*", "index": "*", "train": runFiles, "sweep": "report.* results.*",
	"reproduce": "*/report.* */results.csv", "pairs": "cosines-*.svg", "projector": "tensors.tsv metadata.tsv",
	"quickstart": "manifest.csv suspects.csv suspects.html",
}

// runFiles lists the files of a run's folder. A test compares it with folder.Files, which this package does not import.
const runFiles = "config.yaml run.json result.json head.winnow last.winnow backbone.onnx last.onnx weights.csv " +
	"screened.csv decisions.json lr_range.csv metrics.jsonl diagnostics.jsonl checkpoint.winnow"

// isOutput reports whether a flag names an output. Flags for folders that must be empty are checked elsewhere.
func isOutput(flag cli.Flag) bool {
	about, ok := flag.(cli.DocGenerationFlag)
	return ok && slices.Contains(outputFlags, flag.Names()[0]) && !strings.HasPrefix(about.GetUsage(), "empty")
}

// An output is a file or folder that a command may write, with the existing files that it would replace.
type output struct {
	Target
	old   []string
	fresh bool // the path did not exist before
}

// listOutputs returns all files and folders that a command may write, including files next to those in its flags.
func listOutputs(c *cli.Context) (list []output) {
	command := c.Command.Name
	for _, flag := range c.Command.Flags {
		if !isOutput(flag) {
			continue
		}
		name := flag.Names()[0]
		audit := name == "out" && command == "audit"
		for _, path := range append(c.StringSlice(name), c.String(name)) {
			if audit && path == "" && c.NArg() > 0 {
				path = "suspects.csv" // the default for images
			}
			all, base := []string{path}, strings.TrimSuffix(path, filepath.Ext(path))
			switch patterns := cmp.Or(filled[name], filled[command]); {
			case path == "" || location.At(path).IsRemote():
				continue
			case patterns != "":
				list = append(list, output{Target: Target{name, path}, old: listMatches(path, patterns)})
				continue
			case command == "embed" || command == "export":
				all = append(all, base+".ids.csv")
			case audit:
				all = append(all, base+".html")
			}
			for _, path := range all {
				list = append(list, output{Target: Target{name, path}, old: []string{path}})
			}
		}
	}
	return list
}

// listMatches returns the files in a folder that match a pattern, or nil if its files show that winnow wrote it.
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

// isForeign reports whether a path is a file that winnow did not write, judged by its content: pages and lists of
// suspects may have been written by winnow on another machine. A folder counts only if it is inside an output.
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

// MarksFolder is a folder with an empty file, a mark, for each path that winnow wrote, named by the path's checksum. ""
// means winnow/outputs in the user's cache folder. Marks outside of the files work for all formats and edited files.
var MarksFolder string

func markOf(path string) string {
	dir := MarksFolder
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "winnow", "outputs")
	}
	path, _ = filepath.Abs(path)
	return filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(path))))
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// claimOutputs returns an error if an output exists that winnow did not write, unless --overwrite is given. Otherwise
// it marks the outputs as winnow's, so that a killed command can be repeated. If workers share an output by --shard,
// only the first checks it. A file that cannot be marked is treated as not written by winnow.
func claimOutputs(c *cli.Context, all []output) error {
	for i, o := range all {
		all[i].fresh = !fileExists(o.Path) && !c.IsSet("shard")
		if c.Bool("overwrite") || fileExists(markOf(o.Path)) ||
			c.IsSet("shard") && fileExists(cluster.Dir(location.At(o.Path)).Path()) {
			continue
		}
		for _, path := range o.old {
			if isForeign(path, path != o.Path) && !fileExists(markOf(path)) {
				return hint.With(fmt.Errorf("--%s: %s exists and was not written by winnow", o.Flag, path),
					"give another file or folder, or --overwrite to replace it")
			}
		}
	}
	for _, o := range all {
		if mark := markOf(o.Path); os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
			_ = atomicfile.WriteBytes(mark, nil)
		}
	}
	return nil
}

// releaseOutputs removes the marks of new outputs that the command did not write.
func releaseOutputs(all []output) {
	for _, o := range all {
		if o.fresh && !fileExists(o.Path) {
			_ = os.Remove(markOf(o.Path))
		}
	}
}
