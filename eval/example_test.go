package eval_test

import (
	"context"
	"fmt"
	"log"

	"winnow/eval"
	"winnow/features"
)

func birds() features.Set {
	z, err := features.FromRows([][]float32{{1, 0}, {0.8, 0.6}, {0.6, 0.8}, {0, 1}}, []int{0, 0, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	return z
}

// Each vector is a query that searches the others, ranked by cosine. The vectors with its label are its positives.
func ExampleRetrieve() {
	r, err := eval.Retrieve(context.Background(), birds(), nil, eval.RetrievalOptions{K: []int{1, 2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d queries (%d have no other of their label): P@1 %.2f, R@2 %.2f, MAP@R %.2f\n", r.N, r.Lonely,
		r.PrecisionAt1, r.Recall[2], r.MAPAtR)
	// Output:
	// 3 queries (1 have no other of their label): P@1 1.00, R@2 1.00, MAP@R 0.83
}

func ExampleNearestClassMean() {
	test, err := features.FromRows([][]float32{{0.8, -0.6}, {-0.6, 0.8}, {0.6, 0.8}}, []int{0, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	a, err := eval.NearestClassMean(context.Background(), birds(), test, eval.ClassifierOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f of %d are nearest to the mean of their class\n", a.Accuracy, a.N)
	// Output:
	// 0.67 of 3 are nearest to the mean of their class
}
