package losses_test

import (
	"fmt"
	"log"

	"winnow/features"
	"winnow/losses"
)

// Eval compares unit vectors with each other. It returns the loss and writes the gradient with respect to each vector.
func ExampleNew() {
	loss, err := losses.New("multi_similarity", map[string]any{"beta": 40}, losses.Env{Dim: 2, Classes: 2})
	if err != nil {
		log.Fatal(err)
	}
	z, err := features.FromRows([][]float32{{1, 0}, {0.6, 0.8}, {0.8, 0.6}}, []int{0, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	grad := features.NewMatrix(z.Len(), z.Dim())
	fmt.Printf("loss %.4f\n", loss.Eval(&grad, z, nil))
	for i := range z.Len() {
		fmt.Printf("label %d: %7.4f\n", z.Labels[i], features.Row(grad, i))
	}
	// Output:
	// loss 0.4527
	// label 0: [ 0.0866 -0.0401]
	// label 0: [-0.0334  0.2000]
	// label 1: [ 0.5333  0.2667]
}

// The catalog contains the source, formula and settings of each loss. Find ignores case and hyphens in names.
func ExampleFind() {
	entry, err := losses.Find("Proxy-Anchor")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(entry.Title, "by", entry.Paper)
	for _, s := range entry.Settings {
		fmt.Println(s.Name, s.Default)
	}
	// Output:
	// Proxy-Anchor by Kim et al. 2020; BSPML (002)
	// alpha 32
	// margin 0.1
	// init normal
}
