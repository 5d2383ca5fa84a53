package config

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"winnow/internal/regular"
	"winnow/train"
)

// mostText is the largest configuration in bytes.
const mostText = 1 << 20

// Load reads a configuration: defaults, changed by the file (path "" is none), changed by the settings, each
// "key=value" with a dotted key ("solver.lr=1e-4", "losses.0.weight=2"). It does not validate, because flags may
// follow.
func Load(path string, settings []string) (Run, error) {
	var text []byte
	if path != "" {
		var err error
		if text, err = regular.ReadFile(path, mostText); err != nil {
			return Run{}, fmt.Errorf("config: %w", err)
		}
	}
	return Parse(path, text, settings)
}

// Parse is Load for a text; name is the file's name in errors.
func Parse(name string, text []byte, settings []string) (Run, error) {
	c := Default()
	root, err := parseDocument(name, text)
	if err != nil {
		return c, err
	}
	c.chooseDefaults(root, settings)
	if root != nil {
		if err := (decoder{name}).putNode(reflect.ValueOf(&c).Elem(), root, ""); err != nil {
			return c, err
		}
	}
	for _, s := range settings {
		if err := Set(&c, s); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Dependent are the settings whose defaults depend on others, on the filter or on whether the network is trained.
var Dependent = []string{"screen", "bank.fill", "length", "finetune.augment", "finetune.batch_norm",
	"backbone_solver.lr", "validation.hold_out", "finetune.refit", "finetune.loss"}

// chooseDefaults looks ahead for settings on which defaults depend: the method, the sampler, the solvers, the schedule,
// the weights to fine-tune. For another solver than the default's, the default learning rate is torch's.
func (c *Run) chooseDefaults(root ast.Node, settings []string) {
	named := func(keys ...string) string {
		name := lookUp(root, keys...)
		for _, s := range settings {
			if value, ok := strings.CutPrefix(s, strings.Join(keys, ".")+"="); ok {
				name = strings.Trim(value, `"'`)
			}
		}
		return name
	}
	if name := named("method"); name != "" && name != c.Method {
		c.setMethod(name)
	}
	if name := named("sampler", "variant"); name != "" && name != c.Sampler.Variant {
		c.Sampler = DefaultSampler(name)
	}
	weights, scorer := named("finetune", "weights"), named("filter", "scorer")
	tuned := weights != "" && weights != NoWeights
	// a file, for example a recipe, is a complete set of settings
	doubts := root == nil && (cmp.Or(scorer, c.Filter.Scorer) != NoFilter || tuned && scorer == "")
	c.Bank.Fill = root == nil && tuned
	if !doubts {
		c.Screen = NoScreen
	}
	if tuned && root == nil && c.Method == Metric {
		c.Length, c.Finetune.Augment, c.Finetune.BatchNorm = AutoLength, AutoAugmentation, AutoNorm
		c.BackboneSolver.LR = train.LearningRate{Choose: train.Usual}
		c.Validation.HoldOut, c.Finetune.Refit = UsualHoldOut, tunedRefit
		if !slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, "losses") }) {
			c.Finetune.Loss = autoLoss
		}
	}
	if name := named("schedule", "name"); name != "" && name != c.Schedule.Name {
		c.Schedule = Schedule{}
	}
	for key, solver := range map[string]*train.SolverConfig{
		"solver": &c.Solver, "loss_solver": &c.LossSolver, "backbone_solver": &c.BackboneSolver,
	} {
		if name := named(key, "name"); name != "" && name != solver.Name {
			*solver = train.DefaultSolver(name)
			if key == "solver" && !solver.HasBeta1() {
				c.Schedule.Beta1 = 0
			}
		}
	}
}

// lookUp finds a value by its keys, or returns "".
func lookUp(n ast.Node, keys ...string) string {
	for _, key := range keys {
		pairs, _ := listMappingPairs(n)
		n = nil
		for _, pair := range pairs {
			if pair.Key.GetToken().Value == key {
				n = pair.Value
			}
		}
	}
	if scalar, ok := n.(ast.ScalarNode); ok && n.Type() == ast.StringType {
		return scalar.GetToken().Value
	}
	return ""
}

// Set changes one value by "key=value".
func Set(c *Run, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok || key == "" {
		return fmt.Errorf("config: setting %q: expected key=value, for example solver.lr=1e-4", setting)
	}
	name := "setting " + key
	v, free, err := findKey(c, key)
	switch {
	case err != nil:
		return err
	case free != "":
		return setFree(v, name, free, value)
	}
	root, err := parseDocument(name, []byte(value))
	if err != nil || root == nil {
		if v.Kind() == reflect.String && err == nil {
			v.SetString("")
			return nil
		}
		return fmt.Errorf("config: %s: %q is no value", name, value)
	}
	return decoder{name}.putNode(v, root, key)
}

// SetText sets the value of a key to a text as a flag gives it, which [Set] would read as YAML: widths have commas
// between them, a sampler is a batch, and a loss is added to the others. An error does not name the key.
func SetText(c *Run, key, text string) error {
	v, _, err := findKey(c, key)
	if err != nil {
		return err
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
	if expected := putText(v, text); expected != "" {
		return fmt.Errorf("found %q, expected %s", text, expected)
	}
	return nil
}

// IsWhole reports whether a setting takes integers only; the error says that there is no such setting.
func (c Run) IsWhole(key string) (bool, error) {
	v, _, err := findKey(&c, key)
	return err == nil && v.CanInt(), err
}

// findKey finds the value of a key; for a setting of a loss, the map of settings and the setting's name in it.
func findKey(c *Run, key string) (v reflect.Value, free string, err error) {
	name := "setting " + key
	v = reflect.ValueOf(c).Elem()
	parts := strings.Split(key, ".")
	for i, part := range parts {
		at := strings.Join(parts[:i], ".")
		switch {
		case v.Kind() == reflect.Struct:
			field, ok := fieldOf(v, part)
			if !ok {
				return v, "", fmt.Errorf("config: %s: %s", name, unknownKey(joinKeyPath(at, part), v))
			}
			v = field
		case v.Kind() == reflect.Slice:
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || n >= v.Len() {
				return v, "", fmt.Errorf("config: %s: %s has %d entries: found %q, expected a number below that", name,
					at, v.Len(), part)
			}
			v = v.Index(n)
		case v.Kind() == reflect.Map && i == len(parts)-1:
			return v, part, nil
		default:
			return v, "", fmt.Errorf("config: %s: %s is one value and has no key %q", name, at, part)
		}
	}
	return v, "", nil
}

// setFree sets a setting of a loss.
func setFree(m reflect.Value, name, key, value string) error {
	root, err := parseDocument(name, []byte(value))
	if err != nil || root == nil {
		return fmt.Errorf("config: %s: %q is no value", name, value)
	}
	parsed, err := decoder{name}.parseFreeScalar(root, key)
	if err != nil {
		return err
	}
	out := reflect.MakeMap(m.Type()) // the map may be shared with a default
	for _, k := range m.MapKeys() {
		out.SetMapIndex(k, m.MapIndex(k))
	}
	out.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(parsed))
	m.Set(out)
	return nil
}
