// Command beyond runs the measurements of experiments/beyond/README.md: the noise rate estimated from the data, label
// correction, 003's matching beside other losses, and losses that the papers leave for later. It only calls the
// winnow program, as a user would, and appends what it prints to results.csv at once, so that it can be stopped and
// started again; finished cells are not repeated.
//
//	go run ./experiments/beyond -winnow bin/winnow -data PREPARED -features STORES -work SCRATCH -run rate,correct
//	go run ./experiments/beyond -report
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"winnow/experiments/bench"
)

func main() {
	log.SetFlags(0)
	var b trial
	var names string
	var report bool
	flag.StringVar(&b.Path, "winnow", "bin/winnow", "the program")
	flag.StringVar(&b.data, "data", "", "folder of experiments/prepare")
	flag.StringVar(&b.features, "features", "", "folder of the feature stores")
	flag.StringVar(&b.work, "work", "", "folder for runs and made data")
	flag.StringVar(&b.here, "here", "experiments/beyond", "folder of results.csv and tables.md")
	flag.StringVar(&b.Threads, "threads", "1", "threads of the runtime")
	flag.IntVar(&b.seeds, "seeds", 3, "the last seed")
	flag.StringVar(&names, "run", "", "comma-separated names of what to run: "+strings.Join(slices.Sorted(maps.Keys(experiments)), ", "))
	flag.StringVar(&b.only, "only", "", "only cells whose key contains this")
	flag.BoolVar(&report, "report", false, "write tables.md from results.csv and stop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if b.rows, err = readRows(filepath.Join(b.here, resultsFile)); err == nil {
		if report {
			err = writeReport(b.here, b.rows)
		} else {
			err = b.runAll(ctx, strings.Split(names, ","))
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// trial holds the folders and the program.
type trial struct {
	bench.Program

	data, features, work, here, only string
	seeds                            int
	rows                             []row
}

func (b *trial) runAll(ctx context.Context, names []string) error {
	for _, name := range names {
		e, ok := experiments[name]
		if !ok {
			return fmt.Errorf("%q: expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(experiments)), ", "))
		}
		for seed := 1; seed <= b.seeds; seed++ {
			for _, p := range e.places {
				for _, n := range p.noises {
					if n.once && seed > 1 {
						continue
					}
					for _, v := range e.variants {
						if err := b.cell(ctx, e, cell{name, p.set, n, seed, v}); err != nil {
							return fmt.Errorf("%s, %s, %s, seed %d, %s: %w", name, p.set, n.name, seed, v.name, err)
						}
					}
				}
			}
		}
	}
	return nil
}
