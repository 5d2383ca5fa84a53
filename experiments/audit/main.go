// Command audit measures how well every judge of audit/judges finds wrong labels, and audit/findings what else is odd
// about a set, where the truth is known: experiments/audit/README.md. All judges of a cell see the same vectors and
// labels in the same run. Each number is appended to results.csv at once, so that it can be stopped and started again;
// finished cells are not repeated.
//
//	go run ./experiments/audit -runtime libonnxruntime.so.1 -data PREPARED -features STORES
//	go run ./experiments/audit -report
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit/judges"
	"winnow/backbone/ort"
)

// bench holds the folders and what to measure.
type bench struct {
	data, features, here string
	sets, noises, judges []string
	seeds                int
	rows                 []row
}

func main() {
	log.SetFlags(0)
	var b bench
	var library, sets, noises, names string
	var threads int
	var report, findings bool
	flag.StringVar(&library, "runtime", os.Getenv("WINNOW_ORT_LIB"), "ONNX Runtime's library")
	flag.IntVar(&threads, "threads", 1, "threads of a matrix product")
	flag.StringVar(&b.data, "data", "", "folder of the manifests")
	flag.StringVar(&b.features, "features", "", "folder of the feature stores")
	flag.StringVar(&b.here, "here", "experiments/audit", "folder of results.csv, findings.csv and tables.md")
	flag.StringVar(&sets, "sets", strings.Join(setNames(), ","), "sets to take")
	flag.StringVar(&noises, "noises", "", "kinds of noise to take, such as symmetric (default: all of the set)")
	flag.StringVar(&names, "judges", strings.Join(judges.Names(), ","), "judges to ask")
	flag.IntVar(&b.seeds, "seeds", 3, "the last seed")
	flag.BoolVar(&findings, "findings", false, "measure the findings instead of the judges")
	flag.BoolVar(&report, "report", false, "write tables.md and stop")
	flag.Parse()
	b.sets, b.noises, b.judges = split(sets), split(noises), split(names)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch b.rows, err = readRows(filepath.Join(b.here, resultsFile)); {
	case err != nil:
	case report:
		err = b.report()
	default:
		if _, err = ort.Open(ort.Config{Library: library, Threads: threads}); err != nil {
			break
		}
		if findings {
			err = b.findings(ctx)
		} else {
			err = b.compare(ctx)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// compare asks the judges in every cell that is not finished.
func (b *bench) compare(ctx context.Context) error {
	for seed := 1; seed <= b.seeds; seed++ {
		for _, name := range b.sets {
			s, err := b.open(name)
			if err != nil {
				return err
			}
			for _, n := range s.noises {
				if len(b.noises) > 0 && !slices.Contains(b.noises, n.kind) {
					continue
				}
				if err := b.cell(ctx, s, n, seed); err != nil {
					return fmt.Errorf("%s, %v, seed %d: %w", name, n, seed, err)
				}
			}
		}
	}
	return nil
}
