// Package studio implements the commands "winnow studio", which shows a labelled set in the browser, and
// "winnow decisions", which uses what was decided there.
package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/report/review"
	"winnow/run/inspect"
)

// Command returns the "winnow studio" command.
func Command() *cli.Command { return newStudioCommand(runStudio) }

func newStudioCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name: "studio", Usage: "review the suspects and all other images of a labelled set in the browser",
		ArgsUsage: "[PHOTOS | SUSPECTS]", Description: description, Flags: append(listFlags(), term.ColumnFlags()...),
		Action: term.CheckedAction(readOptions, call),
	}
}

const description = `
Serves one page for a labelled set and prints its address: the suspects of an audit next to typical images of both
labels; all images in a grid, with filters, classes and counts; duplicates, outliers and images with problems; a map of
the images by their vectors; and search by an image of the set, a file or a selection. Everywhere images can be kept,
dropped, relabelled, and noted about, one or many at a time. Ctrl-C ends the server.

   winnow audit photos
   winnow studio photos
   winnow studio suspects.csv --manifest photos --out fixed.csv

PHOTOS is a folder, a .zip file or a manifest, by default the working folder. Without the list of an audit as SUSPECTS
or --audit, the page shows suspects.csv in the working folder or next to the images. The vectors of the images are in
the folder SUSPECTS.features. Without a list, the page finds wrong labels at a click: it runs winnow audit, which ends
with the server, and offers to download a network first if none is installed. It also trains on the labels decided so
far at a click: winnow train --decisions, into a new folder, runs/fixed. With vectors the list learns from the
decisions: after every 20 of them, the labels that are now most likely wrong come first.

Every decision is saved at once, in a file next to the manifest that a later audit of the same manifest reads again; one
server at a time holds it. Several people can use one server: the page asks each browser for a name once, keeps who
decided what and when, and shows where people differ once they have decided. The corrected manifest follows the majority
of those who were sure; without a majority a label stays as given.

The server listens on this machine only, and answers only to the address with its token. To reach it from elsewhere,
forward a port (ssh -L 8080:127.0.0.1:8080 HOST with --listen 127.0.0.1:8080), or name a network address with --listen;
the token is then sent unencrypted.
`

// listFlags returns the flags of the page: what it shows, where it is served, what it writes.
func listFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "audit", DefaultText: "suspects.csv, if there",
			Usage: "suspects as winnow audit --out wrote them, `FILE`.csv, .jsonl, .json or .parquet"},
		&cli.StringFlag{Name: "manifest", DefaultText: "the argument",
			Usage: "the manifest `FILE`, or the folder or .zip file of the images"},
		&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
			Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
		&cli.StringFlag{Name: "features", Aliases: []string{"index"}, DefaultText: "SUSPECTS.features, if there",
			Usage: "find similar images and draw the map by the feature store or index `DIR`"},
		&cli.StringFlag{Name: "model", DefaultText: "the one that made the features",
			Usage: "embed uploaded images by a run folder or an ONNX `FILE`, if it has moved"},
		&cli.StringFlag{Name: "decisions", DefaultText: "next to the manifest",
			Usage: "keep decisions in `FILE`"},
		term.OutFlag("write the corrected manifest to `FILE`, in the form of --manifest or as .csv; if it ends in /, " +
			"write fixed class folders to a new folder"),
		term.ByFlag("out"),
		term.NamesFlag(),
		&cli.BoolFlag{Name: "check", Usage: fmt.Sprintf("show %d random images in place of the suspects, to estimate "+
			"how many labels are wrong", inspect.Checked)},
		&cli.BoolFlag{Name: "keep-order", Usage: "keep the order of the list: do not learn from decisions"},
		&cli.StringFlag{Name: "reviewer", Usage: "the `NAME` of a reviewer that the page suggests"},
		&cli.StringFlag{Name: "listen", Value: anyPort,
			Usage: "serve at `HOST:PORT`; port 0 chooses a free port"},
		&cli.StringSliceFlag{Name: "allow-host",
			Usage: "also answer to the name `HOST`, as behind a proxy; may be repeated"},
		&cli.StringFlag{Name: "token", DefaultText: "a new one each time",
			Usage: "ask for the token `TEXT`, 16 letters or more; other users of this machine see the flag, but " +
				"not the variable", EnvVars: []string{"WINNOW_REVIEW_TOKEN"}},
		&cli.BoolFlag{Name: "open", Usage: "open the page in the browser, by a file that gives access once"},
	}
}

// anyPort is the address of a free port that only this machine reaches.
const anyPort = "127.0.0.1:0"

// listNextCommands returns the commands that continue with the decisions: to write the corrected labels to out, unless
// they are written, and to train on them. train is the command that trains on decisions. Training needs the usual
// column names.
func listNextCommands(o Options, out string, written bool, train string) (list []string) {
	out = cmp.Or(out, "fixed.csv")
	if !written {
		write := []string{"winnow", "decisions", "export", o.Manifest.String()}
		for flag, name := range term.Named(o.Columns) {
			write = append(write, flag, name)
		}
		if o.Decisions != "" {
			write = append(write, "--decisions", o.Decisions)
		}
		list = append(list, term.Quoted(append(write, "--out", out)))
	}
	switch {
	case o.Columns != datasets.Names{}:
		return list
	case !written:
		return append(list, train)
	}
	if datasets.IsFolderOut(out) { // the features are of the old paths
		return append(list, term.Quoted([]string{"winnow", "train", filepath.Clean(out), "--out", "runs/fixed"}))
	}
	words := []string{"winnow", "train", "--manifest", out}
	root := imageroot.Resolve(o.Root, o.Manifest)
	if folder := filepath.Dir(out); filepath.Clean(root.String()) != folder {
		words = append(words, "--root", root.String())
	}
	if o.Features != "" {
		words = append(words, "--features", o.Features)
	}
	return append(list, term.Quoted(append(words, "--out", "runs/fixed")))
}

// runStudio opens the images with their audit and serves the page until ctx is done.
func runStudio(ctx context.Context, p *term.Program, o Options) (err error) {
	if err := checkOut(p, o.Files); err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	shown := &opened{p: p, end: end}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	o.Work = &review.Work{Program: program, Words: shown.listWords, Network: shown.findNetwork, Finish: shown.finish}
	if err := shown.openSet(o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.closes()) }()
	defer o.Work.End()
	context.AfterFunc(ctx, o.Work.End) // while the last requests are answered
	r := shown.r
	if r.Notice != "" {
		p.Note("%s", r.Notice)
	}
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
	log := log.New(p.Err, "winnow: review: ", 0)
	if err := review.Serve(ctx, l, guard.Protect(shown), log); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	o.Work.End()
	if shown.failed != nil {
		return shown.failed
	}
	r = shown.r
	if r.Decisions.Here() != nil { // the decisions file was moved: closing it reports this
		return nil
	}
	p.Note("%s, kept in %s", r.Summary(), r.Decisions.Path)
	if r.Decided() == 0 {
		return nil
	}
	if o.Out != "" {
		written, err := r.Write()
		if err != nil {
			return err
		}
		p.Note("%s", strings.TrimRight(written.Text(), "\n"))
	}
	for _, command := range listNextCommands(o, r.Out, o.Out != "", r.Train) {
		p.Note("next: %s", command)
	}
	return nil
}

// OpenStudio serves the studio and opens it in the browser.
func OpenStudio(ctx context.Context, p *term.Program, o Options) error {
	o.OpenPage, o.Listen = true, anyPort
	return runStudio(ctx, p, o)
}

// Command returns the command that opens the studio: its list and the features next to it are found by their names.
func (o Options) Command() string {
	words := []string{"winnow", "studio", o.Manifest.String()}
	if !o.Root.IsZero() {
		words = append(words, "--root", o.Root.String())
	}
	return term.Quoted(append(words, "--out", o.Out))
}
