// Command finetune runs the comparison of experiments/finetune/README.md: frozen features, whitening, a trained
// head, the last stage and the whole network, on labels of which a share is wrong, with and without PRISM. It
// only calls the winnow program, as a user would, and writes what it prints: a row in results.csv for each run,
// at once, so that it can be stopped and started again; finished rows are not repeated.
//
//	go run ./experiments/finetune -winnow bin/winnow -data PREPARED -work SCRATCH -set cub
//	go run ./experiments/finetune -report
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"winnow/experiments/bench"
)

func main() {
	log.SetFlags(0)
	var b trial
	var sets string
	var report bool
	flag.StringVar(&b.Path, "winnow", "bin/winnow", "the program")
	flag.StringVar(&b.data, "data", "", "folder of experiments/prepare")
	flag.StringVar(&b.models, "models", "", "folder of the ONNX files")
	flag.StringVar(&b.work, "work", "", "folder for runs and features")
	flag.StringVar(&b.here, "here", "experiments/finetune", "folder of results.csv and the tables")
	flag.StringVar(&b.Threads, "threads", "0", "threads of the runtime; 0: all cores")
	flag.IntVar(&b.seeds, "seeds", 3, "the last seed")
	flag.IntVar(&b.first, "first", 1, "the first seed")
	flag.StringVar(&sets, "set", "", "comma-separated names of what to run: "+strings.Join(setNames(), ", "))
	flag.StringVar(&b.only, "only", "", "only rows whose key contains this")
	flag.BoolVar(&report, "report", false, "write the tables and curves from results.csv and stop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if report {
		err = writeReport(b.here)
	} else {
		err = b.runAll(ctx, strings.Split(sets, ","))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// trial holds the folders and the program.
type trial struct {
	bench.Program

	data, models, work, here, only string
	first, seeds                   int
	rows                           []row
}

func (b *trial) runAll(ctx context.Context, names []string) error {
	var err error
	if b.rows, err = readRows(filepath.Join(b.here, resultsFile)); err != nil {
		return err
	}
	for _, name := range names {
		s, ok := sets[name]
		if !ok {
			return fmt.Errorf("set %q: expected one of %s", name, strings.Join(setNames(), ", "))
		}
		for seed := b.first; seed <= b.seeds; seed++ {
			for _, n := range s.noises {
				if err := b.runNoise(ctx, name, s, n, seed); err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", name, n.name, seed, err)
				}
			}
		}
	}
	return nil
}
