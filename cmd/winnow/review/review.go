package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/review"
	"winnow/review/decisions"
	"winnow/review/pictures"
)

func reviewCommand() *cli.Command {
	return &cli.Command{
		Name:  "review",
		Usage: "decide about the suspects of an audit by eye, on a page in the browser, and write the mended manifest",
		Description: "Serves a page that shows the suspects of winnow audit --out with typical images of both labels and the nearest\n" +
			"neighbours, and prints its address. A decision is on the disk before it is answered: in a file beside the manifest,\n" +
			"keyed by the images' paths, so that a later audit of the same manifest keeps it. One server at a time holds the file.\n" +
			"Images are found like those of other commands; a link that leads out of their folder is not followed. With a feature\n" +
			"store, an index or a run the page finds images that are alike. Ctrl-C ends the server.\n\n" +
			"   winnow audit --manifest noisy.csv --features features --out suspects.csv\n" +
			"   winnow review --audit suspects.csv --manifest noisy.csv --features features --out mended.csv\n" +
			"   winnow review --manifest noisy.csv --export --out mended.csv\n\n" +
			"It listens on this machine only, and to whoever has the address with the token in it. To reach it from elsewhere,\n" +
			"forward a port (ssh -L 8080:127.0.0.1:8080 HOST with --listen 127.0.0.1:8080), or name an address of the network with\n" +
			"--listen: the token is then sent unencrypted.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "audit", Usage: "suspects as winnow audit --out wrote them, `FILE`.csv, .jsonl, .json or .parquet"},
			&cli.StringFlag{Name: "manifest", Required: true, Usage: "the manifest `FILE` that was audited"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder", Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
			&cli.StringFlag{Name: "features", Usage: "find images alike by the feature store or index `DIR`"},
			&cli.StringFlag{Name: "run", Usage: "find images alike by the embedding of the run folder `RUN`; its features are found again, or named with --features"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the features", Usage: "embed images that are searched for by a run folder or an ONNX `FILE`, where it moved"},
			&cli.StringFlag{Name: "decisions", DefaultText: "beside the manifest", Usage: "keep decisions in `FILE`"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "the mended manifest is written to `FILE`, in the form of --manifest"},
			&cli.BoolFlag{Name: "export", Usage: "serve nothing: write the mended manifest to --out"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "serve at `HOST:PORT`; port 0 is any that is free"},
			&cli.StringSliceFlag{Name: "allow-host", Usage: "answer to the name `HOST` too, as behind a proxy (repeatable)"},
			&cli.StringFlag{Name: "token", DefaultText: "a new one each time", Usage: "ask for the token `TEXT`, 16 letters or more", EnvVars: []string{"WINNOW_REVIEW_TOKEN"}},
			&cli.BoolFlag{Name: "open", Usage: "open the page in the browser"},
			&cli.BoolFlag{Name: "json", Usage: "--export: print the result as JSON"},
		},
		Action: reviewRun,
	}
}

func reviewRun(c *cli.Context) error {
	if err := checkReview(c); err != nil {
		return err
	}
	if err := checkReviewOut(c); err != nil {
		return err
	}
	if c.Bool("export") {
		return reviewExport(c)
	}
	r, closeAll, err := openReview(c)
	if err != nil {
		return err
	}
	defer closeAll()
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	token := c.String("token")
	if token == "" {
		token = review.NewToken()
	}
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		note(c, "review: listening on %s: whoever reads this network's traffic sees images, labels and the token", l.Addr())
	}
	if r.Others > 0 && r.Decided() > 0 {
		note(c, "%s: decisions made on another audit of this manifest are kept", r.Decisions.Path)
	}
	note(c, "%s", r.Summary())
	address := reviewAddress(l.Addr().(*net.TCPAddr), token)
	fmt.Fprintln(c.App.Writer, address)
	if c.Bool("open") {
		if err := openBrowser(address); err != nil {
			note(c, "the browser cannot be opened: %v", err)
		}
	}
	guard := review.NewGuard(token, l.Addr(), c.StringSlice("allow-host"))
	if err := review.Serve(c.Context, l, guard.Protect(r.Handler()), log.New(c.App.ErrWriter, "winnow: review: ", 0)); err != nil {
		return fmt.Errorf("review: %w", err)
	}
	note(c, "%s, kept in %s", r.Summary(), r.Decisions.Path)
	return nil
}

// checkReview refuses flags that do not go together.
func checkReview(c *cli.Context) error {
	switch {
	case c.NArg() > 0:
		return misused("winnow review takes no arguments, found %q: name the audit with --audit", c.Args().First())
	case c.Bool("export") && c.String("out") == "":
		return misused("--export: name the file to write with --out")
	case !c.Bool("export") && c.String("audit") == "":
		return misused("--audit is missing: name the suspects that winnow audit --out wrote")
	case c.Bool("json") && !c.Bool("export"):
		return misused("--json goes with --export")
	case c.IsSet("model") && (!c.IsSet("features") || c.IsSet("run")):
		return misused("--model goes with --features, without --run")
	}
	if c.String("token") != "" {
		if err := review.CheckToken(c.String("token")); err != nil {
			return misused("--token: %v", err)
		}
	}
	if host, _, err := net.SplitHostPort(c.String("listen")); err != nil {
		return misused("--listen: found %q, expected HOST:PORT, as 127.0.0.1:8080", c.String("listen"))
	} else if host == "" {
		return misused("--listen: found %q, which is every network of this machine: if that is meant, write 0.0.0.0%s", c.String("listen"), c.String("listen"))
	}
	return nil
}

// checkReviewOut wants the mended manifest in the form of the manifest, and not over a file that is read.
func checkReviewOut(c *cli.Context) error {
	out, manifest := c.String("out"), c.String("manifest")
	if out == "" {
		return nil
	}
	form, err := datasets.FormOf(manifest)
	if err != nil {
		return err
	}
	endings := review.Endings[form]
	if !slices.Contains(endings, strings.ToLower(filepath.Ext(out))) {
		return misused("--out: %q does not end in %s: the mended manifest has the form of %s", out, strings.Join(endings, " or "), manifest)
	}
	return checkTargets([]exportFile{{Flag: "out", Path: out}}, []string{manifest, c.String("audit"), decisionsFile(c)})
}

// reviewExport is winnow review --export: what was decided is carried out.
func reviewExport(c *cli.Context) error {
	file := decisionsFile(c)
	if _, err := os.Stat(file); err != nil {
		return withHint(fmt.Errorf("review: decisions: %w", err), "if they are elsewhere, name the file with --decisions")
	}
	d, err := datasets.Read(c.String("manifest"), datasets.ReadOptions{})
	if err != nil {
		return err
	}
	made, err := decisions.Open(file)
	if err != nil {
		return err
	}
	defer made.Close()
	r, err := review.New(review.Config{ManifestFile: c.String("manifest"), Manifest: d, Decisions: made, Out: c.String("out")})
	if err != nil {
		return err
	}
	e, err := r.Export()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, e)
	}
	fmt.Fprintf(c.App.Writer, "%s: %d rows; %d images dropped, %d relabelled, %d kept as they were, %d undecided\n", e.Path, e.Rows, e.Dropped, e.Relabelled, e.Kept, e.Undecided)
	return nil
}

// openReview opens what is reviewed. What it returns as a function closes it again.
func openReview(c *cli.Context) (r *review.Reviewer, closeAll func(), err error) {
	// A million judged images take some hundred megabytes while they are read and a third of that afterwards: the
	// collector is to be frugal meanwhile, and to give back what was only needed for that.
	defer debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	manifest := c.String("manifest")
	conf := review.Config{AuditFile: c.String("audit"), ManifestFile: manifest, Out: c.String("out")}
	if conf.Manifest, err = datasets.Read(manifest, datasets.ReadOptions{}); err != nil {
		return nil, nil, err
	}
	if conf.Audit, err = review.ReadAudit(conf.AuditFile, manifest, conf.Manifest); err != nil {
		return nil, nil, withHint(err, "make it: winnow audit --manifest %s --features DIR --out suspects.csv", manifest)
	}
	where := imageroot.Resolve(c.String("root"), manifest)
	root, err := imageroot.OpenClosed(where)
	if err != nil {
		return nil, nil, err
	}
	if err := someImage(root, conf.Audit, where); err != nil {
		return nil, nil, err
	}
	file := decisionsFile(c)
	conf.Pictures = pictures.New(root, pictures.Options{Folder: strings.TrimSuffix(file, filepath.Ext(file)) + ".thumbs"})
	var finder *reviewFinder
	open := openReviewFinder
	if c.IsSet("run") {
		open = openRunFinder
	}
	if c.IsSet("features") || c.IsSet("run") {
		if finder, err = open(c); err != nil {
			return nil, nil, err
		}
		conf.Finder = finder
	}
	if conf.Decisions, err = decisions.Open(file); err != nil {
		return nil, nil, errors.Join(err, finder.Close())
	}
	if r, err = review.New(conf); err != nil {
		return nil, nil, errors.Join(err, finder.Close(), conf.Decisions.Close())
	}
	made := conf.Decisions // the rest of conf, a table of a million images, is not to be kept for this
	return r, func() {
		if err := errors.Join(finder.Close(), made.Close()); err != nil {
			note(c, "%v", err)
		}
	}, nil
}

// someImage looks whether any of the first suspects' files is there: where none is, the folder is the wrong one.
func someImage(root fs.FS, audit *review.Audit, where string) error {
	const tried = 20
	var first error
	paths := audit.First(tried)
	for _, path := range paths {
		_, err := fs.Stat(root, path)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return withHint(fmt.Errorf("review: none of the first %d images is below %s: %w", len(paths), where, first), "name the folder of the images, or a .zip file of it, with --root")
}

// decisionsFile is where the decisions are kept.
func decisionsFile(c *cli.Context) string {
	if file := c.String("decisions"); file != "" {
		return file
	}
	manifest := c.String("manifest")
	return strings.TrimSuffix(manifest, filepath.Ext(manifest)) + ".decisions.db"
}

// reviewAddress is what is opened in the browser.
func reviewAddress(at *net.TCPAddr, token string) string {
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, fmt.Sprint(at.Port)), Path: "/", RawQuery: url.Values{"token": {token}}.Encode()}
	return u.String()
}

// openBrowser asks the system to show an address.
func openBrowser(address string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	shown := exec.Command(command[0], append(command[1:], address)...)
	if err := shown.Start(); err != nil {
		return err
	}
	go func() { _ = shown.Wait() }() // it is the browser's life from here on
	return nil
}
