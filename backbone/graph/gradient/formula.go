package gradient

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// deriveRule returns the rule of a node whose inputs are broadcast. It has one formula for the gradient of each input
// (see [call.addFormula]). A node with one input does not broadcast. Otherwise the gradient is summed over the repeated
// axes: where the formula calls the function own, or else at its end.
func deriveRule(formulas ...string) rule {
	return func(c *call) error {
		if len(formulas) == 1 {
			c.giveGrad(0, c.addFormula(formulas[0], nil))
			return nil
		}
		for i, text := range formulas {
			if !c.wantsGrad(i) {
				continue
			}
			var failed error
			own := func(t string) string {
				g, err := c.undoBroadcast(t, c.inputName(i), c.Outputs[0])
				failed = err
				return g
			}
			grad := c.addFormula(text, map[string]any{"own": own})
			if !strings.Contains(text, "own(") {
				grad = own(grad)
			}
			if failed != nil {
				return failed
			}
			c.giveGrad(i, grad)
		}
		return nil
	}
}

// addFormula adds the operators of a formula to the backward model and returns the result. The formula is a Go
// expression of tensors and numbers, which may follow definitions "name := expression;". The predefined names are
//
//	x, a     the first input; b is the second input
//	y, dy    the first output and its gradient
//	s        a tensor with the sign of the input: if alpha and gamma are not negative, the output (it is kept anyway)
//
//	own      sums a gradient over the axes along which its input was repeated
//
// The formula may also use the given names (tensors, or functions of a tensor) and the node's numeric attributes (see
// attributes). Any other function is an ONNX operator.
func (c *call) addFormula(text string, names map[string]any) string {
	w := writing{
		call: c,
		names: map[string]any{"x": c.inputName(0), "a": c.inputName(0), "b": c.inputName(1), "y": c.Outputs[0],
			"dy": c.grad[0],
			"s":  c.Outputs[0]},
	}
	for name, otherwise := range attributes[c.Op] {
		v := float64(c.Float(name, otherwise))
		if w.names[name] = v; v < 0 && (name == "alpha" || name == "gamma") {
			w.names["s"] = c.inputName(0)
		}
	}
	for name, v := range names {
		w.names[name] = v
	}
	parts := strings.Split(text, ";")
	for _, part := range parts[:len(parts)-1] {
		name, expression, _ := strings.Cut(part, ":=")
		w.names[strings.TrimSpace(name)] = w.parseFormula(expression)
	}
	return w.asTensor(w.parseFormula(parts[len(parts)-1]))
}

// writing is the state of translating one formula. Values are names of tensors, or numbers.
type writing struct {
	*call
	names map[string]any
}

func (w writing) parseFormula(text string) any {
	e, err := parser.ParseExpr(strings.TrimSpace(text))
	if err != nil {
		panic(fmt.Sprintf("gradient: formula %q: %v", text, err)) // formulas are constants of this package
	}
	return w.writeValue(e)
}

// operators maps Go's operators to ONNX's names.
var operators = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div",
	token.GTR: "Greater", token.LSS: "Less", token.LAND: "And"}

func (w writing) writeValue(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.writeValue(e.X)
	case *ast.BasicLit:
		v, _ := strconv.ParseFloat(e.Value, 64)
		return v
	case *ast.Ident:
		if v, ok := w.names[e.Name]; ok {
			return v
		}
	case *ast.UnaryExpr:
		if v, ok := w.writeValue(e.X).(float64); ok {
			return -v
		}
		return w.minusOf(w.asTensor(w.writeValue(e.X)))
	case *ast.BinaryExpr:
		left, right := w.writeValue(e.X), w.writeValue(e.Y)
		p, isNumber := left.(float64)
		q, alsoNumber := right.(float64)
		switch {
		case isNumber && alsoNumber:
			return map[token.Token]float64{token.ADD: p + q, token.SUB: p - q, token.MUL: p * q, token.QUO: p / q}[e.Op]
		case isNumber && p == 1 && e.Op == token.MUL:
			return right
		case alsoNumber && q == 1 && (e.Op == token.MUL || e.Op == token.QUO):
			return left
		}
		return w.addOp(operators[e.Op], []string{w.asTensor(left), w.asTensor(right)})
	case *ast.CallExpr:
		name := e.Fun.(*ast.Ident).Name
		var inputs []string
		for _, arg := range e.Args {
			inputs = append(inputs, w.asTensor(w.writeValue(arg)))
		}
		if f, ok := w.names[name].(func(string) string); ok {
			return f(inputs[0])
		}
		return w.addOp(name, inputs)
	}
	panic(fmt.Sprintf("gradient: formula of %s: unsupported expression %T %v", w.Op, e, e))
}

// asTensor returns a value as a tensor; a number becomes a constant.
func (w writing) asTensor(v any) string {
	if number, ok := v.(float64); ok {
		return w.constScalar(w.Outputs[0], number)
	}
	return v.(string)
}

// attributes lists the numeric attributes that formulas may use, with their defaults.
var attributes = map[string]map[string]float32{
	"LeakyRelu": {"alpha": 0.01}, "Elu": {"alpha": 1}, "Swish": {"alpha": 1},
	"Selu":        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
	"HardSigmoid": {"alpha": 0.2}, "InstanceNormalization": {"epsilon": 1e-5},
}
