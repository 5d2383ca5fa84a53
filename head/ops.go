package head

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"slices"

	"github.com/chewxy/hm"
	"gonum.org/v1/gonum/blas/blas32"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"winnow/features"
)

// rowOp is the common part of the operations below: n input matrices of one shape, one output of that shape.
type rowOp struct {
	name  string
	arity int
}

func (o rowOp) Arity() int { return o.arity }

func (o rowOp) Type() hm.Type {
	return hm.NewFnType(slices.Repeat([]hm.Type{hm.TypeVariable('a')}, o.arity+1)...)
}

func (o rowOp) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	first, ok := in[0].(tensor.Shape)
	if !ok || len(first) != 2 {
		return nil, fmt.Errorf("head: %s: found shape %v, expected a matrix", o.name, in[0])
	}
	return first.Clone(), nil
}

func (o rowOp) ReturnsPtr() bool      { return true }
func (o rowOp) CallsExtern() bool     { return false }
func (o rowOp) OverwritesInput() int  { return -1 }
func (o rowOp) WriteHash(h hash.Hash) { fmt.Fprintf(h, "winnow/head.%s", o.name) }
func (o rowOp) String() string        { return o.name }

func (o rowOp) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// unitOp is z = y/max(‖y‖, 1e-12) for every row. In Gorgonia's own operations it would be a square, a sum, a
// root, and a broadcast that stores the norms, and as many again for the gradient.
type unitOp struct{ rowOp }

func emitUnitRows(y *gorgonia.Node) (*gorgonia.Node, error) {
	return gorgonia.ApplyOp(unitOp{rowOp{"unit", 1}}, y)
}

func (o unitOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.UsePreallocDo(matrixLike(in[0]), in...)
}

func (o unitOp) UsePreallocDo(out gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	y, z := floatsOf(in[0]), floatsOf(out)
	cols := in[0].Shape()[1]
	for i := 0; i < len(y); i += cols {
		features.UnitRow(z[i:i+cols], y[i:i+cols])
	}
	return out, nil
}

func (o unitOp) DiffWRT(int) []bool { return []bool{true} }

func (o unitOp) SymDiff(in gorgonia.Nodes, z, dz *gorgonia.Node) (gorgonia.Nodes, error) {
	dy, err := gorgonia.ApplyOp(unitGradOp{rowOp{"unit gradient", 3}}, in[0], z, dz)
	return gorgonia.Nodes{dy}, err
}

// unitGradOp is dy = (dz - z⟨z, dz⟩)/‖y‖ for every row: only the part that turns z counts, not the part that
// lengthens it. A row with ‖y‖ ≤ 1e-12 has no direction and gets 0.
type unitGradOp struct{ rowOp }

func (o unitGradOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.UsePreallocDo(matrixLike(in[0]), in...)
}

func (o unitGradOp) UsePreallocDo(out gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	y, z, dz, dy := floatsOf(in[0]), floatsOf(in[1]), floatsOf(in[2]), floatsOf(out)
	cols := in[0].Shape()[1]
	for i := 0; i < len(y); i += cols {
		norm := math.Sqrt(features.Dot(y[i:i+cols], y[i:i+cols]))
		features.UnitRowGrad(dy[i:i+cols], z[i:i+cols], dz[i:i+cols], norm)
	}
	return out, nil
}

// errWaiting stops Gorgonia's machine at the gate; it stays at that instruction.
var errWaiting = errors.New("head: waiting for the gradient of the embeddings")

// gateOp is between the forward and the backward part of the graph. Its input are the embeddings z, its output
// is ∂L/∂z, which is computed outside Gorgonia. If that is not known yet, it copies z out and stops the
// machine; the next run continues from here.
type gateOp struct {
	rowOp
	z       blas32.General // the input, for use outside
	dz      *tensor.Dense  // the output
	open    bool           // dz is known
	reached bool           // z is known
}

// DiffWRT returns false: nothing flows back through the gate, because G is a constant.
func (o *gateOp) DiffWRT(int) []bool { return []bool{false} }

// SymDiff is never called.
func (o *gateOp) SymDiff(gorgonia.Nodes, *gorgonia.Node, *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, errors.New("head: the gate is not differentiable")
}

func (o *gateOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	if !o.open {
		copy(o.z.Data, floatsOf(in[0]))
		o.reached = true
		return nil, errWaiting
	}
	return o.dz, nil
}

// matrixLike returns a new matrix of v's shape.
func matrixLike(v gorgonia.Value) gorgonia.Value {
	return tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(v.Shape().Clone()...))
}

func floatsOf(v gorgonia.Value) []float32 { return v.Data().([]float32) }
