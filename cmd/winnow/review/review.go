// Package review implements the "winnow review" command.
package review

import (
	"context"
	"fmt"
	"log"
	"net"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/learn"
	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/report/review"
	"winnow/report/review/finder"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/run/rehearsal"
)

// Command returns winnow review.
func Command() *cli.Command { return newReviewCommand(runReview) }

const description = `
Serves a page that shows the suspects of winnow audit --out with typical images of both labels and the nearest
neighbours, and prints its address. If the audit flags no label, or on demand, the page shows all images.
Ctrl-C ends the server.

   winnow audit photos
   winnow review suspects.csv --manifest photos --features suspects.features --out fixed.csv
   winnow review --manifest photos --export --out fixed.csv

With the features of the audit (SUSPECTS.features, or --features) the page learns: after each decision the images that
are not on the screen are put in the order of how likely they are wrong. Some images are drawn at random; they show how
many labels are wrong in all and how many are left. A first review starts with 60 of them where the audit cannot
estimate that, and --until says when to stop. Ctrl-C writes the corrected manifest to --out.

   winnow review suspects.csv --manifest photos --out fixed.csv --until 1%

Every decision is saved at once, in a file next to the manifest that a later audit of the same manifest reads
again. Several people can use one server: the page asks each browser for a name once, keeps who decided what and
when, and shows where people differ once they have decided. The corrected manifest follows the majority of those who
were sure; without a majority a label stays as given. One server at a time holds the file. Links that lead out of the
images' folder are not followed. With a feature store, an index or a run, the page finds similar images.

Decisions can be exported in many forms: metadata.csv is an imagefolder's, labels.json FiftyOne's,
NAME.cleanlab.csv cleanlab's; NAME.labelstudio.json holds tasks for Label Studio with the suggestions, and
annotations made there can be imported:

   winnow review suspects.csv --manifest photos --export --out tasks.labelstudio.json
   winnow review --manifest photos --import export.json --export --out fixed.csv

On a set whose true labels are known, a simulation measures how much learning from decisions helps and how well
the wrong labels are counted: it plays the review in the order that the decisions so far suggest, and compares it
with the list from top to bottom. With --check it starts with 60 images drawn at random.

   winnow review suspects.csv --simulate true_label --features suspects.features --decisions 500

The server listens on this machine only, and answers only to the address with its token. To reach it from
elsewhere, forward a port (ssh -L 8080:127.0.0.1:8080 HOST with --listen 127.0.0.1:8080), or name a network
address with --listen; the token is then sent unencrypted.
`

func newReviewCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "review",
		Usage:       "review the suspected label errors in the browser, and write the corrected manifest",
		ArgsUsage:   "SUSPECTS",
		Description: description,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "import",
				Usage: "take decisions from `FILE`, an export of Label Studio as JSON or JSON_MIN"},
			&cli.StringFlag{Name: "simulate", Usage: "serve nothing: let a simulated reviewer answer from `COLUMN` " +
				"of the suspects, true_label, and print what is found and estimated after how many decisions"},
			&cli.BoolFlag{Name: "export", Usage: "serve nothing: write the corrected manifest to --out"},
			&cli.StringFlag{Name: "decided",
				Usage: "--export: list every decision and note, with its reviewer and time, in `FILE`.csv"},
			term.JSONFlag(),
		}, pageFlags()...),
		Action: term.CheckedAction(readReview, call),
	}
}

// pageFlags are the flags of the page: what it shows, where it is served, what it writes.
func pageFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "audit", DefaultText: "the argument",
			Usage: "suspects as winnow audit --out wrote them, `FILE`.csv, .jsonl, .json or .parquet"},
		&cli.StringFlag{Name: "manifest",
			Usage: "the manifest `FILE` that was audited, or the folder or .zip file; required without --simulate"},
		&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
			Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
		&cli.StringFlag{Name: "features", Aliases: []string{"index"}, DefaultText: "SUSPECTS.features, if there",
			Usage: "learn from decisions, and find similar images, by the feature store or index `DIR`"},
		&cli.StringFlag{Name: "run",
			Usage: "find similar images by the embedding of the run folder `RUN`; its features are found again, " +
				"or named with --features"},
		&cli.StringFlag{Name: "model", DefaultText: "the one that made the features",
			Usage: "embed uploaded images by a run folder or an ONNX `FILE`, if it has moved"},
		&cli.StringFlag{Name: "decisions", DefaultText: "next to the manifest",
			Usage: "keep decisions in `FILE`; with --simulate, stop after so many"},
		term.OutFlag("write the corrected manifest to `FILE`, in the form of --manifest or of its name's ending"),
		&cli.StringFlag{Name: "format", DefaultText: "by the name of --out",
			Usage: "`NAME` of the form of --out: manifest, csv, imagefolder, fiftyone, labelstudio or cleanlab"},
		term.NamesFlag(),
		&cli.BoolFlag{Name: "check", DefaultText: "in a first review with --features",
			Usage: fmt.Sprintf("start with %d random images, which show how many labels are wrong; "+
				"--check alone shows random images only, --check=false none", inspect.Checked)},
		&cli.StringFlag{Name: "reviewer", Usage: "the `NAME` of a reviewer that the page suggests"},
		&cli.StringFlag{Name: "goal", Value: string(learn.Find),
			Usage: "`NAME` of what to show: find (likely wrong), measure (random), teach (doubtful) or list (in " +
				"the order of the suspects)"},
		&cli.StringFlag{Name: "until", Usage: "say when to stop, by the `RULE` 1%, when with 95 % confidence at " +
			"most so many images have a wrong label that is not found, or 50 per hour, when fewer are found; " +
			"needs features"},
		&cli.StringFlag{Name: "listen", Value: anyPort,
			Usage: "serve at `HOST:PORT`; port 0 is any free one"},
		&cli.StringSliceFlag{Name: "allow-host",
			Usage: "also answer to the name `HOST`, as behind a proxy; may be repeated"},
		&cli.StringFlag{Name: "token", DefaultText: "a new one each time",
			Usage: "ask for the token `TEXT`, 16 letters or more; other users of this machine see the flag, but " +
				"not the variable", EnvVars: []string{"WINNOW_REVIEW_TOKEN"}},
		&cli.BoolFlag{Name: "open", Usage: "open the page in the browser, by a file that gives access once"},
	}, term.ColumnFlags()...)
}

// anyPort is the address of a free port that only this machine reaches.
const anyPort = "127.0.0.1:0"

func runReview(ctx context.Context, p *term.Program, o Options) (err error) {
	if o.Simulate {
		return simulateReview(ctx, p, o)
	}
	if err := checkOut(p, o.Files); err != nil {
		return err
	}
	if o.Import != "" {
		if taken, err := review.Take(o.Files); err != nil || printResult(p, o.JSON, taken) != nil ||
			!o.Export && o.Audit == "" {
			return err
		}
	}
	if o.Export {
		exported, err := review.Export(o.Files)
		if err != nil {
			return err
		}
		return printResult(p, o.JSON, exported)
	}
	return openAndServe(ctx, p, o)
}

// listExportCommands returns the commands that export the decisions in each form.
func listExportCommands(o Options) map[review.Form]string {
	names := review.Exports()
	if form, err := datasets.FormOf(o.Manifest); err == nil {
		names[review.InPlace] = "fixed" + review.Endings[form][0]
	}
	list := map[review.Form]string{}
	for form, name := range names {
		words := []string{"winnow", "review"}
		if o.Audit != "" && !form.Trainable() {
			words = append(words, o.Audit)
		}
		words = append(words, "--manifest", o.Manifest.String())
		for flag, column := range term.Named(o.Columns) {
			words = append(words, flag, column)
		}
		if !o.Root.IsZero() {
			words = append(words, "--root", o.Root.String())
		}
		if o.Decisions != "" {
			words = append(words, "--decisions", o.Decisions)
		}
		words = append(words, "--export", "--out", name)
		if form == review.Table {
			words = append(words, "--format", string(form))
		}
		list[form] = term.Quoted(words)
	}
	return list
}

// listNextCommands returns the commands that continue with the decisions: to write the corrected list, if the server
// does not, and to train on it.
func listNextCommands(o Options) (list []string) {
	images := []string{"--manifest", o.Manifest.String()}
	for flag, name := range term.Named(o.Columns) {
		images = append(images, flag, name)
	}
	out := o.Out
	if out == "" {
		out = "fixed.csv"
		write := append([]string{"winnow", "review"}, images...)
		if o.Decisions != "" {
			write = append(write, "--decisions", o.Decisions)
		}
		list = append(list, term.Quoted(append(write, "--export", "--out", out)))
	}
	if form, err := o.FormOf(); o.Out != "" && (err != nil || !form.Trainable()) {
		return list
	}
	images[1] = out
	words := append([]string{"winnow", "train"}, images...)
	root := imageroot.Resolve(o.Root, o.Manifest)
	if folder := filepath.Dir(out); filepath.Clean(root.String()) != folder {
		words = append(words, "--root", root.String())
	}
	if o.Features != "" && o.Run == "" {
		words = append(words, "--features", o.Features)
	}
	return append(list, term.Quoted(append(words, "--out", "runs/fixed")))
}

// simulateReview plays the review with reviewers who answer from the truth.
func simulateReview(ctx context.Context, p *term.Program, o Options) error {
	stage, features, err := rehearsal.Open(ctx, o.Audit, o.Features)
	if err != nil {
		return err
	}
	if stage.Note != "" {
		p.Note("%s", stage.Note)
	}
	played, err := stage.Play(ctx, o.Rehearsal)
	if err != nil {
		return err
	}
	played.Features = features
	return printResult(p, o.JSON, played)
}

// servePage serves the page until ctx is done.
func servePage(ctx context.Context, p *term.Program, o Options, open *opened) error {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	token := o.Token
	if token == "" {
		token = review.NewToken()
	}
	at, r := l.Addr().(*net.TCPAddr), open.getReview()
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
	if err := review.Serve(ctx, l, guard.Protect(open.newPageHandler()), log.New(p.Err, "winnow: review: ",
		0)); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	open.endRequests()
	r = open.getReview()
	if r.Decisions.Here() != nil { // the error of closing them names where they are
		return nil
	}
	p.Note("%s, kept in %s", r.Summary(), r.Decisions.Path)
	if r.Decided() == 0 {
		return nil
	}
	if r.Out != "" {
		written, err := r.Write()
		if err != nil {
			return err
		}
		p.Note("%s", strings.TrimRight(written.Text(), "\n"))
	}
	for _, command := range r.Next {
		p.Note("next: %s", command)
	}
	return nil
}

// printResult prints a result as text or JSON.
func printResult(p *term.Program, json bool, done interface{ Text() string }) error {
	if json {
		return p.JSON(done)
	}
	_, err := fmt.Fprint(p.Out, done.Text())
	return err
}

// openFinder opens the finder of similar images, or returns nil if none is named.
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
