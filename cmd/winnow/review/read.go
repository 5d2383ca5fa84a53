package review

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/cmd/winnow/live"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/report/review"
	"winnow/report/review/decisions"
	"winnow/run/inspect"
	"winnow/run/rehearsal"
)

// Options are the options of winnow review and of winnow studio.
type Options struct {
	review.Files
	Run, Features, Model string   // what finds similar images; "": not named
	Export, JSON         bool     // Export: write the corrected manifest and serve nothing
	Listen               string   // HOST:PORT
	Hosts                []string // other names that the server answers to
	Token                string   // "": make one
	OpenPage             bool     // open the page in the browser

	asked learningFlags

	Simulate  bool // play the review with reviewers who answer from the truth
	Rehearsal rehearsal.Options
}

// readOptions converts the flags of either command to options.
func readOptions(c *cli.Context) Options {
	return Options{
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
}

// readReview converts the flags of winnow review to options, and refuses invalid combinations.
func readReview(c *cli.Context) (Options, error) {
	o := readOptions(c)
	if c.NArg() == 1 && o.Audit == "" {
		o.Audit = c.Args().First()
	} else if c.NArg() > 0 {
		return o, term.Misused("winnow review takes one argument, the suspects, which --audit names too: found %q",
			c.Args().Slice())
	}
	if c.IsSet("simulate") {
		err := readSimulation(c, &o)
		return o, err
	}
	if o.Features == "" && o.Run == "" && o.Audit != "" && !o.Export {
		o.Features = featuresOf(o.Audit)
	}
	if err := readLearning(c, &o); err != nil {
		return o, err
	}
	switch {
	case !c.IsSet("manifest"):
		return o, term.Misused("%s: --manifest missing: see '%[1]s --help'", c.Command.HelpName)
	case o.Export && o.Out == "":
		return o, term.Misused("--export: name the file to write with --out")
	case o.Form != "" && o.Out == "":
		return o, term.Misused("--format goes with --out")
	case !o.Export && o.Audit == "" && o.Import == "":
		return o, term.Misused("the suspects are missing: name the file that winnow audit wrote")
	case c.Bool("check") && o.Export:
		return o, term.Misused("--check goes with the suspects, without --export: it shows some of their images")
	case o.List != "" && !o.Export:
		return o, term.Misused("--decided goes with --export")
	case o.JSON && (o.Export == (o.Import != "")):
		return o, term.Misused("--json goes with --export, or with --import")
	}
	return o, checkServing(o)
}

// readStudio converts the flags of winnow studio to options. The argument names the images, or, with --manifest, the
// list of their audit. A list that is not named is looked for.
func readStudio(c *cli.Context) (Options, error) {
	o := readOptions(c)
	o.Home = review.Data
	switch arg := c.Args().First(); {
	case c.NArg() > 1:
		return o, term.Misused("winnow studio takes one argument, the images or the list of their audit: found %q",
			c.Args().Slice())
	case c.IsSet("manifest") && arg != "" && o.Audit != "":
		return o, term.Misused("found %q, expected no argument: --manifest names the images and --audit the list", arg)
	case c.IsSet("manifest") && arg != "":
		o.Audit = arg
	case c.IsSet("manifest"):
	case arg == "":
		o.Manifest = location.At(".")
	case isList(arg):
		return o, term.Misused("%s is the list of an audit: name its images too: winnow studio %[1]s --manifest PHOTOS",
			arg)
	default:
		o.Manifest = location.At(arg)
	}
	if o.Audit == "" {
		o.Audit = listOf(o.Manifest)
		o.Guessed = o.Audit != ""
	}
	if o.Features == "" && o.Run == "" && o.Audit != "" {
		o.Features = featuresOf(o.Audit)
	}
	if c.Bool("check") && o.Audit == "" {
		return o, term.Misused("--check goes with the list of an audit: name it with --audit")
	}
	if o.Form != "" && o.Out == "" {
		return o, term.Misused("--format goes with --out")
	}
	if err := readLearning(c, &o); err != nil {
		return o, err
	}
	return o, checkServing(o)
}

// isList reports whether a file is a list of suspects: its first image can be read.
func isList(file string) bool {
	first := errors.New("the first image")
	_, err := suspects.Each(file, func(suspects.Suspect) error { return first })
	return err == nil || errors.Is(err, first)
}

// listOf returns the list of suspects that winnow audit writes, in the working folder or next to the images, or "" if
// there is none.
func listOf(images location.Source) string {
	const usual = "suspects.csv"
	for _, file := range []string{usual, filepath.Join(filepath.Dir(images.Clean().Path()), usual)} {
		if isList(file) {
			return file
		}
	}
	return ""
}

// listMissingCommands returns the commands that make what the page's views need and o does not name.
func listMissingCommands(o Options) (m review.Missing) {
	words := []string{"winnow", "audit", o.Manifest.String()}
	if !o.Root.IsZero() {
		words = append(words, "--root", o.Root.String())
	}
	for flag, name := range term.Named(o.Columns) {
		words = append(words, flag, name)
	}
	if o.Audit == "" || o.Guessed {
		m.Audit = term.Quoted(words)
	}
	if o.Features == "" && o.Run == "" {
		m.Vectors = term.Quoted(words)
	}
	return m
}

// checkServing refuses invalid options of the server.
func checkServing(o Options) error {
	if o.Model != "" && (o.Features == "" || o.Run != "") {
		return term.Misused("--model goes with --features, without --run")
	}
	if o.Token != "" {
		if err := review.CheckToken(o.Token); err != nil {
			return term.Misused("--token: %v", err)
		}
	}
	if err := decisions.CheckReviewer(o.Reviewer); err != nil {
		return term.Misused("--reviewer: %v", err)
	}
	return live.CheckListen(o.Listen)
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

// inOrder is the goal of a review that leaves the list as it is.
const inOrder = "list"

// learningFlags are the flags about learning, as they were given.
type learningFlags struct {
	goal     learn.Goal
	check    bool
	checkSet bool
	until    string
}

// readLearning reads how the review learns.
func readLearning(c *cli.Context, o *Options) error {
	o.asked = learningFlags{learn.Goal(c.String("goal")), c.Bool("check"), c.IsSet("check"), c.String("until")}
	return o.decideLearning()
}

// decideLearning decides how the review learns. A first review that learns begins with random images, unless that is
// refused; without features, images are only drawn if asked for.
func (o *Options) decideLearning() error {
	goal, asked := o.asked.goal, o.asked
	o.Learning, o.Draw = review.Learning{}, 0
	if goal != inOrder && !slices.Contains(learn.Goals(), goal) {
		return term.Misused("--goal: found %q, expected find, measure, teach or %s", goal, inOrder)
	}
	vectors := o.Features != "" || o.Run != ""
	if asked.check && (!vectors || goal == inOrder) {
		o.Draw = inspect.Checked
	}
	if text := asked.until; text != "" {
		var err error
		if o.Learning.Until, err = learn.ParseRule(text); err != nil {
			return term.Misused("--until: %v", err)
		}
		o.Learning.Rule = text
		if !vectors || goal == inOrder {
			return term.Misused("--until goes with --features: name the features of the audit, without which nothing " +
				"is learned of the other images")
		}
	}
	switch {
	case !vectors:
		o.Learning.Hint = "The list keeps its order. To learn from decisions what comes next and how many labels are " +
			"wrong, start winnow review with --features, the folder that the audit was made of."
	case goal == inOrder:
	case asked.check:
		o.Learning.Goal = learn.Measure
	default:
		o.Learning.Goal = goal
	}
	if o.Learning.Goal != "" && (asked.check || !asked.checkSet) {
		o.Learning.Check, o.Learning.Asked = inspect.Checked, asked.check
	}
	return nil
}

// readSimulation completes the options of a simulation.
func readSimulation(c *cli.Context, o *Options) error {
	if column := c.String("simulate"); column != rehearsal.TruthColumn {
		return term.Misused("--simulate: found %q, expected %s, the column of the suspects with the true labels: "+
			"winnow audit writes it if the manifest has them", column, rehearsal.TruthColumn)
	}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && slices.Contains(serving, name) {
			return term.Misused("--%s does not go with --simulate, which serves and writes nothing", name)
		}
	}
	if o.Audit == "" {
		return term.Misused("the suspects are missing: name the file that winnow audit wrote")
	}
	r := rehearsal.Options{Goal: learn.Goal(c.String("goal"))}
	if c.Bool("check") {
		r.Check = inspect.Checked
	}
	if !slices.Contains(learn.Goals(), r.Goal) {
		return term.Misused("--goal: found %q, expected find, measure or teach", c.String("goal"))
	}
	if text := o.Decisions; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return term.Misused("--decisions: found %q, expected with --simulate a number of decisions from 1", text)
		}
		r.Decisions = n
	}
	if text := c.String("until"); text != "" {
		var err error
		if r.Until, err = learn.ParseRule(text); err != nil {
			return term.Misused("--until: %v", err)
		}
	}
	o.Files = review.Files{Audit: o.Audit}
	o.Simulate, o.Rehearsal = true, r
	return nil
}

// serving are the flags of serving and of files that do not go with --simulate.
var serving = []string{"manifest", "root", "run", "model", "out", "format", "import", "names", "reviewer", "export",
	"decided", "listen", "allow-host", "open"}

// checkOut returns an error if the form of Out is unknown, or a written file is also read.
func checkOut(p *term.Program, f review.Files) error {
	if _, err := f.FormOf(); err != nil || f.Out == "" {
		return err
	}
	targets := []term.Target{{Flag: "out", Path: f.Out}}
	if f.List != "" {
		targets = append(targets, term.Target{Flag: "decided", Path: f.List})
	}
	return p.CheckTargets(targets, f.Inputs())
}
