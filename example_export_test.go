package winnow_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/search"
)

// Joins a network and a head into one ONNX file that converts images to unit vectors, for any program that runs ONNX.
func Example_export() {
	described, err := architecture.Find("lenet5")
	if err != nil {
		log.Fatal(err)
	}
	network, err := models.Prepare(&models.Backbone{Data: described.Model(1).Marshal(),
		Entry: models.Entry{Name: "lenet5", Preprocessing: described.Preprocessing}}, "")
	if err != nil {
		log.Fatal(err)
	}
	drawn, err := head.New(context.Background(), head.Config{In: described.Dim, Out: 8, Bias: true, Init: head.Random},
		blas32.General{}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	joined, err := models.Join(network, drawn, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(joined.Input, "->", joined.Output, joined.Dim)

	stored := features.NewMatrix(3, described.Dim) // features of three images
	for i := range stored.Data {
		stored.Data[i] = float32(i % 7)
	}
	vectors, err := drawn.Embed(stored)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := features.WriteNPY(&file, vectors); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len(), "bytes for numpy")
	// Output:
	// "input" float32 [N,1,28,28] -> embedding 8
	// 224 bytes for numpy
}

// Stores vectors in an index and searches it for the vectors most similar to some queries.
func Example_search() {
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	set, _ := drawn(1, 5, 20, 0)
	names := make([]string, set.Len())
	for i, label := range set.Labels {
		names[i] = fmt.Sprintf("class%d/%02d.jpg", label, i)
	}
	x, err := search.Create(dir, search.Embedder{Model: "the sha256 of a network"}, set.Dim(), names)
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Append(set.X, nil); err != nil {
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
	queries := set.Rows([]int{3, 4})
	search.UnitRows(queries.X)
	// rows 3 and 4 must not find themselves
	found, err := search.Nearest(context.Background(), index, queries, 3, []int{3, 4})
	if err != nil {
		log.Fatal(err)
	}
	for i, hits := range found {
		fmt.Println("most similar to", names[3+i])
		for _, h := range hits {
			fmt.Printf("  %s %.2f\n", index.Paths[h.Row], h.Similarity)
		}
	}
	// Output:
	// most similar to class3/03.jpg
	//   class3/78.jpg 0.68
	//   class3/58.jpg 0.68
	//   class3/68.jpg 0.60
	// most similar to class4/04.jpg
	//   class4/24.jpg 0.64
	//   class4/59.jpg 0.61
	//   class4/34.jpg 0.61
}
