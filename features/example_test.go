package features_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

func ExampleFromRows() {
	set, err := features.FromRows([][]float32{{3, 4}, {0, 2}}, []int{7, 9})
	if err != nil {
		log.Fatal(err)
	}
	if err := features.Normalize(set.X); err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Row(0), set.Labels, set.IDs)
	// Output:
	// [0.6 0.8] [7 9] [0 1]
}

// Vectors are exchanged with numpy in both directions.
func ExampleReadNPY() {
	var file bytes.Buffer
	if err := features.WriteNPY(&file,
		blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 4, 5, 6}}); err != nil {
		log.Fatal(err)
	}
	a, err := features.ReadNPY(&file, int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	x, err := a.Matrix()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Rows, x.Cols, features.Row(x, 1))
	// Output:
	// 2 3 [4 5 6]
}

// A store holds the vectors of a list of images, without labels.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "features")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := features.Create(dir, features.Plan{
		Key:   features.Key{Model: "sha256 of the network", Output: "features", Views: []string{"center"}},
		Paths: []string{"heron.jpg", "stork.jpg"}, Dim: 3, Batch: 2,
	}, true)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 4, 5, 6}},
		nil); err != nil {
		log.Fatal(err)
	}
	store, err := w.Finish(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	rows, missing := store.Lookup([]string{"stork.jpg", "wren.jpg"})
	x, err := store.Read(context.Background(), rows[:1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows, missing, x.Data)
	// Output:
	// [1 -1] [wren.jpg] [4 5 6]
}
