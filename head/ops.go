package head

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gonum.org/v1/gonum/blas/blas32"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// errWaiting stops Gorgonia's machine at the gate. The machine continues from this instruction in the next run.
var errWaiting = errors.New("head: waiting for the gradient of the embeddings")

// gateOp is the operation between the forward and the backward part of the graph. Its input is y, and its output is
// ∂L/∂y, of the same shape, which the loss computes outside Gorgonia. While ∂L/∂y is missing, the gate copies y out
// and stops the machine; the next run continues from the gate.
type gateOp struct {
	y       blas32.General // a copy of the input for the loss
	dy      *tensor.Dense  // the output
	open    bool           // dy has been computed
	reached bool           // y has been computed
}

func (o *gateOp) Arity() int { return 1 }

func (o *gateOp) Type() hm.Type { return hm.NewFnType(hm.TypeVariable('a'), hm.TypeVariable('a')) }

func (o *gateOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return o.dy.Shape().Clone(), nil
}

func (o *gateOp) ReturnsPtr() bool      { return true }
func (o *gateOp) CallsExtern() bool     { return false }
func (o *gateOp) OverwritesInput() int  { return -1 }
func (o *gateOp) WriteHash(h hash.Hash) { fmt.Fprint(h, "winnow/head.gate") }
func (o *gateOp) String() string        { return "gate" }

func (o *gateOp) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// DiffWRT returns false: the gate passes no gradient back, because G is a constant.
func (o *gateOp) DiffWRT(int) []bool { return []bool{false} }

// SymDiff is never called.
func (o *gateOp) SymDiff(gorgonia.Nodes, *gorgonia.Node, *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, errors.New("head: the gate is not differentiable")
}

func (o *gateOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	if !o.open {
		copy(o.y.Data, floatsOf(in[0]))
		o.reached = true
		return nil, errWaiting
	}
	return o.dy, nil
}

func floatsOf(v gorgonia.Value) []float32 { return v.Data().([]float32) }
