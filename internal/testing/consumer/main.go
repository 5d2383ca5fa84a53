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
	manifest, err := datasets.ReadFile(os.Args[1], datasets.ReadOptions{})
	check(err)
	data, err := run.Load(context.Background(), manifest, os.Args[2], false)
	check(err)
	found, err := audit.Run(context.Background(), data.Train, audit.Options{Whiten: true})
	check(err)
	check(suspects.WriteFile(filepath.Join(os.Args[3], "suspects.csv"), found.Entries(data.TrainPaths(), data.Classes)))
	cfg := config.Default()
	cfg.Filter.Rate, cfg.Length = config.Rate(found.Rate), config.LastsSteps(50)
	trained, err := run.Run(context.Background(), cfg, data, run.Options{Dir: os.Args[3]})
	check(err)
	fmt.Printf("%.0f %% of the labels look wrong; trained %d steps\n", 100*found.Rate, trained.Step)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
