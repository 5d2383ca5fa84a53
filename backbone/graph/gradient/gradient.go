// Package gradient differentiates an ONNX model. The derivative of a network is another graph of ordinary ONNX
// operators, so the same runtime runs both. The package only transforms graphs; it runs no model.
//
// [Differentiate] turns one model into two. The forward model computes the same output as the original, but takes the
// trainable weights as inputs, and also outputs the intermediate tensors that the derivative reads. The backward model
// takes these tensors, the weights and the gradient of the output, and returns the gradients of the weights. It
// applies reverse-mode differentiation to the part of the graph that depends on the weights, and sums the gradients of
// a tensor that is used more than once.
//
// Conventions: the gradient of a tensor has the tensor's shape and element type. Spatial sizes must be known to shape
// inference; the batch size may be free. Backward models use operator set [Opset], whatever the forward model uses,
// and com.microsoft's FusedMatMul where a transposition would copy. The package imports only graph.
//
// Source: reverse accumulation, Griewank & Walther, Evaluating Derivatives, 2nd ed. 2008, chapter 3.
package gradient

import (
	"fmt"

	"winnow/backbone/graph"
)

// Opset is the operator set version of backward models.
const Opset = 17

// Options select the tensors to differentiate and the operators to use.
type Options struct {
	Output    string   // the tensor to differentiate; "": the model's only output
	Weights   []string // initializers to differentiate with respect to
	Inputs    []string // inputs of the model to differentiate with respect to
	BatchNorm BatchNorm
	Kernels   Kernels // operators of [domain] that the runtime has; they are used where they are faster

	TF32 bool // products on CUDA may be rounded to TF32
}

// Kernels identifies the set of winnow's own operators that a runtime has.
type Kernels int

// The sets of operators.
const (
	NoKernels Kernels = iota // only ONNX's operators
	ForCPU
	ForCUDA
)

// BatchNorm selects how BatchNormalization nodes use and update their statistics.
type BatchNorm struct {
	Train    bool    // normalise by the batch, and update the running statistics
	Momentum float64 // share of the old running statistics that is kept; 0: the node's value (ONNX's default: 0.9)
}

// Derivative is a model and its derivative.
type Derivative struct {
	Forward  *graph.Model // data inputs, Weights, State → Output, Next of State, Saved
	Backward *graph.Model // data inputs and Weights that it reads, Saved, GradOutput → Grads

	Output     string
	GradOutput string   // input of Backward: ∂L/∂Output
	Weights    []string // as requested
	Inputs     []string // as requested
	Grads      []string // outputs of Backward: gradients of Weights, then of Inputs
	Saved      []string // outputs of Forward that Backward reads
	State      []State  // running statistics, with BatchNorm.Train
}

// State is a running statistic, which Forward updates without differentiating it.
type State struct {
	Name string // name of the initializer, which is an input of Forward
	Next string // output of Forward that holds the new value
}

// Differentiate returns the derivative of a model. If an operator between a weight and the output has no rule, the
// error names the operator and its node.
func Differentiate(m *graph.Model, o Options) (*Derivative, error) {
	if o.Output == "" {
		if len(m.Graph.Outputs) != 1 {
			return nil, fmt.Errorf("gradient: found %d outputs, expected the name of one", len(m.Graph.Outputs))
		}
		o.Output = m.Graph.Outputs[0].Name
	}
	if len(o.Weights)+len(o.Inputs) == 0 {
		return nil, fmt.Errorf("gradient: nothing to differentiate with respect to: expected a weight or an input")
	}
	m, err := graph.Cut(m, o.Output)
	if err != nil {
		return nil, err
	}
	m, _ = graph.ForInference(m)
	if left := graph.Unsettled(m, o.Output); len(left) > 0 && !o.BatchNorm.Train {
		return nil, fmt.Errorf("gradient: expected a network exported for inference, found training_mode in %s",
			graph.Describe(left))
	}
	f, err := prepareForward(m, o)
	if err != nil {
		return nil, err
	}
	r, err := newReverse(f, o)
	if err != nil {
		return nil, err
	}
	if err := r.runRules(); err != nil {
		return nil, err
	}
	return r.finishModels()
}
