// Command review plays many reviews of audits whose true labels are known, and prints how soon wrong labels are found
// and how often the intervals of the count hold the truth. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/run/rehearsal"
)

const usage = `usage: review find  [-features DIR] LIST.csv...
       review count [-reviews 1000] [-goal find] [-check 60] [-useless] [-two] LIST.csv...
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("review", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	dir := f.String("features", "", "feature store of all lists")
	reviews := f.Int("reviews", 1000, "reviews of each list")
	first := f.Uint64("first", 0, "number of the first review, to divide them among processes")
	goal := f.String("goal", string(learn.Find), "find, measure or teach")
	check := f.Int("check", 0, "begin with so many random images")
	useless := f.Bool("useless", false, "shuffle the audit's probabilities")
	two := f.Bool("two", false, "two reviewers answer every question and disagree at 5 %")
	if len(args) == 0 {
		f.Usage()
		return errors.New("review: name what to do")
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	o := rehearsal.Options{Goal: learn.Goal(*goal), Check: *check}
	if *two {
		o.Reviewers, o.Mistaken = 2, 0.02566 // 2e(1-e) = 0.05
	}
	for _, list := range f.Args() {
		var err error
		switch args[0] {
		case "find":
			err = find(ctx, stdout, list, *dir, o)
		case "count":
			err = count(ctx, stdout, list, *first, *reviews, *useless, o)
		default:
			f.Usage()
			err = fmt.Errorf("review: found %q, expected find or count", args[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find prints after how many decisions shares of the wrong labels are found.
func find(ctx context.Context, w io.Writer, list, features string, o rehearsal.Options) error {
	s, _, err := rehearsal.Open(ctx, list, features)
	if err != nil {
		return err
	}
	p, err := s.Play(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| %s | %d | %d |", filepath.Base(list), p.Images, p.Wrong)
	for _, r := range p.Reached {
		if r.Decisions != nil && r.ByList != nil {
			fmt.Fprintf(w, " %.0f %%: %d, by list %d |", 100*r.Share, *r.Decisions, *r.ByList)
		}
	}
	worst := 1.0
	for _, q := range p.Points {
		worst = min(worst, float64(q.Found)/math.Max(float64(q.FoundByList), 1))
	}
	fmt.Fprintf(w, " least share of what the list finds %.3f |\n", worst)
	return nil
}

// count prints how many of many reviews' intervals hold the truth, and their mean width, beside that of counting as
// many images. Reviews learn from the audit's scores, without vectors, so that a thousand of them take minutes.
func count(ctx context.Context, w io.Writer, file string, first uint64, reviews int, useless bool,
	o rehearsal.Options) error {
	list, err := suspects.Read(file)
	if err != nil {
		return err
	}
	if useless {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range list {
			j := i + rng.IntN(len(list)-i)
			list[i].GivenProbability, list[j].GivenProbability = list[j].GivenProbability, list[i].GivenProbability
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for i := range list {
			list[i].Rank = i + 1
		}
	}
	s, err := rehearsal.NewStage(ctx, list, blas32.General{})
	if err != nil {
		return err
	}
	type sum struct{ holds, always, width, draws float64 }
	sums := map[int]sum{}
	o.At = []int{60, 100, 200, 500}
	o.Batch, o.Decisions = 100, o.At[len(o.At)-1]
	wrong := 0.0
	for r := range reviews {
		o.Seed = (first+uint64(r))*7919 + 1
		p, err := s.Play(ctx, o)
		if err != nil {
			return err
		}
		wrong = float64(p.Wrong)
		for _, q := range p.Points {
			a := sums[q.Decisions]
			if q.Wrong.Low <= wrong && wrong <= q.Wrong.High {
				a.holds++
			}
			if left := wrong - float64(q.Found); q.Always.Low <= left && left <= q.Always.High {
				a.always++
			}
			a.width += q.Wrong.High - q.Wrong.Low
			a.draws += float64(q.Draws)
			sums[q.Decisions] = a
		}
	}
	n, m := float64(len(list)), float64(reviews)
	for _, at := range o.At {
		a := sums[at]
		low, high := 0.0, 1.0
		if k := int(a.draws / m); k > 0 {
			i := learn.Share(int(math.Round(wrong/n*float64(k))), k)
			low, high = i.Low, i.High
		}
		fmt.Fprintf(w, "| %s | %d | %.0f of %d | %.0f | %.0f | %.0f |\n", filepath.Base(file), at, a.holds, reviews,
			a.always, a.width/m, (high-low)*n)
	}
	return nil
}
