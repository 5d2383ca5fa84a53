package term

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
)

// Target is an output file and the flag that names it.
type Target struct{ Flag, Path string }

// Targets returns a target for each path, all named by one flag.
func Targets(flag string, paths ...string) []Target {
	list := make([]Target, len(paths))
	for i, path := range paths {
		list[i] = Target{flag, path}
	}
	return list
}

// CheckTargets returns an error if a file cannot be written or would overwrite an input. It is called before the work.
func CheckTargets(files []Target, inputs []string) error {
	for i, f := range files {
		for _, other := range files[:i] {
			if filepath.Clean(other.Path) == filepath.Clean(f.Path) {
				return Misused("--%s and --%s both write %s", other.Flag, f.Flag, f.Path)
			}
		}
		dir := filepath.Dir(f.Path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return hint.With(fmt.Errorf("--%s %s: there is no folder %s", f.Flag, f.Path, dir),
				"make it first: mkdir -p %s", dir)
		}
		if err := atomicfile.Check(f.Path); err != nil {
			return fmt.Errorf("--%s: %w", f.Flag, err)
		}
		old, none := os.Stat(f.Path)
		for _, in := range inputs {
			if info, err := os.Stat(in); err == nil && none == nil && os.SameFile(info, old) {
				return fmt.Errorf("--%s %s: is an input of this command, expected another file", f.Flag, f.Path)
			}
		}
	}
	return nil
}

// CheckTargets calls the function [CheckTargets], and also returns an error for existing files not written by winnow.
func (p *Program) CheckTargets(files []Target, inputs []string) error {
	if err := CheckTargets(files, inputs); err != nil || p.claim == nil {
		return err
	}
	return p.claim()
}

// keptHere returns an error for object-store URLs in flags other than those for manifests and images.
func keptHere(c *cli.Context) error {
	for _, flag := range c.Command.Flags {
		name := flag.Names()[0]
		at, err := location.Parse(c.String(name))
		switch {
		case slices.Contains([]string{"manifest", "labels", "root"}, name):
			if err != nil {
				return Misused("--%s: %w", name, err)
			}
		case name == "strip-prefix": // a text to remove from paths, not a path to open
		case at.Scheme() == location.S3 || at.Scheme() == location.Google:
			return Misused("--%s: found %s, expected a path on this machine", name, at)
		}
	}
	return nil
}

// KeepInput returns an error if --out cannot be written or is one of the command's inputs.
func KeepInput(c *cli.Context, inputs ...string) error {
	if c.String("out") == "" {
		return nil
	}
	return CheckTargets([]Target{{"out", c.String("out")}}, inputs)
}

// ByFlag returns the flag --by, for a folder of images named by another flag.
func ByFlag(flag string) cli.Flag {
	return OneOf(&cli.StringFlag{Name: "by", DefaultText: datasets.ByCopy, Usage: fmt.Sprintf("--%s FOLDER/: put "+
		"images there, or move them within their own folder, by `WAY`", flag)}, datasets.ByCopy, datasets.ByHardlink,
		datasets.BySymlink, datasets.ByMove)
}
