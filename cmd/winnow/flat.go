package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/progress"
	"winnow/models"
	"winnow/run"
	"winnow/run/folder"
)

// The old names of what commands share now in term and the rooms, for the commands of this folder that have no folder of
// their own yet. This file goes with the last of them.

type (
	progressLine = progress.Line
	exportFile   = term.Target
)

const (
	everySplit = datasets.EverySplit
	listed     = term.Listed
)

var (
	dataFlags = term.DataFlags
)

func program(c *cli.Context) *term.Program {
	p, _ := term.NewProgram(c) // the program's Before has checked the flags
	return p
}

func misused(format string, args ...any) error             { return term.Misused(format, args...) }
func asMisuse(err error) error                             { return term.AsMisuse(err) }
func withHint(err error, format string, args ...any) error { return hint.With(err, format, args...) }
func note(c *cli.Context, format string, args ...any)      { program(c).Note(format, args...) }
func noter(c *cli.Context) func(string, ...any)            { return program(c).Note }
func printJSON(w io.Writer, v any) error                   { return term.JSON(w, v) }
func first[T any](list []T, n int) []T                     { return term.First(list, n) }
func parseSize(text string) (int64, error)                 { return term.ParseSize(text) }
func version() string                                      { return term.Version() }
func openRuntime(c *cli.Context) (*ort.Runtime, error)     { return program(c).OpenRuntime() }
func extractionHost(c *cli.Context) extraction.Host        { return program(c).Host() }
func openRegistry() (*models.Registry, error)              { return models.OpenDefault() }
func named(f []cli.Flag, name, second string) []cli.Flag   { return term.Renamed(f, name, second) }
func checkTargets(files []exportFile, inputs []string) error {
	return term.CheckTargets(files, inputs)
}
func newProgressLine(w io.Writer, unit string, now func() time.Time) *progressLine {
	return progress.New(w, unit, now)
}
func chooseSplits(d *datasets.Dataset, text string) ([]int, error) { return d.Choose(text) }
func drawSome(list []int, n int, seed uint64, purpose string) []int {
	return folder.Draw(list, n, seed, purpose)
}
func usualSplits(d *datasets.Dataset) (string, error) { return folder.UsualSplits(d) }
func vectorsIn(s *features.Store, d *datasets.Dataset, split string) (blas32.General, error) {
	return run.VectorsIn(s, d, split)
}

// openedRun is a run folder as commands look at it.
type openedRun struct{ *folder.Run }

func (r *openedRun) embedSet(set features.Set) (features.Set, error) { return r.Embed(set) }
func (r *openedRun) inputs() []string                                { return r.Inputs() }
func (r *openedRun) samplesAt(at []int) (features.Set, []lookup.LeftOut, error) {
	return r.Samples(at)
}

func openRun(c *cli.Context, dir string, splits ...string) (*openedRun, error) {
	o, err := term.RunOptions(c, splits...)
	if err != nil {
		return nil, err
	}
	o.Host = extractionHost(c)
	r, err := folder.Open(c.Context, dir, o)
	if err != nil {
		return nil, err
	}
	return &openedRun{r}, nil
}

func openEmbedding(c *cli.Context, splits ...string) (*openedRun, error) {
	dir, err := term.RunOrStore(c)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		return openRun(c, dir, splits...)
	}
	o, err := term.RunOptions(c)
	if err != nil {
		return nil, err
	}
	o.Host = extractionHost(c)
	r, err := folder.OpenStore(o)
	return &openedRun{r}, err
}
