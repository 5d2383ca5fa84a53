package architecture

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// list is layers one after the other, each with its place in the description.
type list struct {
	at     part
	layers []layer
	places []part
}

// readList reads the list of layers below a key.
func readList(s section, key string, depth int) (list, error) {
	at, ok := s.of[key]
	if !ok {
		return list{}, s.errorf("%s is missing: expected a list of layers", key)
	}
	l := list{at: at}
	sequence, ok := at.node.(*ast.SequenceNode)
	if !ok || len(sequence.Values) == 0 {
		return l, at.mismatch("a list of layers")
	}
	if depth > maxDepth {
		return l, at.errorf("layers stand in layers more than %d deep", maxDepth)
	}
	for i, item := range sequence.Values {
		place := at.below(fmt.Sprint(i), item)
		made, place, err := readLayer(place, depth)
		if err != nil {
			return l, err
		}
		l.layers, l.places = append(l.layers, made), append(l.places, place)
	}
	return l, nil
}

// readLayer reads "relu" or "conv: {...}" and returns the place with the layer's kind.
func readLayer(p part, depth int) (layer, part, error) {
	all := kinds()
	expected := "a layer: one of " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	var kind string
	var settings ast.Node
	if n, ok := p.node.(ast.ScalarNode); ok && p.node.Type() != ast.NullType {
		kind, settings = n.GetToken().Value, ast.Null(n.GetToken())
	} else {
		pairs, err := p.pairs()
		if err != nil || len(pairs) != 1 {
			return nil, p, p.mismatch(expected)
		}
		kind, settings = pairs[0].Key.GetToken().Value, pairs[0].Value
		p.node = pairs[0].Key
	}
	read, ok := all[kind]
	if !ok {
		return nil, p, p.errorf("found %q, expected %s", kind, expected)
	}
	place := p.below(kind, settings)
	l, err := read(place, depth+1)
	return l, place, err
}

// build lays out the layers in order.
func (l list) build(p *plan, in value) (value, error) {
	for i, layer := range l.layers {
		if p.layers++; p.layers > maxLayers {
			return in, l.places[i].errorf("more than %d layers", maxLayers)
		}
		out, err := layer.build(p, in)
		if err != nil {
			if _, placed := err.(placedError); !placed {
				err = placedError{l.places[i].errorf("%v", err)}
			}
			return in, err
		}
		in = out
	}
	return in, nil
}

// placedError already says where.
type placedError struct{ error }

// inside builds with a prefix before the names.
func (p *plan) inside(prefix string, l list, in value) (value, error) {
	outer := p.prefix
	p.prefix += prefix + "."
	out, err := l.build(p, in)
	p.prefix = outer
	return out, err
}

// residual adds what its layers make of the input to the input, or to what the shortcut makes of it.
type residual struct{ layers, shortcut list }

func readResidual(s part, depth int) (layer, error) {
	k, err := s.keys("layers", "shortcut")
	if err != nil {
		return nil, err
	}
	r := &residual{}
	if r.layers, err = readList(k, "layers", depth); err != nil {
		return nil, err
	}
	if _, ok := k.of["shortcut"]; ok {
		r.shortcut, err = readList(k, "shortcut", depth)
	}
	return r, err
}

func (r *residual) build(p *plan, in value) (value, error) {
	outer := p.prefix
	name := p.next("block")
	block := strings.TrimPrefix(name, outer)
	out, err := p.inside(block, r.layers, in)
	if err != nil {
		return in, err
	}
	way, err := p.inside(block+".shortcut", r.shortcut, in)
	if err != nil {
		return in, err
	}
	if out.channels != way.channels || out.side != way.side || out.flat != way.flat {
		return in, fmt.Errorf("the layers give %v and the shortcut %v, expected the same: a shortcut may hold a conv with kernel 1", out, way)
	}
	out.tensor = p.node(name+".sum", "Add", []string{out.tensor, way.tensor})
	return out, nil
}

// repeat lays its layers out several times.
type repeat struct {
	times  int
	layers list
}

func readRepeat(s part, depth int) (layer, error) {
	k, err := s.keys("times", "layers")
	if err != nil {
		return nil, err
	}
	r := &repeat{}
	if r.times, err = k.whole("times", 0, 1, maxLayers); err != nil {
		return nil, err
	}
	r.layers, err = readList(k, "layers", depth)
	return r, err
}

func (r *repeat) build(p *plan, in value) (out value, err error) {
	for range r.times {
		if in, err = r.layers.build(p, in); err != nil {
			return in, err
		}
	}
	return in, nil
}

// stage puts its name before the names of its layers: a stretch of the network that training can start from.
type stage struct {
	name   string
	layers list
}

func readStage(s part, depth int) (layer, error) {
	k, err := s.keys("name", "layers")
	if err != nil {
		return nil, err
	}
	t := &stage{}
	if t.name, err = k.word("name"); err != nil {
		return nil, err
	}
	t.layers, err = readList(k, "layers", depth)
	return t, err
}

func (t *stage) build(p *plan, in value) (value, error) {
	if p.numbers[p.prefix+t.name]++; p.numbers[p.prefix+t.name] > 1 {
		return in, fmt.Errorf("the stage %q is there twice: names must differ", t.name)
	}
	return p.inside(t.name, t.layers, in)
}
