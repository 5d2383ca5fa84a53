package search_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/search"
)

// An index is a folder of vectors and names to which images can be added.
func ExampleNearest() {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	made := search.Embedder{Model: "sha256 of the network", Output: "features"}
	x, err := search.Create(dir, made, 2, []string{"heron.jpg", "stork.jpg", "wren.jpg"})
	if err != nil {
		log.Fatal(err)
	}
	vectors := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{3, 1, 2, 1, -1, 5}}
	if err := x.Append(vectors, nil); err != nil {
		log.Fatal(err)
	}
	if err := x.Flush(); err != nil {
		log.Fatal(err)
	}
	x.Close()

	index, err := search.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	query, err := features.FromRows([][]float32{{1, 0}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	hits, err := search.Nearest(context.Background(), index, query, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits[0] {
		fmt.Printf("%s %.3f\n", index.Paths[h.Row], h.Similarity)
	}
	// Output:
	// heron.jpg 0.949
	// stork.jpg 0.894
}
