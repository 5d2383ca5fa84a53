package studio

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/suspects"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review"
	"winnow/report/review/decisions"
	"winnow/run/inspect"
)

// Options are the options of "winnow studio".
type Options struct {
	review.Files
	Listen   string   // HOST:PORT
	Hosts    []string // other names that the server answers to
	Token    string   // "": make one
	OpenPage bool     // open the page in the browser
	Global   []string // global flags with their values, which an audit that the page starts gets too
}

// readFiles returns the files that the flags name.
func readFiles(c *cli.Context) review.Files {
	return review.Files{
		Audit: c.String("audit"), Manifest: location.At(c.String("manifest")), Root: location.At(c.String("root")),
		Decisions: c.String("decisions"), Out: c.String("out"), By: c.String("by"), Names: c.String("names"),
		Columns: term.Columns(c), KeepOrder: c.Bool("keep-order"), Reviewer: strings.TrimSpace(c.String("reviewer")),
		Features: c.String("features"), Model: c.String("model"),
	}
}

// readOptions converts the flags to options. The argument names the images or, with --manifest, the list of their
// audit. A list that is not named is searched for.
func readOptions(c *cli.Context) (Options, error) {
	o := Options{Files: readFiles(c), OpenPage: c.Bool("open"), Listen: c.String("listen"),
		Hosts: c.StringSlice("allow-host"), Token: c.String("token")}
	for _, name := range []string{"ort-lib", "device", "gpu-memory", "threads"} {
		if c.IsSet(name) {
			o.Global = append(o.Global, "--"+name, fmt.Sprint(c.Value(name)))
		}
	}
	if o.By == datasets.ByMove {
		return o, term.Misused("--by move: the studio shows the images where they are: end it, then move them with " +
			"winnow decisions export PHOTOS --by move")
	}
	if c.Bool("check") {
		o.Draw = inspect.Checked
	}
	switch arg := c.Args().First(); {
	case c.NArg() > 1 || arg != "" && c.IsSet("manifest") && o.Audit != "":
		return o, term.Misused("winnow %s takes one argument, the images or, with --manifest, the list of their "+
			"audit: found %q", c.Command.Name, c.Args().Slice())
	case c.IsSet("manifest"):
		o.Audit = cmp.Or(o.Audit, arg)
	case arg == "":
		o.Manifest = location.At(".")
	case isList(arg):
		return o, term.Misused("%s is the list of an audit: name its images too: winnow %s %[1]s --manifest PHOTOS",
			arg, c.Command.Name)
	default:
		o.Manifest = location.At(arg)
	}
	if o.Audit == "" {
		o.Audit = listOf(o.Manifest)
		o.Guessed = o.Audit != ""
	}
	if o.Features == "" && o.Audit != "" {
		o.Features = featuresOf(o.Audit)
	}
	if o.Draw > 0 && o.Audit == "" {
		return o, term.Misused("--check shows some images of an audit: name its list with --audit")
	}
	return o, checkServing(o)
}

// isList reports whether a file is a list of suspects: its first image can be read.
func isList(file string) bool {
	first := errors.New("the first image")
	_, err := suspects.Each(file, func(suspects.Suspect) error { return first })
	return err == nil || errors.Is(err, first)
}

// usualList is the list of suspects that winnow audit writes by default.
const usualList = "suspects.csv"

// nameOwnList returns the list for an audit of these images if the usual name is taken, by a list of other images.
func nameOwnList(images location.Source) string {
	if at, err := images.Absolute(); err == nil {
		images = at
	}
	return strings.TrimSuffix(images.Base(), images.Ext()) + "-" + usualList
}

// nameNewList returns the list that an audit of these images writes, in the working folder: a name that no file has,
// or "" if both names are taken.
func nameNewList(images location.Source) string {
	for _, list := range []string{usualList, nameOwnList(images)} {
		_, err := os.Lstat(list)
		_, failed := os.Lstat(strings.TrimSuffix(list, filepath.Ext(list)) + ".html")
		if errors.Is(err, fs.ErrNotExist) && errors.Is(failed, fs.ErrNotExist) {
			return list
		}
	}
	return ""
}

// listOf returns the list of suspects that winnow audit writes, in the working folder or next to the images, or "" if
// there is none.
func listOf(images location.Source) string {
	for _, file := range []string{
		nameOwnList(images), usualList, filepath.Join(filepath.Dir(images.Clean().Path()), usualList),
	} {
		if isList(file) {
			return file
		}
	}
	return ""
}

// listImageWords returns the words of a command about the images.
func listImageWords(command string, o Options) []string {
	images := o.Manifest.String()
	if strings.HasPrefix(images, "-") {
		images = "./" + images // it is no flag
	}
	words := []string{command, images}
	if !o.Root.IsZero() {
		words = append(words, "--root", o.Root.String())
	}
	return words
}

// listTrainWords returns the words of a training on the decisions so far, and the folder that it makes: next to the
// list of the audit or, without one, to the decisions.
func listTrainWords(o Options, decisions string) (words []string, dir string) {
	base := filepath.Join(filepath.Dir(cmp.Or(o.Audit, decisions)), "runs", "fixed")
	dir = base
	for i := 2; ; i++ {
		if _, err := os.Lstat(dir); err != nil {
			break
		}
		dir = fmt.Sprintf("%s-%d", base, i)
	}
	words = append(listImageWords("train", o), "--decisions", decisions)
	if o.Features != "" {
		words = append(words, "--features", o.Features)
	}
	return append(words, "--out", dir), dir
}

// listAuditWords returns the words of an audit of the images, which writes a list that does not exist yet.
func listAuditWords(o Options) []string {
	words := listImageWords("audit", o)
	for flag, name := range term.Named(o.Columns) {
		words = append(words, flag, name)
	}
	if list := nameNewList(o.Manifest); list != usualList && list != "" {
		words = append(words, "--out", list)
	}
	return words
}

// listMissingCommands returns the commands that make what the page's views need and o does not name.
func listMissingCommands(o Options) (m review.Missing) {
	command := term.Quoted(append([]string{"winnow"}, listAuditWords(o)...))
	if o.Audit == "" || o.Guessed {
		m.Audit = command
	}
	if o.Features == "" {
		m.Vectors = command
	}
	return m
}

// checkServing refuses invalid options of the server.
func checkServing(o Options) error {
	if o.Model != "" && o.Features == "" {
		return term.Misused("--model goes with --features")
	}
	if o.Token != "" {
		if err := review.CheckToken(o.Token); err != nil {
			return term.Misused("--token: %v", err)
		}
	}
	if err := decisions.CheckReviewer(o.Reviewer); err != nil {
		return term.Misused("--reviewer: %v", err)
	}
	if host, _, err := net.SplitHostPort(o.Listen); err != nil {
		return term.Misused("--listen: found %q, expected HOST:PORT, as 127.0.0.1:8080", o.Listen)
	} else if host == "" {
		return term.Misused("--listen: found %q, which is every network of this machine: if that is meant, write "+
			"0.0.0.0%s", o.Listen, o.Listen)
	}
	return nil
}

// featuresOf returns the folder NAME.features next to the list NAME, where winnow audit keeps features, or "" if there
// is none.
func featuresOf(list string) string {
	dir := strings.TrimSuffix(list, filepath.Ext(list)) + ".features"
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// checkOut returns an error if Out has an ending that cannot be written, or a written file is also read.
func checkOut(p *term.Program, f review.Files) error {
	if err := f.CheckOut(nil); err != nil || f.Out == "" {
		return err
	}
	var targets []term.Target
	if !datasets.IsFolderOut(f.Out) {
		targets = append(targets, term.Target{Flag: "out", Path: f.Out})
	}
	if f.List != "" {
		targets = append(targets, term.Target{Flag: "decided", Path: f.List})
	}
	return p.CheckTargets(targets, f.Inputs())
}
