// Package review is winnow review.
package review

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/report/review"
	"winnow/report/review/finder"
	"winnow/run/folder"
)

// Command returns winnow review.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "review",
		Usage:     "decide about the suspects of an audit on a page in the browser, and write the mended manifest",
		ArgsUsage: "SUSPECTS",
		Description: "Serves a page that shows the suspects of winnow audit --out with typical images of both labels and the\n" +
			"nearest neighbours, and prints its address. If the audit calls no label wrong, or on demand, the page shows\n" +
			"all images. Ctrl-C ends the server.\n\n" +
			"   winnow audit photos\n" +
			"   winnow review suspects.csv --manifest photos --features suspects.features --out mended.csv\n" +
			"   winnow review --manifest photos --export --out mended.csv\n\n" +
			"Every decision is saved at once, in a file next to the manifest that a later audit of the same manifest\n" +
			"reads again. Several people can use one server: the page asks each browser for a name once, keeps who\n" +
			"decided what and when, and shows where people differ. The mended manifest follows the majority of those who\n" +
			"were sure; without a majority a label stays as given. One server at a time holds the file. Links that lead\n" +
			"out of the images' folder are not followed. With a feature store, an index or a run, the page finds similar\n" +
			"images.\n\n" +
			"Decisions can be exported in many forms: metadata.csv is an imagefolder's, labels.json FiftyOne's,\n" +
			"NAME.cleanlab.csv cleanlab's; NAME.labelstudio.json holds tasks for Label Studio with the suggestions, and\n" +
			"annotations made there can be imported:\n\n" +
			"   winnow review suspects.csv --manifest photos --export --out tasks.labelstudio.json\n" +
			"   winnow review --manifest photos --import export.json --export --out mended.csv\n\n" +
			"The server listens on this machine only, and answers only to the address with its token. To reach it from\n" +
			"elsewhere, forward a port (ssh -L 8080:127.0.0.1:8080 HOST with --listen 127.0.0.1:8080), or name a network\n" +
			"address with --listen; the token is then sent unencrypted.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "audit", DefaultText: "the argument",
				Usage: "suspects as winnow audit --out wrote them, `FILE`.csv, .jsonl, .json or .parquet"},
			&cli.StringFlag{Name: "manifest", Required: true,
				Usage: "the manifest `FILE` that was audited, or the folder or .zip file"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
				Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
			&cli.StringFlag{Name: "features", Aliases: []string{"index"},
				Usage: "find images alike by the feature store or index `DIR`"},
			&cli.StringFlag{Name: "run",
				Usage: "find images alike by the embedding of the run folder `RUN`; its features are found again, " +
					"or named with --features"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the features",
				Usage: "embed images that are searched for by a run folder or an ONNX `FILE`, where it moved"},
			&cli.StringFlag{Name: "decisions", DefaultText: "beside the manifest", Usage: "keep decisions in `FILE`"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"},
				Usage: "the mended manifest is written to `FILE`, in the form of --manifest or the one that its " +
					"name says"},
			&cli.StringFlag{Name: "format", DefaultText: "by the name of --out",
				Usage: "`NAME` of the form of --out: manifest, csv, imagefolder, fiftyone, labelstudio or cleanlab"},
			&cli.StringFlag{Name: "import",
				Usage: "take the annotations in `FILE`, an export of Label Studio as JSON or JSON_MIN, as " +
					"decisions"},
			&cli.StringFlag{Name: "names", DefaultText: "the manifest's column class_name",
				Usage: "show classes by the names in `FILE`.csv, columns class and name; labels are written as " +
					"they are"},
			&cli.StringFlag{Name: "reviewer", Usage: "the `NAME` that the page proposes to keep decisions by"},
			&cli.BoolFlag{Name: "export", Usage: "serve nothing: write the mended manifest to --out"},
			&cli.StringFlag{Name: "decided",
				Usage: "--export: list every decision and note, by whom and when, in `FILE`.csv"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0",
				Usage: "serve at `HOST:PORT`; port 0 is any that is free"},
			&cli.StringSliceFlag{Name: "allow-host",
				Usage: "answer to the name `HOST` too, as behind a proxy (repeatable)"},
			&cli.StringFlag{Name: "token", DefaultText: "a new one each time",
				Usage: "ask for the token `TEXT`, 16 letters or more; other users of this machine see it here, " +
					"not in the variable", EnvVars: []string{"WINNOW_REVIEW_TOKEN"}},
			&cli.BoolFlag{Name: "open", Usage: "open the page in the browser, by a file that lets in once"},
			&cli.BoolFlag{Name: "json", Usage: "--export: print the result as JSON"},
		},
		Action: term.Action(read, call),
	}
}

func run(ctx context.Context, p *term.Program, o Options) (err error) {
	if err := checkOut(o.Files); err != nil {
		return err
	}
	if o.Import != "" {
		if taken, err := review.Take(o.Files); err != nil || told(p, o.JSON, taken) != nil ||
			!o.Export && o.Audit == "" {
			return err
		}
	}
	if o.Export {
		exported, err := review.Export(o.Files)
		if err != nil {
			return err
		}
		return told(p, o.JSON, exported)
	}
	var found *finder.Finder
	r, closeDecisions, err := review.Open(o.Files, func() (_ review.Finder, err error) {
		if found, err = openFinder(ctx, p, o); found == nil {
			return nil, err
		}
		return found, err
	})
	if err != nil {
		return errors.Join(err, closeFinder(found))
	}
	defer func() { err = errors.Join(err, closeFinder(found), closeDecisions()) }()
	return serve(ctx, p, o, r)
}

// serve shows the page until ctx is done.
func serve(ctx context.Context, p *term.Program, o Options, r *review.Reviewer) error {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	token := o.Token
	if token == "" {
		token = review.NewToken()
	}
	at := l.Addr().(*net.TCPAddr)
	if !at.IP.IsLoopback() {
		p.Note("review: listening on %s: those who read this network's traffic see images, labels and the token", at)
	}
	if r.Others > 0 && r.Decided() > 0 {
		p.Note("%s: decisions made on another audit of this manifest are kept", r.Decisions.Path)
	}
	p.Note("%s", r.Summary())
	guard := review.NewGuard(token, at, o.Hosts)
	fmt.Fprintln(p.Out, guard.Address())
	if o.OpenPage {
		if remove, err := guard.OpenPage(filepath.Dir(r.Decisions.Path), review.Browse); err != nil {
			p.Note("the browser cannot be opened: %v", err)
		} else {
			defer remove()
		}
	}
	if err := review.Serve(ctx, l, guard.Protect(r.Handler()), log.New(p.Err, "winnow: review: ", 0)); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	if r.Decisions.Here() == nil { // else the error of closing them says where they are
		p.Note("%s, kept in %s", r.Summary(), r.Decisions.Path)
	}
	return nil
}

// told prints what was done, for people or for programs.
func told(p *term.Program, json bool, done interface{ Text() string }) error {
	if json {
		return p.JSON(done)
	}
	_, err := fmt.Fprint(p.Out, done.Text())
	return err
}

// openFinder opens what finds images alike, nil where nothing was named.
func openFinder(ctx context.Context, p *term.Program, o Options) (*finder.Finder, error) {
	switch {
	case o.Run != "":
		return finder.OpenRun(ctx, o.Run, folder.Options{
			Manifest: o.Manifest, Features: o.Features, Root: o.Root, View: backbone.CenterName, For: p.Command,
			Host: p.Host(),
		})
	case o.Features != "":
		return finder.Open(o.Features, o.Model, p.Host())
	}
	return nil, nil
}

func closeFinder(f *finder.Finder) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
