package architecture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"winnow/internal/catalog"
	"winnow/internal/document"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// part is a place in a description: a YAML node and the dotted path to it.
type part struct {
	file, path string
	node       ast.Node
}

// parseDescription returns the document of a description.
func parseDescription(file string, text []byte) (part, error) {
	root := part{file: file}
	var err error
	if root.node, err = document.Parse(text); err != nil {
		return root, fmt.Errorf("architecture: %s%w", file, err)
	}
	if root.node == nil {
		return root, fmt.Errorf("architecture: %s: is empty, expected a description with name, input and layers", file)
	}
	return root, nil
}

func failAt(file string, t *token.Token, message string) error {
	if t == nil || t.Position == nil {
		return fmt.Errorf("architecture: %s: %s", file, message)
	}
	return fmt.Errorf("architecture: %s:%d:%d: %s", file, t.Position.Line, t.Position.Column, message)
}

// errorHere returns an error at this place.
func (p part) errorHere(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if p.path != "" {
		message = p.path + ": " + message
	}
	return failAt(p.file, firstToken(p.node), message)
}

// firstToken returns the first token of a node; GetToken of a mapping would return a colon.
func firstToken(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		return firstToken(n.Key)
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return firstToken(n.Values[0])
		}
	}
	return n.GetToken()
}

// kindMismatch returns an error about the kind of node at this place.
func (p part) kindMismatch(expected string) error {
	found := "keys and values"
	switch n := p.node.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode: // before the scalars, which these are too
		found = "an anchor, alias or tag"
	case *ast.SequenceNode:
		found = "a list"
	case *ast.NullNode:
		found = "nothing"
	case ast.ScalarNode:
		found = fmt.Sprintf("%.80q", n.GetToken().Value)
	}
	return p.errorHere("found %s, expected %s", found, expected)
}

func (p part) partBelow(key string, n ast.Node) part {
	if p.path != "" {
		key = p.path + "." + key
	}
	return part{p.file, key, n}
}

// mappingEntries lists the entries of a mapping; a missing value is an empty mapping.
func (p part) mappingEntries() ([]*ast.MappingValueNode, error) {
	switch n := p.node.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	case *ast.NullNode:
		return nil, nil
	}
	return nil, p.kindMismatch("keys and values")
}

// section is a mapping with known keys. err is its first read error; values read after that are meaningless.
type section struct {
	part
	of  map[string]part
	err error
}

func (s *section) failSection(err error) {
	if s.err == nil {
		s.err = err
	}
}

// readKeys reads a mapping that may have only the known keys.
func (p part) readKeys(known ...string) *section {
	s := &section{part: p, of: map[string]part{}}
	pairs, err := p.mappingEntries()
	s.failSection(err)
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		if !slices.Contains(known, key) {
			slices.Sort(known)
			s.failSection(failAt(p.file, pair.Key.GetToken(), fmt.Sprintf("unknown key %s%s: known here are %s",
				p.partBelow(key, nil).path, catalog.Ask(key, known), strings.Join(known, ", "))))
		}
		if pair.Value.Type() != ast.NullType { // "key:" without a value counts as absent
			s.of[key] = p.partBelow(key, pair.Value)
		}
	}
	return s
}

// readSection reads the mapping under a key, which must exist.
func (s *section) readSection(key string, known ...string) *section {
	p, ok := s.of[key]
	if !ok {
		s.failSection(s.errorHere("%s is missing", key))
		return &section{part: s.part}
	}
	return p.readKeys(known...)
}

// scalarText returns the text of a single value and whether it is quoted. ok is false for any other kind of node.
func (p part) scalarText() (text string, quoted, ok bool) {
	n, ok := p.node.(ast.ScalarNode)
	if t := p.node.Type(); !ok || t == ast.NullType || t == ast.AnchorType || t == ast.AliasType ||
		t == ast.TagType || t == ast.LiteralType {
		return "", false, false
	}
	t := n.GetToken()
	return t.Value, t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType, true
}

// maxWord bounds a name, because every layer inside a stage is prefixed with it.
const maxWord = 100

// readWord returns a required name.
func (s *section) readWord(key string) string {
	p, ok := s.of[key]
	if !ok {
		s.failSection(s.errorHere("%s is missing", key))
		return ""
	}
	text, _, _ := p.scalarText()
	other := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	}
	if text == "" || len(text) > maxWord || strings.ContainsFunc(text, other) {
		s.failSection(p.kindMismatch(fmt.Sprintf("a word of at most %d letters, digits, - and _", maxWord)))
	}
	return text
}

// readTextLine returns one line of text.
func (s *section) readTextLine(key, otherwise string) string {
	p, ok := s.of[key]
	if !ok {
		return otherwise
	}
	text, _, _ := p.scalarText()
	if text == "" {
		s.failSection(p.kindMismatch("a text"))
	}
	return text
}

// readInteger returns an integer between the bounds. A default below the lower bound makes the key required.
func (s *section) readInteger(key string, otherwise, least, most int) int {
	p, ok := s.of[key]
	if !ok {
		if otherwise < least {
			s.failSection(s.errorHere("%s is missing: expected an integer from %d to %d", key, least, most))
		}
		return otherwise
	}
	text, quoted, _ := p.scalarText()
	v, err := strconv.Atoi(text)
	if err != nil || quoted || v < least || v > most {
		s.failSection(p.kindMismatch(fmt.Sprintf("an integer from %d to %d", least, most)))
	}
	return v
}

// readBool returns true or false.
func (s *section) readBool(key string, otherwise bool) bool {
	p, ok := s.of[key]
	if !ok {
		return otherwise
	}
	text, quoted, _ := p.scalarText()
	if quoted || text != "true" && text != "false" {
		s.failSection(p.kindMismatch("true or false"))
	}
	return text == "true"
}

// readFraction returns a finite number, which may be written as a fraction (1/255).
func (s *section) readFraction(key string, otherwise float64) float64 {
	if p, ok := s.of[key]; ok {
		return s.numberAt(p)
	}
	return otherwise
}

// numberAt returns the number at a place.
func (s *section) numberAt(p part) float64 {
	text, quoted, _ := p.scalarText()
	above, below, fraction := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(above), 64)
	if fraction && err == nil {
		var d float64
		d, err = strconv.ParseFloat(strings.TrimSpace(below), 64)
		v /= d
	}
	if err != nil || quoted || math.IsNaN(v) || math.IsInf(v, 0) {
		s.failSection(p.kindMismatch("a number, or a fraction as 1/255"))
	}
	return v
}

// readThree returns three numbers, or one for all channels.
func (s *section) readThree(key string, otherwise float64) (v [3]float32) {
	p := s.of[key]
	list, several := p.node.(*ast.SequenceNode)
	if !several {
		x := float32(s.readFraction(key, otherwise))
		return [3]float32{x, x, x}
	}
	n := len(list.Values)
	if n != 1 && n != 3 {
		s.failSection(p.errorHere("found %d numbers, expected 3 (or 1 for all channels)", n))
		return v
	}
	for i := range v {
		at := i % n
		v[i] = float32(s.numberAt(p.partBelow(strconv.Itoa(at), list.Values[at])))
	}
	return v
}
