// Consumer, a program in another module, reads labels and features, writes suspects.csv and trains head.winnow.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/run"
	"winnow/run/config"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: consumer MANIFEST FEATURES OUT")
	}
	ctx, out := context.Background(), os.Args[3]
	manifest := must(datasets.ReadFile(os.Args[1], datasets.ReadOptions{}))
	data := must(run.Load(ctx, manifest, os.Args[2], false))
	found := must(audit.Run(ctx, data.Train, audit.Options{Whiten: true}))
	must(0, suspects.WriteFile(filepath.Join(out, "suspects.csv"), found.Entries(data.TrainPaths(), data.Classes)))
	cfg := config.Default()
	cfg.Filter.Rate, cfg.Length = config.Rate(found.Rate), config.LastsSteps(50)
	trained := must(run.Run(ctx, cfg, data, run.Options{Dir: out}))
	fmt.Printf("%.0f %% of the labels look wrong; trained %d steps\n", 100*found.Rate, trained.Step)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
