package config

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
	"winnow/internal/document"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Package document parses the YAML, and this file fills the structs, because the decoder of goccy/go-yaml reads 1.5 as
// 1 if an integer is expected, and 1e-3 as a word.

// parseDocument returns the root of a document; nil if it is empty.
func parseDocument(name string, text []byte) (ast.Node, error) {
	root, err := document.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("config: %s%w", name, err)
	}
	return root, nil
}

// newErrorAt returns an error at a position in a file.
func newErrorAt(name string, t *token.Token, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if t == nil || t.Position == nil {
		return fmt.Errorf("config: %s: %s", name, message)
	}
	return fmt.Errorf("config: %s:%d:%d: %s", name, t.Position.Line, t.Position.Column, message)
}

// decoder assigns a document to structs. Unknown keys and values that do not fit exactly are errors. Fields that the
// document does not mention keep their values.
type decoder struct{ name string }

// putNode assigns a node to v; path names v in errors.
func (d decoder) putNode(v reflect.Value, n ast.Node, path string) error {
	switch n.(type) {
	case *ast.NullNode:
		return nil // "key:" alone says nothing
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.MergeKeyNode, *ast.LiteralNode:
		return newErrorAt(d.name, n.GetToken(),
			"%s: anchors, aliases, tags and literal blocks are not supported: write the "+
				"value", path)
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if scalar, ok := n.(ast.ScalarNode); ok {
			if err := text.UnmarshalText([]byte(scalar.GetToken().Value)); err != nil {
				return newErrorAt(d.name, n.GetToken(), "%s: %v", path, err)
			}
			return nil
		}
		return d.newMismatch(n, path, "one value")
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.putStruct(v, n, path)
	case reflect.Slice:
		return d.putSlice(v, n, path)
	case reflect.Map:
		return d.putMap(v, n, path)
	}
	return d.putScalar(v, n, path)
}

func (d decoder) putStruct(v reflect.Value, n ast.Node, path string) error {
	pairs, ok := listMappingPairs(n)
	if !ok {
		return d.newMismatch(n, path, "keys and values")
	}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		field, ok := fieldOf(v, key)
		if !ok {
			return newErrorAt(d.name, pair.Key.GetToken(), "%s", unknownKey(joinKeyPath(path, key), v))
		}
		if err := d.putNode(field, pair.Value, joinKeyPath(path, key)); err != nil {
			return err
		}
	}
	return nil
}

func (d decoder) putSlice(v reflect.Value, n ast.Node, path string) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.newMismatch(n, path, "a list")
	}
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

// putMap fills a map of free settings, which their loss checks.
func (d decoder) putMap(v reflect.Value, n ast.Node, path string) error {
	pairs, ok := listMappingPairs(n)
	if !ok {
		return d.newMismatch(n, path, "keys and values")
	}
	out := reflect.MakeMap(v.Type())
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		value, err := d.parseFreeScalar(pair.Value, joinKeyPath(path, key))
		if err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
	}
	v.Set(out)
	return nil
}

// parseFreeScalar returns a scalar as a bool, an int, a float64 or a string, by its form.
func (d decoder) parseFreeScalar(n ast.Node, path string) (any, error) {
	scalar, ok := n.(ast.ScalarNode)
	if !ok || n.Type() == ast.NullType || n.Type() == ast.LiteralType {
		return nil, d.newMismatch(n, path, "one value")
	}
	text := scalar.GetToken().Value
	if isQuoted(n) {
		return text, nil
	}
	if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
		return b, nil
	}
	if i, err := strconv.Atoi(text); err == nil {
		return i, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f, nil
	}
	return text, nil
}

func (d decoder) putScalar(v reflect.Value, n ast.Node, path string) error {
	scalar, ok := n.(ast.ScalarNode)
	if !ok {
		return d.newMismatch(n, path, "one value")
	}
	if v.Kind() != reflect.String && isQuoted(n) {
		return d.newMismatch(n, path, "a number, true or false, without quotes")
	}
	if expected := putText(v, scalar.GetToken().Value); expected != "" {
		return d.newMismatch(n, path, expected)
	}
	return nil
}

// putText assigns a text to v, or says what v takes if the text does not fit.
func putText(v reflect.Value, text string) (expected string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return "true or false"
		}
		v.SetBool(text == "true")
	case reflect.Int:
		i, err := strconv.Atoi(text)
		if err != nil {
			return "an integer"
		}
		v.SetInt(int64(i))
	case reflect.Uint64:
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return "an integer from 0 to 2^64-1"
		}
		v.SetUint(u)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "a finite number"
		}
		v.SetFloat(f)
	default:
		panic("config: no rule for " + v.Type().String()) // a new kind of field: our bug, seen by every test
	}
	return ""
}

func (d decoder) newMismatch(n ast.Node, path, expected string) error {
	found := "keys and values"
	switch n := n.(type) {
	case *ast.SequenceNode:
		found = "a list"
	case ast.ScalarNode:
		found = fmt.Sprintf("%.80q", n.GetToken().Value)
	}
	path = cmp.Or(path, "the document")
	return newErrorAt(d.name, n.GetToken(), "%s: found %s, expected %s", path, found, expected)
}

func isQuoted(n ast.Node) bool {
	t := n.GetToken().Type
	return t == token.SingleQuoteType || t == token.DoubleQuoteType
}

// listMappingPairs lists the pairs of a node that has keys and values.
func listMappingPairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// unknownKey returns the error text of an unknown key, with the known ones.
func unknownKey(path string, v reflect.Value) string {
	var known []string
	eachField(v, func(key string, _ reflect.Value) { known = append(known, key) })
	slices.Sort(known)
	key := path[strings.LastIndex(path, ".")+1:]
	return fmt.Sprintf("unknown key %s%s: known here are %s", path, catalog.Ask(key, known), strings.Join(known, ", "))
}

func joinKeyPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
