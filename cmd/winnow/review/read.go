package review

import (
	"net"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review"
	"winnow/report/review/decisions"
	"winnow/run/inspect"
)

// Options are the options of winnow review.
type Options struct {
	review.Files
	Run, Features, Model string   // what finds similar images; "": not named
	Export, JSON         bool     // Export: write the mended manifest and serve nothing
	Listen               string   // HOST:PORT
	Hosts                []string // other names that the server answers to
	Token                string   // "": make one
	OpenPage             bool     // open the page in the browser
}

// read converts the flags to options, and refuses invalid combinations.
func read(c *cli.Context) (Options, error) {
	o := Options{
		Files: review.Files{
			Audit: c.String("audit"), Manifest: location.At(c.String("manifest")), Root: location.At(c.String("root")),
			Decisions: c.String("decisions"), Out: c.String("out"), List: c.String("decided"),
			Form: review.Form(c.String("format")), Import: c.String("import"), Names: c.String("names"),
			Reviewer: strings.TrimSpace(c.String("reviewer")), Columns: term.Columns(c),
		},
		Run: c.String("run"), Features: c.String("features"), Model: c.String("model"),
		Export: c.Bool("export"), JSON: c.Bool("json"), OpenPage: c.Bool("open"),
		Listen: c.String("listen"), Hosts: c.StringSlice("allow-host"), Token: c.String("token"),
	}
	if c.Bool("check") {
		o.Draw = inspect.Checked
	}
	if c.NArg() == 1 && o.Audit == "" {
		o.Audit = c.Args().First()
	} else if c.NArg() > 0 {
		return o, term.Misused("winnow review takes one argument, the suspects, which --audit names too: found %q",
			c.Args().Slice())
	}
	switch {
	case o.Export && o.Out == "":
		return o, term.Misused("--export: name the file to write with --out")
	case o.Form != "" && o.Out == "":
		return o, term.Misused("--format goes with --out")
	case !o.Export && o.Audit == "" && o.Import == "":
		return o, term.Misused("the suspects are missing: name the file that winnow audit wrote")
	case o.Draw > 0 && o.Export:
		return o, term.Misused("--check goes with the suspects, without --export: it shows some of their images")
	case o.List != "" && !o.Export:
		return o, term.Misused("--decided goes with --export")
	case o.JSON && (o.Export == (o.Import != "")):
		return o, term.Misused("--json goes with --export, or with --import")
	case o.Model != "" && (o.Features == "" || o.Run != ""):
		return o, term.Misused("--model goes with --features, without --run")
	}
	if o.Token != "" {
		if err := review.CheckToken(o.Token); err != nil {
			return o, term.Misused("--token: %v", err)
		}
	}
	if err := decisions.CheckReviewer(o.Reviewer); err != nil {
		return o, term.Misused("--reviewer: %v", err)
	}
	if host, _, err := net.SplitHostPort(o.Listen); err != nil {
		return o, term.Misused("--listen: found %q, expected HOST:PORT, as 127.0.0.1:8080", o.Listen)
	} else if host == "" {
		return o, term.Misused("--listen: found %q, which is every network of this machine: if that is meant, write "+
			"0.0.0.0%s", o.Listen, o.Listen)
	}
	return o, nil
}

// checkOut returns an error if the form of Out is unknown, or a written file is also read.
func checkOut(f review.Files) error {
	if _, err := f.FormOf(); err != nil || f.Out == "" {
		return err
	}
	var targets []term.Target
	if !datasets.IntoFolder(f.Manifest, f.Out) {
		targets = append(targets, term.Target{Flag: "out", Path: f.Out})
	}
	if f.List != "" {
		targets = append(targets, term.Target{Flag: "decided", Path: f.List})
	}
	return term.CheckTargets(targets, f.Inputs())
}
