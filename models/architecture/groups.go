package architecture

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// list is a sequence of layers, each with its place in the description.
type list struct {
	at     part
	layers []layer
	places []part
}

// readList reads the list of layers under a key.
func readList(s *section, key string, depth int) list {
	at, ok := s.of[key]
	l := list{at: at}
	if !ok {
		s.failSection(s.errorHere("%s is missing: expected a list of layers", key))
		return l
	}
	sequence, ok := at.node.(*ast.SequenceNode)
	switch {
	case !ok || len(sequence.Values) == 0:
		s.failSection(at.kindMismatch("a list of layers"))
		return l
	case depth > maxDepth:
		s.failSection(at.errorHere("layers are nested more than %d deep", maxDepth))
		return l
	}
	for i, item := range sequence.Values {
		read, place, err := readLayer(at.partBelow(fmt.Sprint(i), item), depth)
		if s.failSection(err); s.err != nil {
			break
		}
		l.layers, l.places = append(l.layers, read), append(l.places, place)
	}
	return l
}

// readLayer reads "relu" or "conv: {...}". It returns the layer and the place of its kind.
func readLayer(p part, depth int) (layer, part, error) {
	all := layerKinds()
	expected := "a layer: one of " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	var kind string
	var settings ast.Node
	if n, ok := p.node.(ast.ScalarNode); ok && p.node.Type() != ast.NullType {
		kind, settings = n.GetToken().Value, ast.Null(n.GetToken())
	} else {
		pairs, err := p.mappingEntries()
		if err != nil || len(pairs) != 1 {
			return nil, p, p.kindMismatch(expected)
		}
		kind, settings = pairs[0].Key.GetToken().Value, pairs[0].Value
		p.node = pairs[0].Key
	}
	read, ok := all[kind]
	if !ok {
		return nil, p, p.errorHere("found %q, expected %s", kind, expected)
	}
	place := p.partBelow(kind, settings)
	l, err := read(place, depth+1)
	return l, place, err
}

// buildLayers lays out the layers in order.
func (l list) buildLayers(p *plan, in value) (value, error) {
	for i, layer := range l.layers {
		if p.layers++; p.layers > maxLayers {
			return in, l.places[i].errorHere("more than %d layers", maxLayers)
		}
		out, err := layer(p, in)
		if err != nil {
			if _, placed := err.(placedError); !placed {
				err = placedError{l.places[i].errorHere("%v", err)}
			}
			return in, err
		}
		in = out
	}
	return in, nil
}

// placedError is an error that already has a place.
type placedError struct{ error }

// buildInside builds layers whose names get a prefix.
func (p *plan) buildInside(prefix string, l list, in value) (value, error) {
	outer := p.prefix
	p.prefix += prefix + "."
	out, err := l.buildLayers(p, in)
	p.prefix = outer
	return out, err
}

// newResidual adds the output of its layers to its input, or to the shortcut's output.
func newResidual(s part, depth int) (layer, error) {
	k := s.readKeys("layers", "shortcut")
	layers, shortcut := readList(k, "layers", depth), list{}
	if _, ok := k.of["shortcut"]; ok {
		shortcut = readList(k, "shortcut", depth)
	}
	return func(p *plan, in value) (value, error) {
		outer := p.prefix
		name := p.nextLayerName("block")
		block := strings.TrimPrefix(name, outer)
		out, err := p.buildInside(block, layers, in)
		if err != nil {
			return in, err
		}
		way, err := p.buildInside(block+".shortcut", shortcut, in)
		if err != nil {
			return in, err
		}
		if out.channels != way.channels || out.side != way.side || out.flat != way.flat {
			return in, fmt.Errorf("the layers give %v and the shortcut %v, expected the same: a shortcut may hold "+
				"a conv with kernel 1", out, way)
		}
		out.tensor = p.addNode(name+".sum", "Add", []string{out.tensor, way.tensor})
		return out, nil
	}, k.err
}

// newRepeat lays out its layers several times.
func newRepeat(s part, depth int) (layer, error) {
	k := s.readKeys("times", "layers")
	times, layers := k.readInteger("times", 0, 1, maxLayers), readList(k, "layers", depth)
	return func(p *plan, in value) (_ value, err error) {
		for range times {
			if in, err = layers.buildLayers(p, in); err != nil {
				return in, err
			}
		}
		return in, nil
	}, k.err
}

// newStage prefixes the names of its layers with its own: it is a section of the network that training can start from.
func newStage(s part, depth int) (layer, error) {
	k := s.readKeys("name", "layers")
	name, layers := k.readWord("name"), readList(k, "layers", depth)
	return func(p *plan, in value) (value, error) {
		if p.numbers[p.prefix+name]++; p.numbers[p.prefix+name] > 1 {
			return in, fmt.Errorf("the stage %q appears twice: names must differ", name)
		}
		return p.buildInside(name, layers, in)
	}, k.err
}
