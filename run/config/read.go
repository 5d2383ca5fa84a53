package config

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"winnow/internal/catalog"
	"winnow/internal/document"
	"winnow/train"
)

// Parse returns the defaults, changed first by text, the contents of the file name, and then by the settings. A setting
// is "key=value" with a dotted key ("solver.lr=1e-4", "losses.0.weight=2"). Parse does not validate the result, because
// flags may change it further.
func Parse(name string, text []byte, settings []string) (Run, error) {
	c := Default()
	root, err := parseDocument(name, text)
	if err != nil {
		return c, err
	}
	c.chooseDefaults(root, settings)
	return c, c.changeSetting(name, root, settings)
}

// changeSetting applies a document and settings.
func (c *Run) changeSetting(name string, root ast.Node, settings []string) error {
	if root != nil {
		if err := (decoder{name}).putNode(reflect.ValueOf(c).Elem(), root, ""); err != nil {
			return err
		}
	}
	for _, s := range settings {
		if err := Set(c, s); err != nil {
			return err
		}
	}
	return nil
}

// parseDocument returns the root of a document; nil if it is empty.
func parseDocument(name string, text []byte) (ast.Node, error) {
	root, err := document.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("config: %s%w", name, err)
	}
	return root, nil
}

// chooseDefaults sets the defaults that depend on other settings: on the method, the sampler, the solvers, the schedule
// and the weights to fine-tune. A solver other than the default solver has torch's default learning rate.
func (c *Run) chooseDefaults(root ast.Node, settings []string) {
	given := Default()
	given.Method, given.Sampler.Variant, given.Filter.Scorer, given.Schedule.Name = "", "", "", ""
	given.Finetune.Weights, given.Solver.Name, given.LossSolver.Name, given.BackboneSolver.Name = "", "", "", ""
	for _, s := range append([]string{""}, settings...) {
		if s == "" {
			_ = given.changeSetting("", root, nil) // the caller applies root again and returns the error
		} else {
			_ = Set(&given, s)
		}
	}
	if name := given.Method; name != "" && name != c.Method {
		c.setMethod(name)
	}
	if name := given.Sampler.Variant; name != "" && name != c.Sampler.Variant {
		c.Sampler = DefaultSampler(name)
	}
	tuned := given.Finetune.Weights != "" && given.Finetune.On()
	// a file, such as a recipe, is a complete set of settings
	doubts := root == nil && (cmp.Or(given.Filter.Scorer, c.Filter.Scorer) != NoFilter || tuned &&
		given.Filter.Scorer == "")
	c.Bank.Fill = root == nil && tuned
	if root != nil {
		c.Validation.HoldOut = 0
	}
	if !doubts {
		c.Screen = NoScreen
	}
	if tuned && root == nil && c.Method == Metric {
		c.Length, c.Finetune.Augment, c.Finetune.BatchNorm = AutoLength, AutoAugmentation, AutoNorm
		c.BackboneSolver.LR = train.LearningRate{Choose: train.Usual}
		c.Finetune.Refit = tunedRefit
		if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "losses") }) {
			c.Finetune.Loss = autoLoss
		}
	}
	if name := given.Schedule.Name; name != "" && name != c.Schedule.Name {
		c.Schedule = Schedule{}
	}
	for i, solver := range []*train.SolverConfig{&c.Solver, &c.LossSolver, &c.BackboneSolver} {
		name := []string{given.Solver.Name, given.LossSolver.Name, given.BackboneSolver.Name}[i]
		if name != "" && name != solver.Name {
			*solver = train.DefaultSolver(name)
			if i == 0 && !solver.HasBeta1() {
				c.Schedule.Beta1 = 0
			}
		}
	}
}

// Set changes one value by "key=value". The value is YAML.
func Set(c *Run, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok || key == "" {
		return fmt.Errorf("config: setting %q: expected key=value, for example solver.lr=1e-4", setting)
	}
	var text strings.Builder // a document that contains only this value
	for i, part := range strings.Split(key, ".") {
		fmt.Fprintf(&text, "%*s%s:\n", i, "", part)
	}
	document := strings.TrimSuffix(text.String(), "\n") + " " + cmp.Or(value, `""`)
	root, err := parseDocument("setting "+key, []byte(document))
	if err != nil {
		return err
	}
	return c.changeSetting(settingName, root, nil)
}

// SetText sets the value of a flag's key to the flag's text. Unlike [Set] it does not parse YAML: the text for sampler
// is a batch size, and the text for losses adds a loss. An error does not name the key.
func SetText(c *Run, key, text string) (err error) {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(key, ".") {
		v, _ = fieldOf(v, part)
	}
	switch to := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return to.UnmarshalText([]byte(text))
	case *Sampler:
		return to.SetBatch(text)
	case *[]Loss:
		l, err := parseLoss(text)
		*to = append(*to, l)
		return err
	}
	return putText(v, text)
}

// decoder assigns a document to structs. It is stricter than the decoder of goccy/go-yaml, which reads 1.5 as 1 if an
// integer is expected, and 1e-3 as a string. Unknown keys and values that do not fit exactly are errors. Fields that
// the document does not mention keep their values.
type decoder struct{ name string }

// settingName is the decoder's name for a setting. Errors then contain no line number.
const settingName = "setting"

// findLine returns the file, line and column of a node for errors.
func (d decoder) findLine(n ast.Node) string {
	if t := n.GetToken(); d.name != settingName && t != nil && t.Position != nil {
		return fmt.Sprintf("config: %s:%d:%d", d.name, t.Position.Line, t.Position.Column)
	}
	return "config: " + d.name
}

// putNode assigns a node to v. path is the name of v in errors.
func (d decoder) putNode(v reflect.Value, n ast.Node, path string) (err error) {
	pairs, mapping := listMappingPairs(n)
	list, sequence := n.(*ast.SequenceNode)
	scalar, plain := n.(ast.ScalarNode)
	text, ofText := v.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case n.Type() == ast.NullType: // "key:" without a value changes nothing
	case ofText && plain:
		err = text.UnmarshalText([]byte(scalar.GetToken().Value))
	case v.Kind() == reflect.Struct && mapping && !ofText:
		return d.putStruct(v, pairs, path)
	case v.Kind() == reflect.Slice && sequence:
		return d.putSlice(v, list, path)
	case v.Kind() == reflect.Slice && mapping: // settings of single elements, by index
		for _, pair := range pairs {
			key := pair.Key.GetToken().Value
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= v.Len() {
				return fmt.Errorf("%s: %s has %d entries: found index %q, expected a lower number", d.findLine(n), path,
					v.Len(), key)
			}
			if err := d.putNode(v.Index(i), pair.Value, joinKeyPath(path, key)); err != nil {
				return err
			}
		}
	case v.Kind() == reflect.Map && mapping:
		return d.putMap(v, pairs, path)
	case plain && v.CanSet() && !slices.Contains([]reflect.Kind{reflect.Struct, reflect.Slice, reflect.Map}, v.Kind()):
		err = putText(v, scalar.GetToken().Value)
	default:
		found := "keys and values, or a list"
		if plain {
			found = strconv.Quote(scalar.GetToken().Value)
		}
		err = fmt.Errorf("found %.80s, expected %s", found, describeKind(v.Kind()))
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", d.findLine(n), cmp.Or(path, "the document"), err)
	}
	return nil
}

func (d decoder) putStruct(v reflect.Value, pairs []*ast.MappingValueNode, path string) error {
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		field, ok := fieldOf(v, key)
		if !ok {
			var known []string
			eachField(v, func(key string, _ reflect.Value) { known = append(known, key) })
			slices.Sort(known)
			return fmt.Errorf("%s: unknown key %s%s: known keys are %s", d.findLine(pair.Key), joinKeyPath(path, key),
				catalog.Ask(key, known), strings.Join(known, ", "))
		}
		if err := d.putNode(field, pair.Value, joinKeyPath(path, key)); err != nil {
			return err
		}
	}
	return nil
}

func (d decoder) putSlice(v reflect.Value, list *ast.SequenceNode, path string) error {
	out := reflect.Zero(v.Type()) // nil for an empty list, so that writing and reading gives the same
	if len(list.Values) > 0 {
		out = reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values))
	}
	for i, item := range list.Values {
		element := out.Index(i)
		if start, ok := element.Addr().Interface().(interface{ setDefaults() }); ok {
			start.setDefaults()
		}
		if err := d.putNode(element, item, fmt.Sprintf("%s.%d", path, i)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// putMap adds settings of a loss, which the loss checks later, to a copy of a map. The map may belong to a default.
func (d decoder) putMap(v reflect.Value, pairs []*ast.MappingValueNode, path string) error {
	out := maps.Clone(v.Interface().(map[string]any))
	if out == nil {
		out = map[string]any{}
	}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		scalar, ok := pair.Value.(ast.ScalarNode)
		if !ok || scalar.Type() == ast.NullType {
			return fmt.Errorf("%s: %s: expected one value", d.findLine(pair.Value), joinKeyPath(path, key))
		}
		out[key] = parseFreeScalar(scalar.GetToken())
	}
	v.Set(reflect.ValueOf(out))
	return nil
}

// parseFreeScalar returns a scalar as a bool, an int, a float64 or a string, by its form.
func parseFreeScalar(t *token.Token) any {
	if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
		return t.Value
	}
	if t.Value == "true" || t.Value == "false" {
		return t.Value == "true"
	}
	if i, err := strconv.Atoi(t.Value); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(t.Value, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	return t.Value
}

// putText parses a text into v.
func putText(v reflect.Value, text string) (err error) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		var b bool
		if b, err = strconv.ParseBool(text); err == nil {
			v.SetBool(b)
		}
	case reflect.Int:
		var i int
		if i, err = strconv.Atoi(text); err == nil {
			v.SetInt(int64(i))
		}
	case reflect.Uint64:
		var u uint64
		if u, err = strconv.ParseUint(text, 10, 64); err == nil {
			v.SetUint(u)
		}
	case reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(text, 64); f-f != 0 {
			err = strconv.ErrRange
		}
		if err == nil {
			v.SetFloat(f)
		}
	default:
		panic("config: no rule for " + v.Type().String()) // a bug: a field of a kind that is not handled
	}
	if err != nil {
		return fmt.Errorf("found %q, expected %s", text, describeKind(v.Kind()))
	}
	return nil
}

// describeKind describes the values of a field of this kind.
func describeKind(k reflect.Kind) string {
	switch k {
	case reflect.Struct, reflect.Map:
		return "keys and values"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Uint64:
		return "an integer"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a finite number"
	}
	return "one value"
}

// listMappingPairs returns the pairs of a node with keys and values; ok is false for other nodes.
func listMappingPairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func joinKeyPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
