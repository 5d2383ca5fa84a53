package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/cmd/winnow/term"
	"winnow/search"
)

// readSimulation returns the options of a simulation: the list of an audit, and the features of its images.
func readSimulation(c *cli.Context) (o Options, err error) {
	o.Simulate, o.JSON, o.Audit = true, c.Bool("json"), cmp.Or(c.String("audit"), c.Args().First())
	if o.Audit == "" || c.NArg() > 1 {
		return o, term.Misused("--simulate: name one list that winnow audit wrote")
	}
	o.Features = cmp.Or(c.String("features"), featuresOf(o.Audit))
	return o, nil
}

// simulateReview plays a review with a reviewer who answers from the true labels of the list.
func simulateReview(ctx context.Context, p *term.Program, o Options) error {
	list, err := suspects.Read(o.Audit)
	if err != nil {
		return err
	}
	var x blas32.General
	if o.Features != "" {
		if x, err = readListVectors(o.Features, list); err != nil {
			return err
		}
	}
	played, err := learn.Simulate(ctx, list, x)
	if err != nil {
		return fmt.Errorf("review: %s: %w", o.Audit, err)
	}
	played.Features = o.Features
	if o.JSON {
		return p.JSON(played)
	}
	_, err = fmt.Fprint(p.Out, played.Text())
	return err
}

// readListVectors returns the vectors of a list's images, zeros for those without one. Without any it is an error.
func readListVectors(dir string, list []suspects.Suspect) (x blas32.General, err error) {
	g, err := search.OpenGallery(dir)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = list[i].Path
	}
	x, absent, err := g.Rows(paths)
	if err == nil && absent == len(list) {
		err = fmt.Errorf("review: %s: has no vector of the list's %d images: name the features of the audit", dir,
			absent)
	}
	return x, err
}
