package gradient_test

import (
	"fmt"
	"log"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// The derivative of a network is another network; here y = relu(x·W).
func ExampleDifferentiate() {
	b := graph.NewBuilder("layer", gradient.Opset)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3)})
	w := b.Constant(graph.NewTensor("W", make([]float32, 6), 3, 2))
	b.Output(b.NodeTo("y", "Relu", []string{b.Node("MatMul", []string{x, w})}))

	d, err := gradient.Differentiate(b.Model(), gradient.Options{Weights: []string{"W"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("forward also hands out", d.Saved)
	for _, n := range d.Backward.Graph.Nodes {
		fmt.Println(n.Op, n.Inputs, "->", n.Outputs)
	}
	fmt.Println("gradients:", d.Grads)
	// Output:
	// forward also hands out []
	// HardSigmoid [y] -> [HardSigmoid]
	// Mul [grad_y HardSigmoid] -> [Mul]
	// Gemm [x Mul] -> [Gemm]
	// Identity [Gemm] -> [grad_W]
	// gradients: [grad_W]
}
