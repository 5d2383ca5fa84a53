package eval

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/run/measure"
)

func readEval(c *cli.Context) (o Options, err error) {
	retrieval, err := term.RetrievalOptions(c)
	if err != nil {
		return o, err
	}
	o.JSON, o.Out = c.Bool("json"), c.String("out")
	o.Eval = measure.Options{Split: c.String("split"), Fit: c.String("fit"), Seed: c.Uint64("seed"),
		MaxMem: int64(retrieval.MaxMem)}
	if n := c.Int("queries"); n < 0 {
		return o, term.Misused("--queries: found %d, expected a number of images, or 0 for all", n)
	}
	lonely := fmt.Sprint(c.Bool("count-lonely"))
	flags := map[string]string{"k": c.String("k"), "queries": strconv.Itoa(c.Int("queries")), "count_lonely": lonely,
		"count_unseen": lonely}
	if o.Eval.Metrics, o.Eval.Skip, err = chooseMetrics(c.String("metrics"), flags, c.StringSlice("set"),
		c.IsSet); err != nil {
		return o, err
	}
	if o.Dir, err = term.RunArgument(c); err != nil {
		return o, err
	}
	if o.Run, err = training.RunOptions(c, o.Eval.Splits()...); err != nil {
		return o, err
	}
	return o, term.KeepInput(c)
}
