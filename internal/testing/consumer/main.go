// Consumer, a program in another module, trains on photographs, writes suspects.csv and searches with the trained head.
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
	"winnow/features"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/search"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: consumer PHOTOS NETWORK OUT")
	}
	ctx, photos, out := context.Background(), os.Args[1], os.Args[3]
	cfg := config.Default()
	cfg.Data.Manifest, cfg.Data.Model, cfg.Length = photos, os.Args[2], config.LastsSteps(50)
	must(run.Train(ctx, cfg, run.Input{}, run.Options{Dir: out}))
	labels := must(datasets.ReadFile(photos, datasets.ReadOptions{}))
	data := must(run.Load(ctx, labels, filepath.Join(out, folder.OwnFeatures), false))
	found := must(audit.Run(ctx, data.Train, audit.Options{Whiten: true}))
	list := found.Name(data.TrainPaths(), data.Classes)
	must(0, suspects.WriteFile(filepath.Join(out, "suspects.csv"), list))
	model, rows := must(run.Open(out)), [][]float32(nil)
	defer model.Close()
	for _, s := range list[:10] {
		rows = append(rows, must(model.EmbedFile(ctx, filepath.Join(photos, s.Path))))
	}
	set := must(features.FromRows(rows, make([]int, len(rows))))
	for _, hit := range must(model.Search(ctx, search.Held{Set: set}, rows[0], 3)) {
		fmt.Printf("%.3f %s\n", hit.Similarity, list[hit.Row].Path)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
