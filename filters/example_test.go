package filters_test

import (
	"fmt"
	"log"
	"math"

	"winnow/features"
	"winnow/filters"
)

// A filter scores each batch by the memory of earlier batches, and keeps the labels that look right.
func ExampleNew() {
	cfg := filters.Default()
	cfg.Scorer, cfg.Rate, cfg.Window = "avgsim", 0.25, 1
	filter, err := filters.New(cfg, filters.Env{Dim: 2, Classes: 2})
	if err != nil {
		log.Fatal(err)
	}
	bank := features.NewBank(100, 2, 2)
	batches := [][]int{{0, 0, 1, 1}, {0, 1, 1, 1}} // in the second batch, the label of row 1 is wrong
	for _, labels := range batches {
		rows := make([][]float32, len(labels))
		for i := range rows {
			angle := []float64{0.1, 0.2, 1.4, 1.5}[i]
			rows[i] = []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
		}
		z, err := features.FromRows(rows, labels)
		if err != nil {
			log.Fatal(err)
		}
		kept, scores := filter.Keep(z, bank)
		fmt.Printf("kept %v, scores %.2f\n", kept, scores)
		bank.Push(z.Rows(kept))
	}
	// Output:
	// kept [0 1 2 3], scores [1.00 1.00 1.00 1.00]
	// kept [0 2 3], scores [0.69 0.34 0.66 0.69]
}
