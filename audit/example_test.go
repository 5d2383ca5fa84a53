package audit_test

import (
	"context"
	"fmt"
	"log"

	"winnow/audit"
	"winnow/features"
)

// The vectors form two groups in the plane; row 2 has the label of the other group.
func ExampleRun() {
	set, err := features.FromRows([][]float32{
		{1, 0.1}, {1, 0.2}, {1, 0.3}, {1, 0.4}, {1, 0.5}, {0.1, 1}, {0.2, 1}, {0.3, 1}, {0.4, 1}, {0.5, 1},
	}, []int{0, 0, 1, 0, 0, 1, 1, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	found, err := audit.Run(context.Background(), set, audit.Options{})
	if err != nil {
		log.Fatal(err)
	}
	worst := found.Suspects[0]
	fmt.Printf("row %d: label %d looks wrong, %d fits better\n", worst.Row, worst.GivenClass, worst.SuggestedClass)
	for _, n := range worst.SupportSuggested {
		fmt.Printf("  row %d supports it, cosine %.2f\n", n.Row, n.Similarity)
	}
	// Output:
	// row 2: label 1 looks wrong, 0 fits better
	//   row 3 supports it, cosine 1.00
	//   row 1 supports it, cosine 1.00
	//   row 4 supports it, cosine 0.99
}
