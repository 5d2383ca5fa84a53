package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/models"
)

func modelsCommand() *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	return &cli.Command{
		Name:  "models",
		Usage: "list, show, add, make and remove backbones",
		Description: "A backbone is an ONNX file that turns images into vectors. Your own are recorded in models.json in\n" +
			"winnow's configuration folder (or the file WINNOW_MODELS names); files of winnow's own entries are\n" +
			"looked for in the folders of WINNOW_MODEL_DIRS.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the backbones winnow knows", Flags: []cli.Flag{asJSON}, Action: modelsList},
			{Name: "show", Usage: "say all about one backbone, by name or file", ArgsUsage: "NAME|FILE",
				Flags: append([]cli.Flag{asJSON}, preprocessingFlags()...), Action: modelsShow},
			{Name: "add", Usage: "record an ONNX file as a backbone (nothing is copied)", ArgsUsage: "FILE",
				Flags:  append([]cli.Flag{&cli.StringFlag{Name: "name", Usage: "`NAME` for it"}, asJSON}, preprocessingFlags()...),
				Action: modelsAdd},
			modelsNewCommand(),
			modelsArchitecturesCommand(),
			{Name: "remove", Usage: "forget a backbone you added (its file stays)", ArgsUsage: "NAME", Action: modelsRemove},
		},
	}
}

// preprocessingFlags say how a backbone wants its images and which tensor is the feature.
func preprocessingFlags() []cli.Flag {
	const theModels = "the model's or the preset's" // nothing given is not zero
	return []cli.Flag{
		&cli.StringFlag{Name: "preset", Usage: "prepare images as for `NAME`: " + strings.Join(models.Presets(), ", ")},
		&cli.StringFlag{Name: "output", Usage: "`TENSOR` that is the feature, or cls, mean or pooled of a vision transformer (default: found in the graph)"},
		&cli.IntFlag{Name: "resize", DefaultText: theModels, Usage: "shorter side before the crop, `PIXELS` (0: no resize)"},
		&cli.BoolFlag{Name: "exact", DefaultText: theModels, Usage: "resize to a square, whatever the aspect"},
		&cli.IntFlag{Name: "crop", DefaultText: theModels, Usage: "side of the network's input, `PIXELS`"},
		&cli.StringFlag{Name: "interpolation", Usage: "bilinear, bicubic or lanczos"},
		&cli.StringFlag{Name: "channels", Usage: "RGB, BGR or L (grey)"},
		&cli.Float64Flag{Name: "scale", DefaultText: theModels, Usage: "a byte is multiplied by `X` first (1, or 0.00392157 for 1/255)"},
		&cli.GenericFlag{Name: "mean", Value: new(numbers), Usage: "`R,G,B` subtracted after the scale, in the network's channel order"},
		&cli.GenericFlag{Name: "std", Value: new(numbers), Usage: "`R,G,B` divided by afterwards"},
	}
}

// modelSettings reads the flags of preprocessingFlags; what is not given stays open.
func modelSettings(c *cli.Context) models.Settings {
	s := models.Settings{
		Preset: c.String("preset"), Output: c.String("output"),
		Interpolation: c.String("interpolation"), Channels: c.String("channels"),
	}
	if c.IsSet("resize") {
		v := c.Int("resize")
		s.Resize = &v
	}
	if c.IsSet("exact") {
		v := c.Bool("exact")
		s.Exact = &v
	}
	if c.IsSet("crop") {
		v := c.Int("crop")
		s.Crop = &v
	}
	if c.IsSet("scale") {
		v := c.Float64("scale")
		s.Scale = &v
	}
	if c.IsSet("mean") {
		s.Mean = *c.Generic("mean").(*numbers)
	}
	if c.IsSet("std") {
		s.Std = *c.Generic("std").(*numbers)
	}
	return s
}

// numbers is the value of a flag that takes numbers with commas between.
type numbers []float64

// Set implements cli.Generic.
func (n *numbers) Set(text string) error {
	*n = nil
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("%q is not a number, expected for example 0.485,0.456,0.406", part)
		}
		*n = append(*n, v)
	}
	return nil
}

func (n *numbers) String() string { return "" } // no default to show

// listedModel is one line of the list.
type listedModel struct {
	models.Entry
	Own   bool   `json:"own"`   // the user added it
	Found bool   `json:"found"` // its file is there
	Path  string `json:"path"`  // where; "" if it is part of the program
}

func modelsList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	r, err := openRegistry()
	if err != nil {
		return err
	}
	var list []listedModel
	for _, e := range r.Entries() {
		path, found := r.Locate(e)
		list = append(list, listedModel{e, r.Own(e.Name), found, path})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, list)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tIMAGES\tFILE\tSOURCE")
	for _, m := range list {
		p := m.Preprocessing
		fmt.Fprintf(w, "%s\t%s %d×%d\t%s\t%s\n", m.Name, p.Channels, p.Crop, p.Crop, m.place(), shortened(m.Source, 60))
	}
	return w.Flush()
}

// place says where the file is.
func (m listedModel) place() string {
	switch {
	case !m.Found:
		return "not here"
	case m.Path == "":
		return "part of winnow"
	}
	return m.Path
}

// shortened is a text of at most n characters.
func shortened(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func modelsShow(c *cli.Context) error {
	name, err := oneArgument(c, "one name or file")
	if err != nil {
		return err
	}
	r, err := openRegistry()
	if err != nil {
		return err
	}
	report, err := r.Inspect(name, modelSettings(c))
	if err != nil {
		return err
	}
	for _, line := range report.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "winnow: %s\n", line)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	return writeReport(c.App.Writer, report)
}

// writeReport writes a backbone's report for people.
func writeReport(out io.Writer, r *models.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", key, text)
		}
	}
	line("name", "%s", r.Name)
	switch {
	case r.Compiled:
		line("file", "part of winnow")
	case r.Found:
		line("file", "%s", r.Path)
	default:
		line("file", "not here")
	}
	line("sha256", "%s", r.SHA256)
	if s := r.Structure; s != nil {
		line("format", "ONNX opset %d, IR %d%s", s.Opset, s.IRVersion, by(s.Producer))
		line("size", "%d bytes, %d nodes, %d parameters", s.Bytes, s.Nodes, s.Parameters)
		tensorLines(w, "input", s.Inputs)
		tensorLines(w, "output", s.Outputs)
	}
	if f := r.Feature; f != nil {
		line("feature", "%s, %s numbers (%s)", f.Tensor, dimension(f.Dim), f.Why)
	}
	for i, c := range r.Choices {
		key := ""
		if i == 0 {
			key = "--output"
		}
		fmt.Fprintf(w, "%s\t%s: %s numbers, of %s\n", key, c.Name, dimension(c.Dim), c.Tensor)
	}
	tensorLines(w, "candidates", r.Candidates)
	for i, s := range r.Stages {
		key := ""
		if i == 0 {
			key = "stages"
		}
		fmt.Fprintf(w, "%s\t%s: %d weights in %d tensors, %s\n", key, s.Name, s.Parameters, s.Tensors, s.Shape)
	}
	if r.Recorded || len(r.Problems) == 0 {
		line("images", "%s", describePreprocessing(r.Preprocessing))
	}
	line("source", "%s", r.Source)
	line("licence", "%s", r.Licence)
	line("recipe", "%s", r.Recipe)
	for _, p := range r.Problems {
		line("problem", "%s", p)
	}
	return w.Flush()
}

func by(producer string) string {
	if producer == "" {
		return ""
	}
	return ", written by " + producer
}

func dimension(dim int) string {
	if dim == 0 {
		return "?"
	}
	return fmt.Sprint(dim)
}

// tensorLines lists tensors under one key.
func tensorLines(w io.Writer, key string, list []models.TensorSummary) {
	for i, t := range list {
		if i > 0 {
			key = ""
		}
		fmt.Fprintf(w, "%s\t%s %s %s\n", key, t.Name, t.Type, t.Shape)
	}
}

// describePreprocessing says in words what happens to an image.
func describePreprocessing(p backbone.Preprocessing) string {
	resize := "no resize"
	switch {
	case p.Resize > 0 && p.Exact:
		resize = fmt.Sprintf("resize to %d×%d (%s)", p.Resize, p.Resize, p.Interpolation)
	case p.Resize > 0:
		resize = fmt.Sprintf("resize the shorter side to %d (%s)", p.Resize, p.Interpolation)
	}
	n := p.Planes()
	text := fmt.Sprintf("%s, crop %d×%d, %s × %.6g, mean %v, std %v", resize, p.Crop, p.Crop, p.Channels, p.Scale, p.Mean[:n], p.Std[:n])
	if p.Decoder != "" {
		text += ", decoder " + p.Decoder
	}
	return text
}

func modelsAdd(c *cli.Context) error {
	file, err := oneArgument(c, "one ONNX file")
	if err != nil {
		return err
	}
	r, err := openRegistry()
	if err != nil {
		return err
	}
	b, p, err := r.AddFile(file, c.String("name"), modelSettings(c))
	if err != nil {
		return err
	}
	for _, line := range append(b.Warnings, p.Warnings...) {
		fmt.Fprintf(c.App.ErrWriter, "winnow: %s\n", line)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, b.Entry)
	}
	fmt.Fprintf(c.App.Writer, "added %s: %s, feature %s of %s numbers, %s\n",
		b.Name, b.Path, p.Cut, dimension(p.Dim), describePreprocessing(b.Preprocessing))
	return nil
}

func modelsRemove(c *cli.Context) error {
	name, err := oneArgument(c, "one name")
	if err != nil {
		return err
	}
	r, err := openRegistry()
	if err != nil {
		return err
	}
	if err := r.Remove(name); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "removed %s from %s\n", name, r.Path())
	return nil
}
