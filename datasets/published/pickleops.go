package published

import "fmt"

// step runs one operation. The names in comments are pickletools'.
func (p *pickle) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		_, err := p.take(1)
		return err
	case 0x95: // FRAME
		_, err := p.take(8)
		return err
	case '(': // MARK
		p.marks = append(p.marks, len(p.stack))
		return nil
	case 'N':
		p.push(nil)
		return nil
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		p.push(op == 0x88)
		return nil
	case '}':
		p.push(&pickleDict{})
		return nil
	case ']':
		p.push(&pickleList{})
		return nil
	case 'q': // BINPUT
		return p.keep(p.uint(1))
	case 'r': // LONG_BINPUT
		return p.keep(p.uint(4))
	case 0x94: // MEMOIZE
		return p.keep(len(p.memo), nil)
	case 'h': // BINGET
		return p.fetch(p.uint(1))
	case 'j': // LONG_BINGET
		return p.fetch(p.uint(4))
	case 'K', 'M', 'J', 0x8a:
		return p.integer(op)
	case 'X', 0x8c, 'B', 'C':
		return p.text(op)
	case ')', 0x85, 0x86, 0x87, 't':
		return p.tuple(op)
	case 's', 'u', 'a', 'e':
		return p.fill(op)
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		return p.global(op)
	case 'R': // REDUCE
		return p.call()
	case 'b': // BUILD
		return p.build()
	}
	return fmt.Errorf("pickle holds the operation %q, expected only dictionaries, texts and numpy's arrays", op)
}

func (p *pickle) integer(op byte) error {
	size := map[byte]int{'K': 1, 'M': 2, 'J': 4}[op]
	if op == 0x8a { // LONG1
		n, err := p.uint(1)
		if err != nil {
			return err
		}
		if n > 8 { // only PyTorch's magic number, which is not used
			_, err = p.take(n)
			p.push(0)
			return err
		}
		size = n
	}
	b, err := p.take(size)
	if err != nil {
		return err
	}
	p.push(int(int64(lowFirst(b, op == 'J' || op == 0x8a))))
	return nil
}

func (p *pickle) text(op byte) error {
	size := 4
	if op == 0x8c || op == 'C' { // SHORT_BINUNICODE, SHORT_BINBYTES
		size = 1
	}
	b, err := p.sized(size)
	if op == 'B' || op == 'C' {
		p.push(b)
		return err
	}
	if err == nil {
		err = p.spend(len(b))
	}
	p.push(string(b))
	return err
}

func (p *pickle) tuple(op byte) error {
	var items []any
	var err error
	switch op {
	case ')':
	case 't':
		items, err = p.popMark()
	default:
		items, err = p.popN(int(op) - 0x84) // TUPLE1, TUPLE2, TUPLE3
	}
	p.push(pickleTuple(items))
	return err
}

// fill adds values to the dictionary or list below them.
func (p *pickle) fill(op byte) error {
	var items []any
	var err error
	switch op {
	case 's': // SETITEM
		items, err = p.popN(2)
	case 'a': // APPEND
		items, err = p.popN(1)
	default: // SETITEMS, APPENDS
		items, err = p.popMark()
	}
	if err != nil {
		return err
	}
	into, err := p.top()
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *pickleDict:
		if op != 'a' && op != 'e' && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				into.keys, into.values = append(into.keys, items[i]), append(into.values, items[i+1])
			}
			return nil
		}
	case *pickleList:
		if op == 'a' || op == 'e' {
			into.items = append(into.items, items...)
			return nil
		}
	}
	return fmt.Errorf("pickle fills a %T", into)
}

// global pushes the name of a Python function or class.
func (p *pickle) global(op byte) error {
	if op == 'c' {
		module, err := p.line()
		if err != nil {
			return err
		}
		name, err := p.line()
		if err != nil {
			return err
		}
		return p.named(module, name)
	}
	words, err := p.popN(2)
	if err != nil {
		return err
	}
	module, isText := words[0].(string)
	name, also := words[1].(string)
	if !isText || !also {
		return fmt.Errorf("pickle names a function by %T", words[0])
	}
	return p.named(module, name)
}

// named pushes the name of a function or class.
func (p *pickle) named(module, name string) error {
	if len(module)+len(name) > 200 {
		return fmt.Errorf("pickle names a function by %d characters", len(module)+len(name))
	}
	p.push(pickleGlobal(module + "." + name))
	return nil
}

// call implements the few functions that arrays need.
func (p *pickle) call() error {
	pair, err := p.popN(2)
	if err != nil {
		return err
	}
	args, _ := pair[1].(pickleTuple)
	switch name := pair[0]; {
	case name == pickleGlobal("numpy.core.multiarray._reconstruct") ||
		name == pickleGlobal("numpy._core.multiarray._reconstruct"):
		p.push(&pickleArray{})
		return nil
	case name == pickleGlobal("collections.OrderedDict") && len(args) == 0:
		p.push(&pickleDict{})
		return nil
	case name == pickleGlobal("numpy.dtype") && len(args) > 0:
		if kind, ok := args[0].(string); ok {
			p.push(&pickleDType{name: kind, order: "|"})
			return nil
		}
	case name == pickleGlobal("_codecs.encode") && len(args) == 2 && args[1] == "latin1":
		if text, ok := args[0].(string); ok {
			return p.latin1(text)
		}
	}
	if name, ok := pair[0].(pickleGlobal); ok {
		return fmt.Errorf("pickle calls %s, expected only numpy's arrays", name)
	}
	return fmt.Errorf("pickle calls a %T, expected only numpy's arrays", pair[0])
}

// latin1 pushes bytes that protocol 2 writes as text, one character each.
func (p *pickle) latin1(text string) error {
	if err := p.spend(len(text)); err != nil {
		return err
	}
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return fmt.Errorf("pickle holds the character %q among bytes", r)
		}
		b = append(b, byte(r))
	}
	p.push(b)
	return nil
}

// build sets the state of an array or a type: (version, shape, type, Fortran order, elements) or (version, byte
// order, …).
func (p *pickle) build() error {
	pair, err := p.popN(2)
	if err != nil {
		return err
	}
	state, _ := pair[1].(pickleTuple)
	switch v := pair[0].(type) {
	case *pickleDType:
		if len(state) >= 2 {
			if order, ok := state[1].(string); ok {
				v.order = order
				p.push(v)
				return nil
			}
		}
	case *pickleArray:
		if len(state) == 5 {
			shape, isTuple := state[1].(pickleTuple)
			kind, isType := state[2].(*pickleDType)
			if isTuple && isType {
				return p.array(v, shape, kind, state[4])
			}
		}
	}
	return fmt.Errorf("pickle builds a %T of %d values, expected an array", pair[0], len(state))
}

func (p *pickle) array(v *pickleArray, shape pickleTuple, kind *pickleDType, elements any) error {
	v.shape = nil
	for _, n := range shape {
		size, ok := n.(int)
		if !ok || size < 0 {
			return fmt.Errorf("pickle gives an array a size that is a %T, expected numbers from 0", n)
		}
		v.shape = append(v.shape, size)
	}
	v.kind = kind.order + kind.name
	switch e := elements.(type) {
	case []byte:
		v.data = e
	case *pickleList:
		v.items = e.items
	default:
		return fmt.Errorf("pickle fills an array with a %T", elements)
	}
	p.push(v)
	return nil
}
